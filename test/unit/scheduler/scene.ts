import type { Claim, CycleReport, Engine } from "../../../src/kernel/claim.ts";
import { type Scheduler, type SchedulerOptions, startScheduler } from "../../../src/scheduler/scheduler.ts";
import { VirtualClock } from "../../support/virtual-clock.ts";
import { FakeStore, fakeEngine, type LogLine, report } from "./fake-store.ts";

/** How the subjects of a scene behave. `hangs`: does not end, not even when aborted. `stubborn`: ends when told to. */
export type Behaviour =
  | "well"
  | "throws"
  | "hangs"
  | "stubborn"
  | ((engine: Engine, claim: Claim) => Promise<CycleReport>);

export interface Turn {
  readonly holder: string;
  readonly id: number;
  readonly atMs: number;
  readonly claim: Claim;
  ended: boolean;
}

/** Schedulers over one fake store in virtual time, and every turn they gave. */
export class Scene {
  readonly clock = new VirtualClock();
  readonly store = new FakeStore(this.clock);
  readonly turns: Turn[] = [];
  readonly behaviours = new Map<number, Behaviour>();
  readonly lines: LogLine[] = [];
  readonly forgotten: string[] = [];
  everySeconds = 3_600;
  #processes = 0;
  /** Set to keep every well-behaved cycle from ending. */
  gate: Promise<void> | undefined;

  start(holder: string, options: Partial<SchedulerOptions> = {}): Scheduler {
    const { engine, forgotten, lines } = fakeEngine({
      store: this.store.port(),
      clock: this.clock,
      everySeconds: this.everySeconds,
      process: ++this.#processes,
    });
    this.#follow(lines, this.lines);
    this.#follow(forgotten, this.forgotten);
    return startScheduler(engine, {
      holder,
      run: (cycleEngine, claim) => this.#run(holder, cycleEngine, claim),
      ...options,
    });
  }

  /** Ids that had a turn since the given number of turns. */
  ids(since = 0): readonly number[] {
    return this.turns.slice(since).map(({ id }) => id);
  }

  running(): readonly number[] {
    return this.turns.filter(({ ended }) => !ended).map(({ id }) => id);
  }

  events(event: string): readonly LogLine[] {
    return this.lines.filter((line) => line.event === event);
  }

  async #run(holder: string, engine: Engine, claim: Claim): Promise<CycleReport> {
    const id = claim.subjectId;
    const overlapping = this.turns.find((turn) => turn.id === id && !turn.ended && !turn.claim.signal.aborted);
    if (overlapping !== undefined) throw new Error(`subject ${id} has two turns at once`);
    const turn: Turn = { holder, id, atMs: this.clock.monotonicMs(), claim, ended: false };
    this.turns.push(turn);
    try {
      return await this.#behave(this.behaviours.get(id) ?? "well", engine, claim);
    } finally {
      turn.ended = true;
    }
  }

  async #behave(behaviour: Behaviour, engine: Engine, claim: Claim): Promise<CycleReport> {
    if (typeof behaviour === "function") return await behaviour(engine, claim);
    if (behaviour === "throws") throw new Error("poison");
    if (behaviour === "hangs") return await new Promise<never>(() => {});
    if (behaviour === "stubborn") await this.clock.wait(3_600_000, claim.signal);
    else await this.gate;
    return await settle(engine, claim);
  }

  #follow<T>(from: T[], to: T[]): void {
    from.push = (...items) => to.push(...items);
  }
}

/** A cycle that finds everything as it should be, and clears what is stored as due. */
export async function settle(engine: Engine, claim: Claim, more: Partial<CycleReport> = {}): Promise<CycleReport> {
  const input = await engine.store.load(claim.subjectId);
  if (input === undefined) return report(claim.subjectId, "gone");
  const { inputVersion, subject } = input;
  const gone = more.result === "gone";
  const answer = await engine.store.settle({
    actor: claim.actor,
    subject,
    inputVersion,
    verdicts: [],
    nextInMs: more.nextInMs,
    gone,
    forgetSources: [],
    nowOwned: 0,
  });
  if (!answer.kept) return report(claim.subjectId, "superseded");
  return report(claim.subjectId, "converged", { dueAgain: answer.dueAgain, ...more });
}
