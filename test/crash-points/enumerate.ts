import { canonical } from "../../src/kernel/hash.ts";
import type { Scenario } from "./scenario.ts";
import { type Fault, faults, type Outcome, type Point, play } from "./stage.ts";

export interface Difference {
  readonly fault: Fault;
  readonly point: Point;
  readonly expected: string;
  readonly actual: string;
}

export interface Enumeration {
  readonly undisturbed: Outcome;
  readonly runs: number;
  readonly differences: readonly Difference[];
}

/** Plays a scenario once undisturbed, then once for every fault at every point (or every nth), and compares the ends. */
export async function enumerate(scenario: Scenario, options: { readonly everyNth: number }): Promise<Enumeration> {
  const undisturbed = await play(scenario);
  const expected = canonical(undisturbed.final);
  const differences: Difference[] = [];
  let runs = 0;
  let turn = 0;
  for (const point of undisturbed.points) {
    for (const fault of faults) {
      if (!applies(fault, point, scenario) || turn++ % options.everyNth !== 0) continue;
      const { final } = await play(scenario, { fault, point: point.number });
      runs += 1;
      const actual = canonical(final);
      if (actual !== expected) differences.push({ fault, point, expected, actual });
    }
  }
  return { undisturbed, runs, differences };
}

function applies(fault: Fault, point: Point, { madeTwice = [] }: Scenario): boolean {
  if (fault === "duplicated call" && madeTwice.includes(point.label)) return false;
  if (point.label === "signal") return fault === "lost signal";
  return fault !== "lost signal" && (fault !== "stale read" || point.reads);
}

export function describe(differences: readonly Difference[]): string {
  return differences
    .map(
      ({ fault, point, expected, actual }) =>
        `${fault} at point ${point.number} (${point.label}):\n  ${expected}\n  ${actual}`,
    )
    .join("\n");
}
