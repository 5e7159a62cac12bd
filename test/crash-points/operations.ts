import { canonical } from "../../src/kernel/hash.ts";
import type { OperationState } from "../../src/ports/operation-store.ts";
import type { Point } from "../support/box-kind.ts";
import { type Furnishing, OperationLab } from "../support/operation-lab.ts";

/** What people do with an operation, step by step; each is called once its predecessor has come to rest. */
export interface OperationScenario {
  /** The pipeline, and what happens to it where there is more than one scenario of it. */
  readonly name: string;
  /** Kinds and an outside of its own; without, the boxes. Made anew for every run. */
  stage?(): OperationStage;
  /** What happens before anything goes wrong. */
  prepare(lab: OperationLab): Promise<void>;
  /** Starts the operation that is put to the test. */
  start(lab: OperationLab): Promise<string>;
  /** Something people do when it has come to rest for the first time. */
  meanwhile?(lab: OperationLab, operationId: string): Promise<void>;
  /** How it ends; without, it succeeds, or is cancelled by what people do meanwhile. */
  readonly ends?: OperationState;
}

export interface OperationStage extends Furnishing {
  /** Every write that changed something, in order. */
  readonly effects: readonly string[];
  /** What is outside, in one fixed form. */
  canonical(): unknown;
}

export interface OperationOutcome {
  readonly points: readonly string[];
  /** What must be the same whatever went wrong on the way: every effect, once. */
  readonly final: string;
  readonly state: OperationState;
}

type Crash = { readonly at: number; readonly when: "before" | "after" } | undefined;

const rounds = 60;

/** Runs a scenario once, with the process killed at most once: before or after one call to the store or to the outside. */
export async function playOperation(scenario: OperationScenario, crash?: Crash): Promise<OperationOutcome> {
  const points: string[] = [];
  let watching = false;
  let died: () => void = () => {};
  const point: Point = (label, handle) => {
    if (!watching) return Promise.resolve().then(handle);
    points.push(label);
    const hit = crash?.at === points.length ? crash.when : undefined;
    if (hit === undefined) return Promise.resolve().then(handle);
    if (hit === "after") {
      try {
        handle();
      } catch {
        // Whoever would have heard of it is dead.
      }
    }
    died();
    return new Promise(() => {});
  };
  const stage = scenario.stage?.();
  const lab = await OperationLab.open(point, stage);
  await scenario.prepare(lab);
  const id = await scenario.start(lab);
  watching = true;
  let told = false;
  for (let round = 0; round < rounds; round++) {
    const dead = new Promise<"dead">((resolve) => {
      died = () => resolve("dead");
    });
    if ((await Promise.race([lab.turn(id), dead])) === "dead") await lab.newWorker();
    if (lab.row(id).endedAtMs !== undefined) break;
    if (round === 20 && !told) {
      told = true;
      await scenario.meanwhile?.(lab, id);
    }
    lab.clock.advance(1_000);
  }
  const { state, journal, direction } = lab.row(id);
  const done = new Set(
    journal.filter(({ result }) => result === "done").map((entry) => `${entry.direction} ${entry.step}`),
  );
  const { effects, inside } =
    stage === undefined ? boxesOf(lab) : { effects: stage.effects, inside: stage.canonical() };
  const subjects = [...lab.store.state.tables.subjects.values()].map(({ name, hold, memory }) => [
    name,
    hold === undefined,
    memory.owned.map(({ key, state: owned }) => `${key} ${owned}`),
    memory.made?.map(({ key, state: made }) => `${key} ${made}`),
  ]);
  const pool = [...lab.store.state.tables.pool.values()].map((row) => [row.name, row.state, row.accountId]);
  const final = canonical({
    ...(pool.length === 0 ? {} : { pool }),
    state,
    direction,
    done: [...done],
    effects,
    inside,
    subjects,
  });
  return { points, final, state };
}

function boxesOf({ outside: { effects, boxes, letters } }: OperationLab) {
  const inside = [...boxes].map(([name, { lid, values }]) => [name, lid, [...values]]);
  return { effects, inside: [...inside, [...letters.values()]] };
}

export interface OperationDifference {
  readonly crash: string;
  readonly expected: string;
  readonly actual: string;
}

/** Once undisturbed, then once for every point, killed before and after it. */
export async function enumerateOperation(scenario: OperationScenario): Promise<{
  readonly points: number;
  readonly runs: number;
  /** How it ends when nobody is killed. */
  readonly state: OperationState;
  readonly differences: readonly OperationDifference[];
}> {
  const undisturbed = await playOperation(scenario);
  const differences: OperationDifference[] = [];
  let runs = 0;
  for (const [index, label] of undisturbed.points.entries()) {
    for (const when of ["before", "after"] as const) {
      const { final } = await playOperation(scenario, { at: index + 1, when });
      runs += 1;
      if (final !== undisturbed.final)
        differences.push({ crash: `${when} ${label} (${index + 1})`, expected: undisturbed.final, actual: final });
    }
  }
  return { points: undisturbed.points.length, runs, state: undisturbed.state, differences };
}
