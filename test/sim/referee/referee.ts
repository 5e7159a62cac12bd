import type {
  DeleteReservation,
  DeleteReservationAnswer,
  OutcomeRecord,
  PermitAnswer,
  PermitRequest,
  SettleAnswer,
  Settlement,
  ShardLease,
} from "../../../src/ports/engine-store.ts";
import type { DeclareAnswer, IntentStore } from "../../../src/ports/intent-store.ts";
import type { CycleInput, SubjectMemory } from "../../../src/ports/records.ts";
import type { OutsideAccount, Thing } from "../outside/outside.ts";
import { isOfOperation, type WriteCall } from "../outside/sim-api.ts";
import { asError } from "../as-error.ts";
import type { SimProcess } from "../process.ts";
import type { SubjectRow } from "../store/rows.ts";
import { judgeMemory, judgeRevision } from "./commit-rules.ts";
import { judgeDelete } from "./delete-rules.ts";
import { judgeEffect, judgeStart } from "./effect-rules.ts";
import { type Ledger, leaseKey } from "./ledger.ts";
import { judgeTakenAway } from "./operation-rules.ts";
import { judgePermit } from "./permit-rules.ts";
import { type Look, type StartedWrite, Violation, type Witness } from "./witness.ts";

type DeletionRequest = Parameters<IntentStore["requestDeletion"]>[0];

const cycleWrites = new Set(["permit", "recordOutcome", "settle", "reserveDeletes", "recordAccount"]);

/** An answer that says no leaves nothing behind. */
function isRefusal(result: unknown): boolean {
  return typeof result === "object" && result !== null && "ungrantedPass" in result && !result.ungrantedPass;
}

/** Watches every commit and every effect, and stops the run at the first broken rule. */
export class Referee implements Witness {
  readonly ledger: Ledger;
  readonly #fail: (violation: Error) => void;
  #memoryBefore: { readonly subjectId: number; readonly memory: SubjectMemory } | undefined;
  #permitBefore: string | undefined;
  #ownedBefore: number | undefined;

  constructor(ledger: Ledger, fail: (violation: Error) => void) {
    this.ledger = ledger;
    this.#fail = fail;
  }

  beforeCommit(_process: SimProcess, method: string, request: unknown): void {
    this.#memoryBefore = undefined;
    if (method !== "permit" && method !== "recordOutcome" && method !== "settle") return;
    const subject = this.ledger.state.tables.subjects.get((request as { subject: { id: number } }).subject.id);
    this.#permitBefore = subject?.permit?.id;
    this.#ownedBefore = subject?.nowOwned;
    if (subject !== undefined) this.#memoryBefore = { subjectId: subject.id, memory: subject.memory };
  }

