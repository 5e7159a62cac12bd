import { parseArgs } from "node:util";
import { mutants } from "./catalogue/index.ts";
import { Baseline } from "./baseline.ts";
import { type Found, readDocs, writeDocs } from "./docs.ts";
import { type HuntResult, huntOn } from "./hunt.ts";
import { isTests, type Mutant, TESTS_SEED } from "./mutant.ts";
import { patchedFiles, type SourceCopies, sourceCopies } from "./source-copy.ts";
import { typeErrors } from "./types.ts";

interface Options {
  readonly only: readonly string[];
  readonly seeds: number;
  readonly steps: number;
  readonly histories: number;
  readonly json: boolean;
  readonly writeDocs: boolean;
  readonly types: boolean;
}

interface Outcome {
  readonly mutant: Mutant;
  readonly result: HuntResult;
  readonly seconds: number;
}

/** Hunts at the same time; each has a core. */
const WORKERS = 2;

const usage = `npm run sim:mutants -- [--only NAME]... [--seeds N] [--steps N] [--histories N] [--json] [--types] [--write-docs]
  --only NAME      only this mutant, or all whose name or row contains it; may be given more than once
  --seeds N        seeds of the simulation per mutant (default 500); the first hit ends it
  --steps N        steps per seed (default 2000)
  --histories N    histories on PostgreSQL per mutant of the store (default 200)
  --json           one JSON document instead of a table
  --types          also type-check every patched copy (a few seconds each): a patch must break a rule, not the program
  --write-docs     write what was found into docs/mutants.md, when all that were run were found`;

process.exitCode = await main().catch((thrown: unknown) => {
  console.error(thrown instanceof Error ? thrown.message : String(thrown));
  return 1;
});

async function main(): Promise<number> {
  const options = readOptions();
  if (options === undefined) return 2;
  const chosen = mutants.filter(
    ({ name, row }) =>
      options.only.length === 0 || options.only.some((text) => name.includes(text) || row.includes(text)),
  );
  if (chosen.length === 0) {
    console.error(`No mutant is named like ${options.only.join(", ")}.\n${usage}`);
    return 2;
  }
  using copies = sourceCopies();
  for (const mutant of chosen) patchedFiles(mutant, copies.pristine);
  const baseline = new Baseline(copies.pristine, options.steps);
  const known = readDocs();
  await baseline.clear(chosen.flatMap(({ name, foundBy }) => ({ foundBy, seed: known.get(name)?.seed ?? 1 })));
  const startedAt = performance.now();
  const outcomes = await huntAll(options, copies, chosen, baseline);
  return report(options, outcomes, (performance.now() - startedAt) / 1_000);
}

function readOptions(): Options | undefined {
  const text = { type: "string" } as const;
  const flag = { type: "boolean", default: false } as const;
  try {
    const { values } = parseArgs({
      options: {
        only: { type: "string", multiple: true, default: [] },
        seeds: text,
        steps: text,
        histories: text,
        json: flag,
        "write-docs": flag,
        types: flag,
      },
    });
    return {
      only: values.only,
      seeds: whole("--seeds", values.seeds, 500),
      steps: whole("--steps", values.steps, 2_000),
      histories: whole("--histories", values.histories, 200),
      json: values.json,
      writeDocs: values["write-docs"],
      types: values.types,
    };
  } catch (thrown) {
    console.error(`${thrown instanceof Error ? thrown.message : String(thrown)}\n${usage}`);
    return undefined;
  }
}

function whole(name: string, text: string | undefined, fallback: number): number {
  const value = text === undefined ? fallback : Number(text);
  if (!Number.isSafeInteger(value) || value < 1)
    throw new Error(`${name} is '${text}'; expected a whole number from 1`);
  return value;
}

/** The seed that found it the last time comes first. */
function seedsOf(options: Options, foundBy: Mutant["foundBy"], first: number | undefined): readonly number[] {
  if (isTests(foundBy)) return [TESTS_SEED];
  const all = range(foundBy === "simulation" ? options.seeds : options.histories);
  return first === undefined ? all : [first, ...all.filter((seed) => seed !== first)];
}

