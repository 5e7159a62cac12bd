import type { PermitAnswer, PermitRequest } from "../../../src/ports/engine-store.ts";
import type { JournalEntry, MoveAnswer, OperationMove, OperationRef } from "../../../src/ports/operation-store.ts";
import type { ChangeRecord } from "../../../src/ports/records.ts";
import { asError } from "../as-error.ts";
import type { OutsideAccount, Thing } from "../outside/outside.ts";
import { isLetter, isOfOperation, type WriteCall } from "../outside/sim-api.ts";
import type { SimProcess } from "../process.ts";
import { boxSteps } from "../sim-box.ts";
import type { OperationRow } from "../store/rows.ts";
import { judgeBudgets } from "./delete-rules.ts";
import type { Ledger, PermitTruth } from "./ledger.ts";
import { modeOf } from "./permit-rules.ts";
import { type StartedWrite, Violation, type Witness } from "./witness.ts";

/** Failed attempts after which a step of the simulation's pipelines waits for a person, and so does the admission. */
const mostAttempts = 5;

/** A change that a step makes itself, and not the loop in the operation's name. */
export function isStep({ trigger }: Pick<ChangeRecord, "trigger">): boolean {
  return trigger.startsWith("operation ");
}

/**
 * What stands in a journal: the last word about each step that nothing has voided since. Written down once more, so that a
 * mistake in the engine's own reading of journals shows.
 */
function standing(row: Pick<OperationRow, "pipeline">, journal: readonly JournalEntry[], direction: string) {
  const order = boxSteps[row.pipeline] ?? [];
  const found = new Map<string, JournalEntry>();
  for (const entry of journal) {
    if (entry.direction !== direction) continue;
    if (entry.result === "done" || entry.result === "skipped") found.set(entry.step, entry);
    if (entry.result === "moved") found.delete("admit");
    if (entry.result === "again") for (const later of order.slice(order.indexOf(entry.step))) found.delete(later);
  }
  return found;
}

/** Everything that must be true when something goes that an operation had made. */
export function judgeTakenAway(ledger: Ledger, started: StartedWrite, permit: PermitTruth, thing: Thing): void {
  const { operations, resources } = ledger.state.tables;
  const operation = operations.get(permit.request.actor.operationId ?? "");
  const name = `${started.process.name} takes ${thing.id} away from ${permit.subject.kind}/${permit.subject.name}`;
  const leaves = resources.get(permit.subject.resourceUid)?.deletion !== undefined;
  const back = operation?.direction === "back";
  if (!leaves && !back) throw new Violation("wanted", `${name}: nobody deleted it, and nothing is taken back`);
  const readAtMs = ledger.reads.get(`${started.process.number} ${thing.id}`);
  if (readAtMs === undefined || readAtMs < (permit.cycle?.loadedAtMs ?? 0))
    throw new Violation("evidence", `${name}: it was not read right before`);
  const { marker } = thing;
  const foreign = typeof marker === "object" && !("resourceUid" in marker);
  if (foreign && thing.markedAtMs < readAtMs) throw new Violation("ownership", `${name}: it carries a foreign marker`);
  judgeBudgets(ledger, permit, thing.key, name);
}

/** Watches operations: their journals, what they rest on, and what their steps do outside. */
export class OperationRules implements Witness {
  readonly #ledger: Ledger;
  readonly #fail: (violation: Error) => void;
  /** The journal of an operation as a process last heard of it. */
  readonly #heard = new Map<string, { readonly journal: readonly JournalEntry[]; readonly atMs: number }>();
  /** Operations that did not run and that a loop has started again. */
  readonly #startedAgain = new Set<string>();
  #operationsBefore = 0;
  #before: { readonly row: OperationRow; readonly journal: readonly JournalEntry[] } | undefined;

  constructor(ledger: Ledger, fail: (violation: Error) => void) {
    this.#ledger = ledger;
    this.#fail = fail;
  }

  beforeCommit(_process: SimProcess, method: string, request: unknown): void {
    if (method === "settle") this.#operationsBefore = this.#ledger.state.tables.operations.size;
    if (method !== "recordMove") return;
    const row = this.#row((request as OperationMove).actor.operationId);
    this.#before = row && { row, journal: row.journal };
  }

