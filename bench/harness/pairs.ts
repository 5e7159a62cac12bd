import { type Spread, spread } from "./statistics.ts";

export interface PairedRun<Floor, Contender> {
  readonly floors: readonly Floor[];
  readonly contenders: readonly Contender[];
}

/**
 * Floor, contender, floor, contender, … A neighbour that slows the machine for a while then slows both sides of a
 * pair, and the ratio within each pair stays meaningful where two separate runs would not be.
 */
export async function interleave<Floor, Contender>(options: {
  readonly pairs: number;
  readonly floor: (pair: number) => Promise<Floor>;
  readonly contender: (pair: number) => Promise<Contender>;
}): Promise<PairedRun<Floor, Contender>> {
  if (!(options.pairs >= 1)) throw new Error(`${options.pairs} pairs were asked for; expected at least 1`);
  const floors: Floor[] = [];
  const contenders: Contender[] = [];
  for (let pair = 0; pair < options.pairs; pair++) {
    floors.push(await options.floor(pair));
    contenders.push(await options.contender(pair));
  }
  return { floors, contenders };
}

/** The median of the ratios within pairs, not the ratio of the medians: only the former cancels what a pair shares. */
export function pairedRatio<Floor, Contender>(
  run: PairedRun<Floor, Contender>,
  of: { readonly floor: (floor: Floor) => number; readonly contender: (contender: Contender) => number },
): Spread {
  const ratios = run.contenders.map((contender, pair) => {
    const floor = of.floor(run.floors[pair] as Floor);
    if (!(floor > 0)) throw new Error(`The floor of pair ${pair + 1} measured ${floor}; expected more than 0`);
    return of.contender(contender) / floor;
  });
  return spread(ratios);
}