  afterCommit(process: SimProcess, method: string, request: unknown, result: unknown): void {
    if (cycleWrites.has(method) && !isRefusal(result)) {
      this.ledger.writes += 1;
      this.ledger.lastWrite = `${method} by ${process.name}`;
    }
    this.#guarded(() => {
      this.#note(process, method, request, result);
      this.#judgeMemory();
      if (method === "declare") this.#noteDeclared(result as DeclareAnswer);
      if (method === "requestDeletion") this.#noteTouched((request as DeletionRequest).uid);
      if (method === "markRestored") this.#noteRestored();
    });
  }

  #noteRestored(): void {
    this.ledger.wanted.record(this.ledger.state.tables, this.ledger.nowMs, () => true);
    this.ledger.leasesClearedAtMs = this.ledger.nowMs;
  }

  #noteDeclared(answer: DeclareAnswer): void {
    if (answer.result === "created" || answer.result === "changed") this.#noteTouched(answer.resource.uid);
  }

  /** A resource changed: so did what is wanted of its own subjects and of those it links to. */
  #noteTouched(uid: string): void {
    const { state, nowMs, wanted } = this.ledger;
    const resource = state.tables.resources.get(uid);
    if (resource !== undefined) judgeRevision(this.ledger, resource);
    const linked = (subject: SubjectRow) =>
      resource === undefined || resource.links.some(({ kind, name }) => kind === subject.kind && name === subject.name);
    wanted.record(state.tables, nowMs, (subject) => subject.resourceUid === uid || linked(subject));
  }

  #note(process: SimProcess, method: string, request: unknown, result: unknown): void {
    const { ledger } = this;
    switch (method) {
      case "takeShards":
      case "takeWorkerShards":
        for (const { shard, epoch, quiet } of result as readonly ShardLease[]) {
          const operationId = method === "takeShards" ? undefined : "any";
          const key = leaseKey(shard, { epoch, operationId });
          if (!ledger.leases.has(key)) ledger.leases.set(key, { process, atMs: ledger.nowMs, quiet });
        }
        return;
      case "load": {
        ledger.noteLoad(process, Number(request), result as CycleInput | undefined);
        return;
      }
      case "reserveDeletes":
        this.#noteReservation(process, request as DeleteReservation, result as DeleteReservationAnswer);
        return;
      case "permit": {
        const permit = request as PermitRequest;
        if (!(result as PermitAnswer).granted || this.#permitBefore === permit.permitId) return;
        ledger.permits.set(permit.permitId, judgePermit(ledger, process, permit));
        this.#judgeAdoptions(permit);
        for (const { action, externalId } of permit.changes) {
          if (action === "forget" && externalId !== undefined) ledger.forgotten.add(externalId);
        }
        return;
      }
      case "recordOutcome":
        if (result === true) this.#noteClaims(request as OutcomeRecord);
        return;
      case "settle":
        if (this.#ownedBefore !== (request as Settlement).nowOwned) ledger.noteOwned();
        this.#noteSettled(process, request as Settlement, result as SettleAnswer);
        return;
      case "requestDeletion":
        this.#noteDeletion(
          request as DeletionRequest,
          result as { readonly found: boolean; readonly conflict: boolean },
        );
        return;
      case "pause":
        ledger.pausedAtMs.set((request as { id: string }).id, ledger.nowMs);
        return;
      default:
        return;
    }
  }

  /** What a loop remembers while an operation holds its subject is not kept: it has seen nothing then. */
  #noteSettled(process: SimProcess, { subject, memory }: Settlement, answer: SettleAnswer): void {
    const stored = this.ledger.state.tables.subjects.get(subject.id)?.memory;
    if (!answer.kept || (memory !== undefined && (memory.attempts > 0 || memory !== stored))) return;
    this.ledger.noteSettled(process, subject.id);
  }

  #noteReservation(process: SimProcess, request: DeleteReservation, answer: DeleteReservationAnswer): void {
    const cycle = this.ledger.cycle(process, request.subject.id);
    if (!answer.current || cycle === undefined) return;
    const asked = request.granted + request.ungranted;
    if (asked > cycle.owned)
      throw new Violation("delete budget", `${asked} deletes reserved, ${cycle.owned} things owned`);
    cycle.reserved += request.granted + (answer.ungrantedPass ? request.ungranted : 0);
  }

  #noteDeletion(
    request: DeletionRequest,
    { conflict, found }: { readonly found: boolean; readonly conflict: boolean },
  ): void {
    if (!found || conflict) return;
    if (request.author.type !== "person") return;
    if (request.confirmedCount !== undefined) this.ledger.confirmedUids.add(request.uid);
    else this.ledger.confirmedUids.delete(request.uid);
  }

  /** What is claimed is ours from here on: made, adopted or taken over. */
  #noteClaims(record: OutcomeRecord): void {
    const { accountId, resourceUid } = record.subject;
    const outside = this.ledger.outside.connections.get(accountId ?? "")?.own;
    for (const { externalId } of record.claims) outside?.attribute(externalId, resourceUid);
  }

  #judgeAdoptions(permit: PermitRequest): void {
    const { accountId, resourceUid } = permit.subject;
    const outside = this.ledger.outside.connections.get(accountId ?? "")?.own;
    for (const change of permit.changes) {
      const thing = outside?.things.get(change.externalId ?? "");
      if (outside === undefined || thing === undefined || thing.madeFor === resourceUid) continue;
      if (change.action !== "adopt" && change.action !== "takeover") continue;
      const { marker } = thing;
      const marked = typeof marker === "object" && "resourceUid" in marker && marker.resourceUid === resourceUid;
      const intended = permit.memory.owned.some((item) => item.key === change.key);
      if (change.action === "adopt" && permit.subject.kind === "SimSet" && !marked) {
        throw new Violation("ownership", `${permit.subject.name} adopts ${thing.id}, which does not carry its marker`);
      }
      if (change.action === "adopt" && permit.subject.kind === "SimZone" && !intended) {
        throw new Violation("ownership", `${permit.subject.name} adopts ${thing.id}, which it never meant to make`);
      }
    }
  }

  #judgeMemory(): void {
    const before = this.#memoryBefore;
    const subject = before && this.ledger.state.tables.subjects.get(before.subjectId);
    if (before !== undefined && subject !== undefined) judgeMemory(this.ledger, subject, before.memory, subject.memory);
  }

  looked(process: SimProcess, accountId: string, look: Look): void {
    this.ledger.addLook(process, accountId, look);
  }

  readOne(process: SimProcess, _accountId: string, id: string, startedAtMs: number): void {
    this.ledger.reads.set(`${process.number} ${id}`, startedAtMs);
  }

  claims(process: SimProcess, accountId: string, sentinel: { readonly incarnation: number }): void {
    this.#guarded(() => {
      const { installation } = this.ledger.state.tables;
      if (sentinel.incarnation !== installation.incarnation) {
        throw new Violation(
          "account identity",
          `${process.name} claims ${accountId} for incarnation ${sentinel.incarnation}`,
        );
      }
    });
  }

  writeStarts(process: SimProcess, call: WriteCall): StartedWrite {
    let started: StartedWrite = { call, process, startedAtMs: this.ledger.nowMs, permitId: undefined };
    this.#guarded(() => {
      started = judgeStart(this.ledger, process, call);
    });
    return started;
  }

  effect(
    started: StartedWrite,
    outside: OutsideAccount,
    what: { readonly effect: "create" | "update" | "delete"; readonly thing: Thing },
  ): void {
    this.#guarded(() => {
      this.ledger.effects += 1;
      const permit = judgeEffect(this.ledger, started, outside, what);
      if (what.effect !== "delete") return;
      if (isOfOperation(what.thing)) judgeTakenAway(this.ledger, started, permit, what.thing);
      else judgeDelete(this.ledger, started, permit, what.thing);
    });
  }

  #guarded(judge: () => void): void {
    try {
      judge();
    } catch (thrown) {
      this.#fail(asError(thrown));
    }
  }
}