  afterCommit(process: SimProcess, method: string, request: unknown, result: unknown): void {
    this.#guarded(() => {
      if (method === "loadOperation" && result !== undefined)
        this.#hear(process, (request as OperationRef).operationId);
      if (method === "recordMove" && (result as MoveAnswer).kept) this.#moved(process, request as OperationMove);
      if (method === "settle") this.#judgeStarted(process);
      if (method === "permit" && (result as PermitAnswer).granted) {
        this.#permitted(request as PermitRequest);
        this.#judgeLeaving(process, request as PermitRequest);
      }
    });
  }

  /** A process is about to run a step. What it has heard to be recorded it must not run again. */
  ran(process: SimProcess, operationId: string, step: string): void {
    this.#guarded(() => {
      const row = this.#row(operationId);
      const heard = this.#heard.get(`${process.number} ${operationId}`);
      if (row === undefined || heard === undefined) return;
      if (standing(row, heard.journal, "forward").get(step)?.result === "done")
        throw new Violation("recorded step", `${process.name} runs '${step}' of ${operationId} again`);
    });
  }

  #row(operationId: string | undefined): OperationRow | undefined {
    return this.#ledger.state.tables.operations.get(operationId ?? "");
  }

  #hear(process: SimProcess, operationId: string): void {
    const journal = this.#row(operationId)?.journal;
    const atMs = this.#ledger.nowMs;
    if (journal !== undefined) this.#heard.set(`${process.number} ${operationId}`, { journal, atMs });
  }

  /** A loop starts nothing but what was declared and did not run, once, and where somebody may act. */
  #judgeStarted(process: SimProcess): void {
    const { operations, subjects } = this.#ledger.state.tables;
    if (operations.size === this.#operationsBefore) return;
    const all = [...operations.values()];
    const started = all.at(-1);
    const subject = started && subjects.get(started.subjectId);
    if (started === undefined || subject === undefined) return;
    const name = `${process.name} starts ${started.pipeline} of ${started.name} again`;
    const last = all.findLast(
      (row) => row !== started && row.resourceUid === started.resourceUid && row.pipeline === started.pipeline,
    );
    if (last?.state !== "not-run")
      throw new Violation("started again", `${name}, although ${last?.id} is ${last?.state}`);
    if (this.#startedAgain.has(last.id)) throw new Violation("started again", `${name} for ${last.id} a second time`);
    if (modeOf(this.#ledger.state.tables, subject) === "observe")
      throw new Violation("started again", `${name} in observe mode`);
    this.#startedAgain.add(last.id);
  }

  #moved(process: SimProcess, { actor, entries }: OperationMove): void {
    const { tables } = this.#ledger.state;
    const { operationId, epoch, holder, shard } = actor;
    const row = this.#row(operationId);
    const before = this.#before?.journal ?? [];
    if (row === undefined) return;
    this.#hear(process, operationId);
    const lease = tables.workerShards[shard];
    if (lease?.holder !== holder || lease.epoch !== epoch || lease.untilMs <= this.#ledger.nowMs)
      throw new Violation("stale epoch", `${process.name} records a move of ${operationId} without the lease`);
    if (before.some((entry, index) => row.journal[index] !== entry))
      throw new Violation("journal", `${process.name} wrote over the journal of ${operationId}`);
    for (const entry of entries) this.#judgeEntry(row, before, entry);
    if (row.state === "running" && row.attempts >= mostAttempts)
      throw new Violation("retries", `${row.id} tries '${row.step}' again after ${row.attempts} failed attempts`);
    if (row.endedAtMs === undefined) return;
    for (const { hold, name } of tables.subjects.values())
      if (hold?.operationId === row.id) throw new Violation("hold", `${row.id} has ended and still holds ${name}`);
    const made = [...tables.subjects.values()].flatMap(({ memory }) => memory.made ?? []);
    if (row.state === "not-run" && made.some((thing) => thing.operationId === row.id && thing.state === "made"))
      throw new Violation("not run", `${row.id} ended as if it had not run, and has made something`);
    const left = (boxSteps[row.pipeline] ?? []).filter((step) => !standing(row, row.journal, "forward").has(step));
    if (row.state === "succeeded" && left.length > 0)
      throw new Violation("recorded step", `${row.id} succeeded without ${left.join(", ")}`);
  }

  #judgeEntry(row: OperationRow, before: readonly JournalEntry[], entry: OperationMove["entries"][number]): void {
    if (entry.result !== "done" || entry.step === "admit") return;
    const already = standing(row, before, entry.direction);
    if (already.has(entry.step)) throw new Violation("recorded step", `${row.id} records '${entry.step}' twice`);
    if (entry.step === "box" && !already.has("admit"))
      throw new Violation("admit first", `${row.id} records '${entry.step}' without an admission`);
  }

  /** Nothing is permitted that was not admitted, on the very inputs it was admitted on. */
  #permitted({ actor, changes, subject, deletes }: PermitRequest): void {
    const row = this.#row(actor.operationId);
    if (actor.operationId === undefined) return;
    if (row === undefined || row.endedAtMs !== undefined)
      throw new Violation("admit first", `${actor.operationId} has ended, and writes for ${subject.name}`);
    const admitted = standing(row, row.journal, row.direction).get("admit")?.output as
      | { readonly generation: number; readonly inputVersion: number; readonly policyVersion: number }
      | undefined;
    if (admitted === undefined)
      throw new Violation("admit first", `${row.id} writes for ${subject.name} without an admission`);
    if (!changes.some(isStep)) return;
    const { resources, subjects } = this.#ledger.state.tables;
    const now = subjects.get(subject.id);
    const same = deletes
      ? admitted.inputVersion === now?.inputVersion
      : admitted.policyVersion === now?.policyVersion &&
        admitted.generation === resources.get(subject.resourceUid)?.generation;
    if (!same) throw new Violation("admit first", `${row.id} writes on inputs of ${subject.name} that nobody admitted`);
    for (const change of changes) this.#judgeAdopted(change, subject);
  }

  /** Whoever has heard that the resource goes makes nothing more for it. */
  #judgeLeaving(process: SimProcess, { actor, changes, subject }: PermitRequest): void {
    const heard = this.#heard.get(`${process.number} ${actor.operationId}`);
    const deletion = this.#ledger.state.tables.resources.get(subject.resourceUid)?.deletion;
    if (heard === undefined || deletion === undefined || deletion.atMs >= heard.atMs) return;
    const made = changes.find((change) => isStep(change) && change.action === "create");
    if (made !== undefined)
      throw new Violation(
        "leaving",
        `${actor.operationId} makes ${made.key} for ${subject.name}, which is being deleted`,
      );
  }

  #judgeAdopted(change: ChangeRecord, { accountId, resourceUid, name }: PermitRequest["subject"]): void {
    if (change.action !== "adopt") return;
    const thing = this.#ledger.outside.connections.get(accountId ?? "")?.own.things.get(change.externalId ?? "");
    if (thing !== undefined && thing.madeFor !== resourceUid)
      throw new Violation("ownership", `an operation adopts ${thing.id} for ${name}, which it did not make`);
  }

  writeStarts(process: SimProcess, call: WriteCall): StartedWrite {
    return { call, process, startedAtMs: this.#ledger.nowMs, permitId: undefined };
  }

  effect(
    { process }: StartedWrite,
    outside: OutsideAccount,
    { effect, thing }: { readonly effect: "create" | "update" | "delete"; readonly thing: Thing },
  ): void {
    this.#guarded(() => {
      if (effect !== "create" || !isOfOperation(thing) || !isLetter(thing)) return;
      for (const other of outside.things.values()) {
        if (isLetter(other) && other.value === thing.value)
          throw new Violation("no duplicate effect", `${process.name} sends the letter of ${thing.value} twice`);
      }
    });
  }

  looked(): void {}
  readOne(): void {}
  claims(): void {}

  #guarded(judge: () => void): void {
    try {
      judge();
    } catch (thrown) {
      this.#fail(asError(thrown));
    }
  }
}