function range(count: number): readonly number[] {
  return Array.from({ length: count }, (_, at) => at + 1);
}

async function huntAll(
  options: Options,
  copies: SourceCopies,
  chosen: readonly Mutant[],
  baseline: Baseline,
): Promise<readonly Outcome[]> {
  const known = readDocs();
  const outcomes = new Map<Mutant, Outcome>();
  const waiting = [...chosen];
  const work = async (worker: number) => {
    for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
      const startedAt = performance.now();
      const seeds = seedsOf(options, mutant.foundBy, known.get(mutant.name)?.seed);
      const hunted = huntMutant(options, copies.patched(mutant, worker), mutant, seeds, baseline);
      const result = await hunted.catch((thrown: unknown) => {
        // Whatever is wrong with one of them must be seen to first.
        waiting.length = 0;
        throw new Error(`Mutant '${mutant?.name}': ${thrown instanceof Error ? thrown.message : String(thrown)}`);
      });
      const outcome = { mutant, result, seconds: (performance.now() - startedAt) / 1_000 };
      outcomes.set(mutant, outcome);
      if (!options.json) console.log(line(outcome));
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, (_, worker) => work(worker)));
  return chosen.flatMap((mutant) => outcomes.get(mutant) ?? []);
}

async function huntMutant(
  options: Options,
  src: string,
  { foundBy }: Mutant,
  seeds: readonly number[],
  baseline: Baseline,
): Promise<HuntResult> {
  const mistakes = options.types ? await typeErrors(src) : "";
  if (mistakes !== "") throw new Error(`its patch does not compile:\n${mistakes}`);
  const result = await huntOn(foundBy, src, options.steps, seeds);
  if (result.hit !== undefined) await baseline.clear([{ foundBy, seed: result.hit.seed }]);
  return result;
}

function line({ mutant, result, seconds }: Outcome): string {
  const { hit } = result;
  const where = hit === undefined || isTests(mutant.foundBy) ? "" : `, seed ${hit.seed}`;
  const found = hit === undefined ? `NOT FOUND in ${result.runs} runs` : `${hit.rule}${where}`;
  return `${mutant.name.padEnd(46)} ${found.padEnd(36)} ${seconds.toFixed(1).padStart(6)} s`;
}

function report(options: Options, outcomes: readonly Outcome[], seconds: number): number {
  const missed = outcomes.filter(({ result }) => result.hit === undefined);
  const found = `${outcomes.length - missed.length} of ${outcomes.length} mutants found`;
  if (options.json) console.log(JSON.stringify(documentOf(outcomes)));
  else console.log(`\n${found} in ${seconds.toFixed(0)} s`);
  if (missed.length > 0) {
    const names = missed.map(({ mutant }) => `- ${mutant.name} (${mutant.row}): ${mutant.because}`).join("\n");
    console.error(`Nobody noticed:\n${names}`);
    return 1;
  }
  if (options.writeDocs) writeDocs(new Map([...readDocs(), ...outcomes.flatMap(foundOf)]));
  return 0;
}

function foundOf({ mutant, result }: Outcome): readonly (readonly [string, Found])[] {
  return result.hit === undefined ? [] : [[mutant.name, { rule: result.hit.rule, seed: result.hit.seed }]];
}

function documentOf(outcomes: readonly Outcome[]) {
  return {
    mutants: outcomes.map(({ mutant, result, seconds }) => ({
      name: mutant.name,
      row: mutant.row,
      foundBy: mutant.foundBy,
      runs: result.runs,
      seconds,
      ...(result.hit === undefined ? { found: false } : { found: true, ...result.hit }),
    })),
    undetected: outcomes.filter(({ result }) => result.hit === undefined).map(({ mutant }) => mutant.name),
  };
}
