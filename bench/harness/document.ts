/** What a benchmark must keep to. Exactly one of the two bounds. */
export interface Limit {
  /** The figure it speaks of; the bar has the same name. */
  readonly figure: string;
  readonly atMost?: number;
  readonly atLeast?: number;
}

export interface Bar {
  readonly name: string;
  readonly value: number;
  readonly limit: number;
  readonly holds: boolean;
}

/** The one document that `--json` prints. */
export interface BenchDocument {
  readonly name: string;
  readonly figures: Readonly<Record<string, number>>;
  readonly bars: readonly Bar[];
}

/** A figure that is missing or not a number is a broken measurement, and no document is better than a wrong one. */
export function makeDocument(
  name: string,
  figures: Readonly<Record<string, number>>,
  limits: readonly Limit[],
): BenchDocument {
  const rounded = Object.fromEntries(
    Object.entries(figures).map(([figure, value]) => {
      if (!Number.isFinite(value)) throw new Error(`${name}: the figure ${figure} is ${value}; expected a number`);
      return [figure, roundFigure(value)];
    }),
  );
  return { name, figures: rounded, bars: limits.map((limit) => barOf(name, limit, rounded)) };
}

function barOf(name: string, limit: Limit, figures: Readonly<Record<string, number>>): Bar {
  const value = figures[limit.figure];
  if (value === undefined) throw new Error(`${name}: there is a limit for ${limit.figure}, but it was not measured`);
  if ((limit.atMost === undefined) === (limit.atLeast === undefined))
    throw new Error(`${name}: the limit for ${limit.figure} needs either atMost or atLeast`);
  if (limit.atMost !== undefined)
    return { name: limit.figure, value, limit: limit.atMost, holds: value <= limit.atMost };
  const least = limit.atLeast ?? 0;
  return { name: limit.figure, value, limit: least, holds: value >= least };
}

/** Five digits: more would pretend a precision that no measurement here has. The bars judge what is shown. */
export function roundFigure(value: number): number {
  return Number.isInteger(value) ? value : Number(value.toPrecision(5));
}

/** Aligned lines for people: first what must hold, then everything that was measured. */
export function documentTable(document: BenchDocument): string {
  const width = Math.max(0, ...Object.keys(document.figures).map((figure) => figure.length));
  const bars = document.bars.map((bar) => {
    const verdict = bar.holds ? "holds" : "DOES NOT HOLD";
    return `  ${bar.name.padEnd(width)}  ${String(bar.value).padStart(12)}  limit ${String(bar.limit).padStart(8)}  ${verdict}`;
  });
  const named = new Set(document.bars.map((bar) => bar.name));
  const figures = Object.entries(document.figures)
    .filter(([figure]) => !named.has(figure))
    .map(([figure, value]) => `  ${figure.padEnd(width)}  ${String(value).padStart(12)}`);
  return [`${document.name}: bars`, ...bars, "", `${document.name}: figures`, ...figures, ""].join("\n");
}
