import type {
  DeleteReservation,
  DeleteReservationAnswer,
  OutcomeRecord,
  PermitAnswer,
  PermitRequest,
  Settlement,
} from "../../../src/ports/engine-store.ts";
import type { CycleInput } from "../../../src/ports/records.ts";
import type { OutsideAccount, Thing } from "../outside/outside.ts";
import { isOfOperation, type WriteCall } from "../outside/sim-api.ts";
import type { SimProcess } from "../process.ts";
import type { Ledger } from "./ledger.ts";
import { isStep } from "./operation-rules.ts";
import { isRemoval } from "./permit-rules.ts";
import { Approvals } from "./approvals.ts";
import { judgeEmptiness } from "./emptiness.ts";
import { judgeDecidingLook } from "./look-rules.ts";
import { OwnWrites } from "./own-writes.ts";
import { Rivalry } from "./rivalry.ts";
import { Sights } from "./sights.ts";
import { judgeAsked, judgeSettled, type WatchedCycle } from "./snapshot-rules.ts";
import { Suspicion } from "./suspicion.ts";
import { judgeWrite } from "./write-rules.ts";
import { type Look, type StartedWrite, Violation, type Witness } from "./witness.ts";

/** How long an identity once read may be believed, plus the call itself. */
const identityGraceMs = 6_000;
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
  readonly #approvals: Approvals;
  readonly #rivalry: Rivalry;
  readonly #sights = new Sights();
  readonly #ownWrites = new OwnWrites();

  constructor(ledger: Ledger, fail: (violation: Error) => void) {
    this.#ledger = ledger;
    this.#fail = fail;
    this.#suspicion = new Suspicion(ledger);
    this.#approvals = new Approvals(ledger);
    this.#rivalry = new Rivalry(ledger);
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
      if (method === "permit" && (result as PermitAnswer).granted) this.#granted(process, request as PermitRequest);
      if (method === "recordOutcome" && result === true) this.#recorded(request as OutcomeRecord);
      if (method === "settle") this.#approvals.settled((request as Settlement).subject.id);
      if (method === "markRestored") this.#rivalry.forget();
      if (method === "reconcileNow") this.#retried((request as { readonly uid: string }).uid);
      if (countsMove.has(method)) this.#suspicion.update();
      if (method === "declare" || method === "requestDeletion") this.#rivalry.declared();
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
    if (!request.changes.some(isStep)) this.#suspicion.judge(cycle, request);
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

  #recorded(outcome: OutcomeRecord): void {
    this.#rivalry.recorded(outcome);
    this.#ownWrites.recorded(outcome, this.#ledger.outside.connections.get(outcome.subject.accountId ?? "")?.own);
  }

  #granted(process: SimProcess, request: PermitRequest): void {
    judgeDecidingLook(this.#ledger, process, request);
    const cycle = this.#cycle(process, request);
    if (cycle !== undefined && request.grantIds.length > 0) this.#approvals.judge(cycle, request);
  }

  #retried(uid: string): void {
    for (const subject of this.#ledger.state.tables.subjects.values()) {
      if (subject.resourceUid === uid) this.#rivalry.forget(subject.id);
    }
  }

  #settled(process: SimProcess, settlement: Settlement): void {
    const cycle = this.#cycle(process, settlement);
    if (cycle === undefined) return;
    judgeSettled(cycle, settlement);
    judgeEmptiness(this.#ledger.state.tables, cycle, settlement);
  }

  looked(process: SimProcess, accountId: string, look: Look): void {
    this.#sights.looked(process, accountId, look);
  }

  readOne(process: SimProcess, _accountId: string, id: string, _startedAtMs: number, content: string): void {
    this.#sights.readOne(process, id, content);
  }

  claims(process: SimProcess, accountId: string): void {
    this.#guarded(() => this.#judgeSentinel(accountId, this.#ledger.outside.answering(accountId), process.name));
  }

  writeStarts(process: SimProcess, call: WriteCall): StartedWrite {
    this.#guarded(() => {
      const subject = this.#ledger.subject(call.uid, call.accountId);
      judgeWrite(this.#ledger, process, call, subject && this.#cycle(process, { subject }));
    });
    return { call, process, startedAtMs: this.#ledger.nowMs, permitId: undefined };
  }

  effect(
    started: StartedWrite,
    outside: OutsideAccount,
    { effect, thing }: { readonly effect: "create" | "update" | "delete"; readonly thing: Thing },
  ): void {
    this.#guarded(() => {
      const { accountId } = started.call;
      const record = thing.id.startsWith(`${thing.group}/`);
      if (effect === "update") this.#ownWrites.updated(outside, thing, this.#ledger.nowMs);
      // What an operation takes away rests on a read of that one thing, which the referee judges.
      if (effect === "delete" && !record && !isOfOperation(thing))
        this.#sights.judgeDelete(started.process, accountId, thing);
      this.#judgeSentinel(accountId, outside, started.process.name);
    });
  }

  #judgeSentinel(accountId: string, outside: OutsideAccount, name: string): void {
    const sinceMs = this.#ledger.usurpedAtMs.get(accountId);
    const { id, incarnation } = this.#ledger.state.tables.installation;
    const { sentinel } = outside;
    if (sinceMs === undefined || sentinel === undefined) return;
    const others = sentinel.installationId !== id || sentinel.incarnation > incarnation;
    const forMs = this.#ledger.nowMs - sinceMs;
    if (others && forMs > identityGraceMs + 2 * this.#ledger.callTimeoutMs) {
      throw new Violation(
        "account identity",
        `${name} writes at ${accountId}, which ${sentinel.installationId} has claimed for ${forMs} ms`,
      );
    }
  }

  #guarded(judge: () => void): void {
    try {
      judge();
    } catch (thrown) {
      this.#fail(thrown instanceof Error ? thrown : new Error(String(thrown)));
    }
  }
}
