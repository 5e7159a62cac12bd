import type { Json } from "../../../src/ports/json.ts";
import type { ScopePolicy } from "../../../src/ports/records.ts";
import type { ItemSpec } from "../sim-kind.ts";
import { isLive } from "../../../src/kernel/steering.ts";
import type { Thing } from "../outside/outside.ts";
import { boxesOf, isLetter, isOfOperation } from "../outside/sim-api.ts";
import type { ResourceRow, SubjectRow } from "../store/rows.ts";
import { type Cast, ignoring, people, specOf } from "./cast.ts";
import { redeclare } from "./declare.ts";
import { startOn, steer } from "./operation-actor.ts";

const [ada] = people;
const person = ada ?? { name: "ada", type: "person" as const };

/** A patient person who puts the outside in order and answers everything that waits for one. */
export class Operator {
  readonly #cast: Cast;
  readonly #helped = new Set<string>();
  readonly #givenUp = new Set<string>();

  constructor(cast: Cast) {
    this.#cast = cast;
  }

  /** Every stop that a person set is lifted, every declaration is made readable again. */
  tidyUp(): void {
    const { outside, store } = this.#cast;
    for (const connection of outside.connections.values()) {
      connection.swapped = undefined;
      connection.notFound = false;
      connection.readOnly = false;
      connection.throttle.lift();
      connection.own.rivals.clear();
      if (this.#cast.ledger.usurpedAtMs.delete(connection.own.id)) connection.own.sentinel = undefined;
      this.#unlock(connection.own.id);
    }
    const { tables } = store.state;
    const opened = Array.from(tables.policies.values(), (policy) => this.#openPolicy(policy));
    // Only then: where a policy asks for four eyes nobody ends a pause alone.
    void Promise.allSettled(opened).then(() => this.#endPauses());
    for (const subject of tables.subjects.values()) {
      // What an operation holds it gives back at its end.
      if (subject.hold === undefined || tables.operations.has(subject.hold.operationId)) continue;
      const { organizationId, resourceUid: uid, hold } = subject;
      ignoring(this.#cast.intents.releaseHold({ organizationId, uid, operationId: hold.operationId }));
    }
    for (const resource of Array.from(tables.resources.values())) this.#repair(resource);
    this.reconcileAll();
    this.#helpOperations();
  }

  /** What waits for somebody is tried again, and given up the next time; what was refused is given up; what leaves is taken away. */
  #helpOperations(): void {
    const { tables } = this.#cast.store.state;
    const decided = rejectedItems(this.#cast);
    for (const operation of Array.from(tables.operations.values())) {
      // Whoever said no to what it wants to do gives it up: it would ask for ever, and nobody else may touch what it holds.
      if (operation.state === "held" && decided.has(operation.subjectId))
        steer(this.#cast, operation, { verb: "cancel" });
      if (operation.state !== "attention") continue;
      const verb = this.#helped.has(operation.id) ? "cancel" : "resume";
      steer(this.#cast, operation, { verb: this.#givenUp.has(operation.id) ? "release" : verb });
      if (verb === "cancel") this.#givenUp.add(operation.id);
      this.#helped.add(operation.id);
    }
    for (const subject of Array.from(tables.subjects.values())) {
      const resource = tables.resources.get(subject.resourceUid);
      const leaves = resource?.deletion !== undefined && subject.hold === undefined;
      if (!leaves || (subject.memory.made?.length ?? 0) === 0) continue;
      if (this.#isSomebodyElses(subject, resource)) this.#leave(resource);
      else startOn(this.#cast, resource);
    }
  }

  /**
   * What stands under the name is not what we made, or nothing says so any more: nobody heard its id, and a stranger took its marker.
   * No operation takes it away, and it is a person's decision to let it be.
   */
  #isSomebodyElses({ accountId, memory }: SubjectRow, resource: ResourceRow): boolean {
    const group = boxesOf(specOf(resource)?.group ?? "");
    const thing = this.#cast.outside.connections.get(accountId ?? "")?.own.find(group, "box");
    if (thing === undefined) return false;
    const isKnown = memory.made?.some(({ externalId }) => externalId === thing.id) === true;
    return thing.madeFor !== resource.uid || (typeof thing.marker !== "object" && !isKnown);
  }

  #leave({ organizationId, uid }: ResourceRow): void {
    const asked = { organizationId, uid, ifRevision: undefined, author: person, orphan: true };
    ignoring(this.#cast.intents.requestDeletion({ ...asked, confirmedCount: undefined }), () => this.#cast.poke());
  }

  #endPauses(): void {
    const { intents, store } = this.#cast;
    for (const { id, organizationId } of Array.from(store.state.tables.pauses.values()))
      ignoring(intents.endPause({ id, organizationId, author: person }));
  }

  /** Locks and other tools' markers go: whoever set them was asked. */
  #unlock(accountId: string): void {
    const { outside, world } = this.#cast;
    const account = outside.connection(accountId).own;
    for (const thing of Array.from(account.things.values())) {
      const foreign = typeof thing.marker === "object" && "foreign" in thing.marker;
      if (thing.lock === undefined && !foreign) continue;
      account.put({ ...thing, lock: undefined, marker: foreign ? "none" : thing.marker }, world.nowMs);
    }
  }

  #openPolicy(policy: ScopePolicy): Promise<void> {
    const { store, intents } = this.#cast;
    const organizationId = store.state.tables.scopes.get(policy.scope)?.organizationId;
    const open: ScopePolicy = { ...policy, mode: "enforce", protect: false, fourEyes: false, ceiling: undefined };
    return intents.setPolicy({ organizationId, policy: open, author: person });
  }

  #repair(resource: ResourceRow): void {
    const { spec } = resource;
    if (resource.deletion !== undefined) return this.#govern(resource);
    const broken = typeof spec === "object" && spec !== null && "broken" in spec;
    const readable = broken ? (spec as { readonly was: Json }).was : spec;
    const set = resource.kind === "SimItem" ? undefined : { ...(readable as object), unknown: false };
    const empty = set !== undefined && Object.keys((set as { items?: object }).items ?? {}).length === 0;
    const item = readable as unknown as ItemSpec;
    const filled = { ...item, key: item.key === "" ? "i-1" : item.key, value: item.value === "" ? "i1" : item.value };
    const next = (set === undefined ? filled : empty ? { ...set, zero: true } : set) as Json;
    const options = { uid: this.#cast.freshUid(), author: person, mode: "enforce" as const, protect: false };
    ignoring(this.#cast.intents.declare(redeclare(resource, next, options)));
  }

  /** Of what is being deleted only mode and protection can be changed, and must be, or it would never leave. */
  #govern(resource: ResourceRow): void {
    const options = { uid: this.#cast.freshUid(), author: person, mode: "enforce" as const, protect: false };
    ignoring(this.#cast.intents.declare(redeclare(resource, resource.spec, options)));
  }

  reconcileAll(): void {
    for (const { organizationId, uid, kind } of this.#cast.store.state.tables.resources.values()) {
      if (kind !== "SimItem")
        ignoring(this.#cast.intents.reconcileNow({ organizationId, uid }), () => this.#cast.poke());
    }
  }

  /** Says yes to everything that is open, by the digest it has now, and gives back an account that was once refused. */
  approveAll(): number {
    const open = [...this.#cast.store.state.tables.heldChanges.values()].filter(
      (row) => row.state === "open" || (row.state === "rejected" && row.guard === "account-identity"),
    );
    for (const { organizationId, id: heldChangeId, digest } of open) {
      const request = { organizationId, heldChangeId, digest, approver: person, grantForMs: 3_600_000 };
      ignoring(this.#cast.intents.approve(request), () => this.#cast.poke());
    }
    return open.length;
  }
}

/** Why the world is not as declared yet; empty when it is. */
export function unconverged(cast: Cast): readonly string[] {
  const { tables } = cast.store.state;
  const problems: string[] = [];
  const decided = rejectedItems(cast);
  const shared = sharedGroups(cast);
  for (const subject of tables.subjects.values()) {
    const resource = tables.resources.get(subject.resourceUid);
    const spec = resource && specOf(resource);
    const name = `${subject.kind}/${subject.name} at ${subject.accountId}`;
    if (resource === undefined) continue;
    if (spec !== undefined && shared.has(`${subject.accountId} ${spec.group}`)) continue;
    const own = cast.outside.connections.get(subject.accountId ?? "")?.own;
    const waits = decided.get(subject.id);
    const wanted = cast.ledger.wanted.current(subject.id);
    if (wanted?.leaving === true && waits === undefined) problems.push(`${name}: is leaving and still there`);
    for (const [key, { content }] of wanted?.items ?? []) {
      if (waits?.has(key) === true) continue;
      const made = [...(own?.things.values() ?? [])].filter(
        (thing) => thing.madeFor === resource.uid && (subject.kind === "SimZone" ? thing.id : thing.key) === key,
      );
      const things = cast.ledger.restored ? recognised(subject, made) : made;
      const [thing] = things;
      if (things.length !== 1) problems.push(`${name}: ${things.length} things for ${key}`);
      else if (thing?.value !== content.value || thing.size !== content.size) problems.push(`${name}: ${key} differs`);
    }
  }
  problems.push(...notRunAgain(cast));
  for (const operation of cast.store.state.tables.operations.values())
    if (isLive(operation)) problems.push(`${operation.id} is ${operation.state}: ${operation.message}`);
  return [...problems, ...leftovers(cast, decided, shared)];
}

/** By now nobody only looks any more: what did not run while somebody did has been started again, by whomever. */
function notRunAgain({ store }: Cast): readonly string[] {
  const { operations, subjects } = store.state.tables;
  const last = new Map(Array.from(operations.values(), (row) => [row.subjectId, row]));
  return [...last.values()]
    .filter(
      ({ state, message, subjectId }) =>
        state === "not-run" && message.includes("observe mode") && subjects.has(subjectId),
    )
    .map(({ id, pipeline, name }) => `${id}: ${pipeline} of ${name} was not run, and nobody has started it again`);
}

/**
 * What was made after the backup and lost its marker to a stranger cannot be recognised by anybody: another one is made, and the
 * first is left alone and reported when its marker is back. Of several, the one on record counts.
 */
function recognised({ memory }: SubjectRow, made: readonly Thing[]): readonly Thing[] {
  const onRecord = made.filter(({ id }) => memory.owned.some(({ externalId }) => externalId === id));
  return made.length > 1 && onRecord.length === 1 ? onRecord : made;
}

/** Things of ours that nothing declares any more. */
function leftovers(
  cast: Cast,
  decided: ReadonlyMap<number, ReadonlySet<string>>,
  shared: ReadonlySet<string>,
): readonly string[] {
  const problems: string[] = [];
  for (const [accountId, connection] of cast.outside.connections) {
    for (const thing of connection.own.things.values()) {
      if (thing.madeFor === undefined || shared.has(`${accountId} ${thing.group}`) || isLetter(thing)) continue;
      const subject = cast.ledger.subject(thing.madeFor, accountId);
      const key = thing.id.startsWith(`${thing.group}/`) ? thing.id : thing.key;
      const { owned = [], made = [] } = subject?.memory ?? {};
      const recorded = [...owned, ...made].some((item) => item.externalId === thing.id);
      if (isOfOperation(thing) && recorded && cast.ledger.wanted.current(subject?.id ?? 0)?.leaving === false) continue;
      const wanted = subject !== undefined && cast.ledger.wanted.current(subject.id)?.items.has(key) === true;
      const excused =
        wanted ||
        (subject !== undefined && decided.get(subject.id)?.has(key) === true) ||
        (!recorded && isUnrecognisable(cast, accountId, thing));
      if (!excused) problems.push(`${thing.id} (${key}) of ${thing.madeFor} at ${accountId} is left over`);
    }
  }
  return problems;
}

/** No record leads to it any more, by a restore, a swap or a decision, or a stranger took its marker before we saw it. */
function isUnrecognisable({ ledger }: Cast, accountId: string, thing: Thing): boolean {
  const isRecord = thing.id.startsWith(`${thing.group}/`);
  const unmarked = !isRecord && typeof thing.marker !== "object";
  return unmarked || ledger.restored || ledger.forgotten.has(thing.id) || ledger.swappedAtMs.has(accountId);
}

/** What a person said no to waits for his next word. */
function rejectedItems(cast: Cast): ReadonlyMap<number, ReadonlySet<string>> {
  const waiting = new Map<number, Set<string>>();
  for (const held of cast.store.state.tables.heldChanges.values()) {
    if (held.state !== "rejected") continue;
    for (const item of held.items)
      waiting.set(item.subjectId, (waiting.get(item.subjectId) ?? new Set()).add(item.key));
  }
  return waiting;
}

/** Zones that two resources declare: which of them must go is a person's decision. */
function sharedGroups(cast: Cast): ReadonlySet<string> {
  const { tables } = cast.store.state;
  const seen = new Set<string>();
  const shared = new Set<string>();
  for (const subject of tables.subjects.values()) {
    const resource = tables.resources.get(subject.resourceUid);
    const spec = resource && specOf(resource);
    if (spec === undefined) continue;
    const key = `${subject.accountId} ${spec.group}`;
    if (seen.has(key)) shared.add(key);
    seen.add(key);
  }
  return shared;
}
