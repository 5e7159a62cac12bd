import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { mutants } from "./catalogue/index.ts";
import { isTests, type Mutant, TESTS_SEED } from "./mutant.ts";
import { repository } from "./source-copy.ts";

const docsPath = join(repository, "docs/mutants.md");

export interface Found {
  /** The rule that was broken, as whoever noticed names it. */
  readonly rule: string;
  readonly seed: number;
}

const intro = `# Mutants

Each row is a change to the production code that must be noticed: a guard left out, a condition of the permit dropped, a
budget charged twice. \`npm run sim:mutants\` applies them one by one to a copy of \`src\` and runs the simulation (up to
500 seeds of 2,000 steps) or, where the change lies in the store, the same random histories on PostgreSQL and on the
in-memory twin, or, where only one kind has what the rule is about, the tests of that kind, until somebody notices. A
mutant that nobody notices fails the run. The seed is tried first the next time; the table is written by
\`npm run sim:mutants -- --write-docs\`.

Many rules have more than one layer behind them. A mutant of one layer alone would change nothing anybody could see, so
such a mutant takes out all of them, and says so.

`;

/** The committed table, in the order of the catalogue. */
export function writeDocs(found: ReadonlyMap<string, Found>): void {
  writeFileSync(docsPath, textOf(found));
}

function textOf(found: ReadonlyMap<string, Found>): string {
  const header = "| mutant | row | breaks | found by | seed |\n|---|---|---|---|---|\n";
  const rows = mutants.flatMap((mutant) => {
    const said = found.get(mutant.name);
    return said === undefined ? [] : [`${rowOf(mutant, said)}\n`];
  });
  return `${intro}${header}${rows.join("")}`;
}

function rowOf({ because, foundBy, name, row }: Mutant, { rule, seed }: Found): string {
  return `| ${name} | ${row} | ${cell(because)} | ${foundBy}: ${cell(rule)} | ${isTests(foundBy) ? "–" : seed} |`;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}

function committed(): string {
  return existsSync(docsPath) ? readFileSync(docsPath, "utf8") : "";
}

/** By name, what the committed table says. */
export function readDocs(): ReadonlyMap<string, Found> {
  const rows = committed()
    .split("\n")
    .flatMap((line) => {
      const [, name, , , foundBy, seedText] = line.split(/(?<!\\)\|/).map((part) => part.trim());
      const rule = /^(?:simulation|differential|test\/\S+): (.+)$/.exec(foundBy ?? "")?.[1];
      const seed = seedText === "–" ? TESTS_SEED : Number(seedText);
      if (name === undefined || rule === undefined || !Number.isSafeInteger(seed) || seed < 1) return [];
      return [[name, { rule: rule.replaceAll("\\|", "|"), seed }] as const];
    });
  return new Map(rows);
}

/** How the committed table differs from the catalogue; undefined when it does not. */
export function docsDrift(): string | undefined {
  const found = readDocs();
  const names = new Set(mutants.map(({ name }) => name));
  const missing = [...names].filter((name) => !found.has(name));
  const extra = [...found.keys()].filter((name) => !names.has(name));
  const remedy = "Run `npm run sim:mutants -- --write-docs`.";
  if (missing.length > 0) return `docs/mutants.md lacks ${missing.join(", ")}. ${remedy}`;
  if (extra.length > 0) return `docs/mutants.md lists ${extra.join(", ")}, which the catalogue does not. ${remedy}`;
  return textOf(found) === committed() ? undefined : `docs/mutants.md says something else. ${remedy}`;
}
