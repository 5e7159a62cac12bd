import type { OutsideAccount, Thing } from "../outside/outside.ts";
import type { WriteCall } from "../outside/sim-api.ts";
import type { SimProcess } from "../process.ts";

/** A complete look as a process received it. */
export interface Look {
  readonly startedAtMs: number;
  readonly ids: ReadonlySet<string>;
  /** What it showed of each, where somebody wants to know. */
  readonly contents?: ReadonlyMap<string, string>;
  /** The zone it was a look at; undefined for a listing of the whole account. */
  readonly group?: string;
}

/** A write on its way, as it was judged when it started. */
export interface StartedWrite {
  readonly call: WriteCall;
  readonly process: SimProcess;
  readonly startedAtMs: number;
  readonly permitId: string | undefined;
}

/** Whoever watches every commit and every external effect. */
export interface Witness {
  beforeCommit(process: SimProcess, method: string, request: unknown): void;
  afterCommit(process: SimProcess, method: string, request: unknown, result: unknown): void;
  looked(process: SimProcess, accountId: string, look: Look): void;
  readOne(process: SimProcess, accountId: string, id: string, startedAtMs: number, content: string): void;
  claims(process: SimProcess, accountId: string, sentinel: { readonly incarnation: number }): void;
  writeStarts(process: SimProcess, call: WriteCall): StartedWrite;
  /** Called before the effect reaches the truth. */
  effect(
    started: StartedWrite,
    outside: OutsideAccount,
    what: { readonly effect: "create" | "update" | "delete"; readonly thing: Thing },
  ): void;
}

/** A rule that must hold in every history; the name is what a failing seed prints. */
export class Violation extends Error {
  readonly invariant: string;

  constructor(invariant: string, detail: string) {
    super(`${invariant}: ${detail}`);
    this.name = "Violation";
    this.invariant = invariant;
  }
}
