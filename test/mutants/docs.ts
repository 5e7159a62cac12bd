import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Mutant } from "./mutant.ts";
import { repository } from "./source-copy.ts";

export const docsPath = join(repository, "docs/mutants.md");

export interface Finding {
  readonly mutant: Mutant;
  readonly rule: string;
  readonly seed: number;
}

const intro = `# Mutants

Each row is a change to the production code that must be noticed: a guard left out, a condition of the permit dropped, a
budget charged twice. \`npm run sim:mutants\` applies them one by one to a copy of \`src\` and runs the simulation (up to
500 seeds of 2,000 steps) or, where the change lies in the store, the same random histories on PostgreSQL and on the
in-memory twin, until somebody notices. A mutant that nobody notices fails the run. The seed is tried first the next
time; the table is written by \`npm run sim:mutants -- --write-docs\`.

Many rules have more than one layer behind them. A mutant of one layer alone would change nothing anybody could see, so
such a mutant takes out all of them, and says so.

`;

/** The committed table, in the order of the catalogue. */
export function writeDocs(findings: readonly Finding[]): void {
  const header = "| mutant | row | breaks | found by | seed |\n|---|---|---|---|---|\n";
  const rows = findings.map(
    ({ mutant, rule, seed }) =>
      `| ${mutant.name} | ${mutant.row} | ${cell(mutant.because)} | ${mutant.foundBy}: ${cell(rule)} | ${seed} |`,
  );
  writeFileSync(docsPath, `${intro}${header}${rows.join("\n")}\n`);
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}

/** By name, what the committed table says. */
export function readDocs(): ReadonlyMap<string, { readonly seed: number }> {
  const text = existsSync(docsPath) ? readFileSync(docsPath, "utf8") : "";
  const rows = text.split("\n").flatMap((line) => {
    const cells = line.split(/(?<!\\)\|/).map((part) => part.trim());
    const seed = Number(cells.at(-2));
    return cells.length === 7 && cells[1] !== undefined && Number.isSafeInteger(seed) && seed > 0
      ? [[cells[1], { seed }] as const]
      : [];
  });
  return new Map(rows);
}
