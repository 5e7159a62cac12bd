import { canonical } from "../../src/kernel/hash.ts";
import type { Point } from "../support/box-kind.ts";
import { OperationLab } from "../support/operation-lab.ts";

/** What people do with an operation, step by step; each is called once its predecessor has come to rest. */
export interface OperationScenario {
  readonly name: string;
  /** What happens before anything goes wrong. */
  prepare(lab: OperationLab): Promise<void>;
  /** Starts the operation that is put to the test. */
  start(lab: OperationLab): Promise<string>;
  /** Something people do when it has come to rest for the first time. */
  meanwhile?(lab: OperationLab, operationId: string): Promise<void>;
}

export interface OperationOutcome {
  readonly points: readonly string[];
  /** What must be the same whatever went wrong on the way: every effect, once. */
  readonly final: string;
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
  const lab = await OperationLab.open(point);
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
  const { effects, boxes, letters } = lab.outside;
  const inside = [...boxes].map(([name, { lid, values }]) => [name, lid, [...values]]);
  const subjects = [...lab.store.state.tables.subjects.values()].map(({ name, hold, memory }) => [
    name,
    hold === undefined,
    memory.owned.map(({ key, state: owned }) => `${key} ${owned}`),
    memory.made?.map(({ key, state: made }) => `${key} ${made}`),
  ]);
  const final = canonical({
    state,
    direction,
    done: [...done],
    effects,
    inside,
    letters: [...letters.values()],
    subjects,
  });
  return { points, final };
}

export interface OperationDifference {
  readonly crash: string;
  readonly expected: string;
  readonly actual: string;
}

/** Once undisturbed, then once for every point, killed before and after it. */
export async function enumerateOperation(
  scenario: OperationScenario,
): Promise<{ readonly points: number; readonly runs: number; readonly differences: readonly OperationDifference[] }> {
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
  return { points: undisturbed.points.length, runs, differences };
}

export const operationScenarios: readonly OperationScenario[] = [
  {
    name: "box.create",
    prepare: (lab) => lab.declare("web", { a: "1", b: "2" }),
    start: async (lab) => (await lab.start("box.create", "web")).id,
  },
  {
    name: "box.create, cancelled",
    prepare: async (lab) => {
      lab.outside.ready = false;
      await lab.declare("web", { a: "1" });
    },
    start: async (lab) => (await lab.start("box.create", "web")).id,
    meanwhile: async (lab, id) => void (await lab.steer(id, { verb: "cancel" })),
  },
  {
    name: "box.create of what is deleted meanwhile",
    prepare: async (lab) => {
      lab.outside.ready = false;
      await lab.declare("web", { a: "1" });
    },
    start: async (lab) => (await lab.start("box.create", "web")).id,
    meanwhile: (lab) => lab.remove("web"),
  },
  {
    name: "box.delete",
    prepare: async (lab) => {
      await lab.declare("web", { a: "1", b: "2" });
      await lab.finish((await lab.start("box.create", "web")).id);
      await lab.remove("web");
    },
    start: async (lab) => (await lab.start("box.delete", "web")).id,
  },
  {
    name: "box.count",
    prepare: (lab) => lab.declare("web", {}),
    start: async (lab) => (await lab.start("box.count", "web")).id,
  },
];
