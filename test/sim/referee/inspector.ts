import type {
  DeleteReservation,
  DeleteReservationAnswer,
  PermitRequest,
  Settlement,
} from "../../../src/ports/engine-store.ts";
import type { CycleInput } from "../../../src/ports/records.ts";
import type { OutsideAccount, Thing } from "../outside/outside.ts";
import type { WriteCall } from "../outside/sim-api.ts";
import type { SimProcess } from "../process.ts";
import type { Ledger } from "./ledger.ts";
import { isRemoval } from "./permit-rules.ts";
import { judgeAsked, judgeSettled, type WatchedCycle } from "./snapshot-rules.ts";
import { Suspicion } from "./suspicion.ts";
import { type Look, type StartedWrite, Violation, type Witness } from "./witness.ts";

/** What may change how many subjects of an account are bad. */
const countsMove = new Set(["settle", "declare", "requestDeletion", "markRestored"]);

/**
 * Watches the cycles themselves beside the referee, who watches what becomes of them: what a cycle asks for is judged by
 * what it had read, whatever the store then answers.
 */
export class Inspector implements Witness {
  readonly #ledger: Ledger;
  readonly #fail: (violation: Error) => void;
  readonly #cycles = new Map<string, WatchedCycle>();
  readonly #suspicion: Suspicion;

  constructor(ledger: Ledger, fail: (violation: Error) => void) {
    this.#ledger = ledger;
    this.#fail = fail;
    this.#suspicion = new Suspicion(ledger);
  }

  beforeCommit(process: SimProcess, method: string, request: unknown): void {
    this.#guarded(() => {
      if (method === "permit") this.#asked(process, request as PermitRequest);
      if (method === "settle") this.#settled(process, request as Settlement);
    });
  }

  afterCommit(process: SimProcess, method: string, request: unknown, result: unknown): void {
    this.#guarded(() => {
      if (method === "load") this.#loaded(process, request as number, result as CycleInput | undefined);
      if (method === "reserveDeletes") {
        this.#reserved(process, request as DeleteReservation, result as DeleteReservationAnswer);
      }
      if (countsMove.has(method)) this.#suspicion.update();
    });
  }

  #loaded(process: SimProcess, subjectId: number, input: CycleInput | undefined): void {
    const key = `${process.number} ${subjectId}`;
    if (input === undefined) {
      this.#cycles.delete(key);
      return;
    }
    const nothing = { asked: 0, ungrantedRemovals: 0, reservations: 0, reserved: 0 };
    this.#cycles.set(key, { loadedAtMs: this.#ledger.nowMs, input, ...nothing });
  }

  #cycle(process: SimProcess, request: { readonly subject: { readonly id: number } }): WatchedCycle | undefined {
    return this.#cycles.get(`${process.number} ${request.subject.id}`);
  }

  #asked(process: SimProcess, request: PermitRequest): void {
    const cycle = this.#cycle(process, request);
    if (cycle === undefined) throw new Violation("permit", `${process.name} asks for a permit outside any cycle`);
    judgeAsked(cycle, request, this.#ledger.nowMs);
    this.#suspicion.judge(cycle, request);
    const removals = request.changes.filter(isRemoval);
    cycle.ungrantedRemovals += removals.filter((change) => change.grantId === undefined).length;
    const { kind, name } = cycle.input.subject;
    // One call changes a zone: its deletes are charged for exactly what it does. Sets may drop some between the calls.
    if (kind === "SimZone" && removals.length > 0 && removals.length !== cycle.reserved) {
      throw new Violation("delete budget", `${kind}/${name}: ${cycle.reserved} deletes charged for ${removals.length}`);
    }
  }

  #reserved(process: SimProcess, request: DeleteReservation, answer: DeleteReservationAnswer): void {
    const cycle = this.#cycle(process, request);
    if (cycle === undefined || !answer.current) return;
    cycle.reservations += 1;
    cycle.reserved += request.granted + (answer.ungrantedPass ? request.ungranted : 0);
    if (cycle.reservations > 1) throw new Violation("delete budget", "deletes were reserved twice in one cycle");
  }

  #settled(process: SimProcess, settlement: Settlement): void {
    const cycle = this.#cycle(process, settlement);
    if (cycle !== undefined) judgeSettled(cycle, settlement);
  }

  looked(_process: SimProcess, _accountId: string, _look: Look): void {}

  readOne(_process: SimProcess, _accountId: string, _id: string, _startedAtMs: number): void {}

  claims(): void {}

  writeStarts(process: SimProcess, call: WriteCall): StartedWrite {
    return { call, process, startedAtMs: this.#ledger.nowMs, permitId: undefined };
  }

  effect(_started: StartedWrite, _outside: OutsideAccount, _what: { readonly thing: Thing }): void {}

  #guarded(judge: () => void): void {
    try {
      judge();
    } catch (thrown) {
      this.#fail(thrown instanceof Error ? thrown : new Error(String(thrown)));
    }
  }
}
