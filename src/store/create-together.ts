import { canonical, shardOf } from "../kernel/hash.ts";
import type { Clock } from "../ports/clock.ts";
import type { DeclareChange, ResourceReference } from "../ports/declaring-store.ts";
import { Batcher } from "./batcher.ts";
import type { Made } from "./change-set.ts";
import type { Transaction } from "./database.ts";
import { authorPriority, fieldOwners, logEntry, resourceOf } from "./declare.ts";
import { nobodyWoken, wokenOf } from "./due-edges.ts";
import { isAboutTheRequest } from "./errors.ts";
import { logCall } from "./log-entries.ts";
import { OrganizationLanes, type Write } from "./organization-lanes.ts";
import {
  addSeveralLinks,
  addSeveralReferences,
  addSeveralSubjects,
  checkQuotas,
  insertResources,
  readPlaces,
  takenNames,
} from "./sql/creating.ts";
import { lockChangedNames, referredResources } from "./sql/declaring.ts";
import { appendLogs } from "./sql/log.ts";
import { type WokenRow, wakeLinked } from "./sql/wake.ts";
import { type Call, call } from "./statement.ts";

type Created = Made | "alone";
type Path = readonly string[];

/**
 * Resources of one organization that are created at the same time share a transaction: a commit waits for the disk, and most
 * of what a create costs is the way to the server and back. Whatever is not plainly a create of something new is left to a
 * transaction of its own, which says why.
 */
export class CreateTogether {
  readonly #lanes: OrganizationLanes<DeclareChange, Created>;

  constructor(clock: Clock) {
    this.#lanes = new OrganizationLanes((write) => batcherOf(clock, write));
  }

  /** "alone": nothing was written, and it must be tried by itself. */
  create(change: DeclareChange, write: Write): Promise<Created> {
    return this.#lanes.ask(change.declare.organizationId, change, write);
  }
}

function batcherOf(clock: Clock, write: Write): Batcher<DeclareChange, Created> {
  return new Batcher({
    clock,
    keyOf: ({ declare: { scope, kind, name } }) => canonical([scope, kind, name]),
    run: (changes) => createAll(changes, write),
    collectMs: 2,
    maxSize: 20,
    fullAtOnce: 3,
  });
}

async function createAll(changes: readonly DeclareChange[], write: Write): Promise<readonly Created[]> {
  try {
    return await write((tx) => createSeveral(tx, changes));
  } catch (thrown) {
    // Nothing was written, and one of them is the reason: each by itself then learns whether it is the one.
    if (isAboutTheRequest(thrown)) return changes.map(() => "alone");
    throw thrown;
  }
}

/** Two round trips for all of them: look, then write. */
async function createSeveral(tx: Transaction, changes: readonly DeclareChange[]): Promise<readonly Created[]> {
  const { organizationId } = changes[0]?.declare ?? { organizationId: "" };
  const known = await look(tx, organizationId, changes);
  const plain = changes.filter((change, index) => isPlain(change, index, known));
  if (plain.length === 0) return changes.map(() => "alone");
  const made = await write(tx, organizationId, plain, known.paths);
  return changes.map((change) => made.get(change) ?? "alone");
}

interface Known {
  readonly taken: ReadonlySet<number>;
  readonly paths: ReadonlyMap<string, Path>;
  readonly accounts: ReadonlySet<string>;
  /** Kinds of which not all fit: then each is judged by itself. */
  readonly full: ReadonlySet<string>;
  readonly usable: ReadonlySet<string>;
}

async function look(tx: Transaction, organizationId: string, changes: readonly DeclareChange[]): Promise<Known> {
  const own = changes.map(({ declare }) => declare);
  const targets = uniqueNames(changes.flatMap(({ references }) => references));
  const names = [...own.map((one) => ({ ...one, alone: true })), ...targets.map((one) => ({ ...one, alone: false }))];
  const perKind = [...Map.groupBy(own, ({ kind }) => kind)];
  const accounts = [...new Set(own.flatMap((one) => one.accounts.filter((id) => id !== undefined)))];
  const [, taken, places, referred, quotas] = await Promise.all([
    tx.run(
      lockChangedNames,
      organizationId,
      ...columns(names),
      names.map(({ alone }) => String(alone)),
    ),
    tx.run(takenNames, organizationId, ...columns(own)),
    tx.run(readPlaces, organizationId, [...new Set(own.map(({ scope }) => scope))], accounts),
    targets.length === 0 ? [] : tx.run(referredResources, organizationId, ...columns(targets)),
    tx.run(
      checkQuotas,
      organizationId,
      perKind.map(([kind]) => kind),
      perKind.map(([, some]) => some.length),
    ),
  ]);
  const more = new Map(perKind.map(([kind, some]) => [kind, some.length]));
  const full = quotas.filter(({ kind, most, used }) => most !== null && (used ?? 0) + (more.get(kind) ?? 0) > most);
  const standing = referred.filter(({ deleting }) => !deleting).map(({ place }) => targets[place - 1]);
  return {
    taken: new Set(taken.map(({ place }) => place - 1)),
    paths: new Map(Object.entries(places[0]?.scopes ?? {})),
    accounts: new Set(places[0]?.accounts ?? []),
    full: new Set(full.map(({ kind }) => kind)),
    usable: new Set(standing.flatMap((target) => (target === undefined ? [] : [nameKey(target)]))),
  };
}

function isPlain({ declare, references, starts }: DeclareChange, index: number, known: Known): boolean {
  return (
    starts === undefined &&
    !known.taken.has(index) &&
    !known.full.has(declare.kind) &&
    known.paths.has(declare.scope) &&
    declare.accounts.every((id) => id === undefined || known.accounts.has(id)) &&
    references.every((reference) => known.usable.has(nameKey(reference)))
  );
}

async function write(
  tx: Transaction,
  organizationId: string,
  changes: readonly DeclareChange[],
  paths: Known["paths"],
): Promise<ReadonlyMap<DeclareChange, Made>> {
  const requests = changes.map(({ declare }) => declare);
  const inserting = call(insertResources, organizationId, JSON.stringify(requests.map((one) => rowOf(one, paths))));
  const [rows, ...others] = await tx.finish([
    inserting,
    ...linking(organizationId, changes),
    ...wakingTargets(organizationId, changes),
    ...addingSubjects(organizationId, requests),
    logging(organizationId, requests),
  ]);
  const declaredAt = new Map(rows.map((row) => [row.uid, row.declared_at_ms]));
  // Only what wakes somebody answers with rows.
  const woken = wokenOf(others.flat());
  return new Map(
    changes.map((change, index) => {
      const { uid } = change.declare;
      const known = { uid, generation: 1, declaredAtMs: declaredAt.get(uid) ?? 0 };
      const done = { result: "created", resource: resourceOf(change.declare, known), revision: 1 } as const;
      // What became due is told once for all of them, with the first.
      return [change, { done, woken: index === 0 ? woken : nobodyWoken }];
    }),
  );
}

function linking(organizationId: string, changes: readonly DeclareChange[]): readonly Call<never>[] {
  const links = changes.flatMap(({ declare: { uid, scope, links: some } }) =>
    some.map((one) => ({ ...one, uid, scope: one.scope ?? scope })),
  );
  const others = changes.flatMap(({ declare: { uid }, references }) =>
    references.filter(({ part }) => !part).map((one) => ({ ...one, uid })),
  );
  return [
    ...(links.length === 0 ? [] : [call(addSeveralLinks, organizationId, uidsOf(links), ...columns(links))]),
    ...(others.length === 0 ? [] : [call(addSeveralReferences, organizationId, uidsOf(others), ...columns(others))]),
  ];
}

/** Behind the links: what they name is computed anew. */
function wakingTargets(organizationId: string, changes: readonly DeclareChange[]): readonly Call<WokenRow>[] {
  const linked = changes.map(({ declare }) => declare).filter(({ links }) => links.length > 0);
  const byPriority = Map.groupBy(linked, ({ author }) => authorPriority(author));
  return [...byPriority].map(([priority, some]) => call(wakeLinked, priority, organizationId, uidsOf(some)));
}

function addingSubjects(
  organizationId: string,
  requests: readonly DeclareChange["declare"][],
): readonly Call<WokenRow>[] {
  const subjects = requests.flatMap(subjectsOf).map((subject, place) => ({ ...subject, place }));
  return subjects.length === 0 ? [] : [call(addSeveralSubjects, organizationId, JSON.stringify(subjects))];
}

function logging(organizationId: string, requests: readonly DeclareChange["declare"][]): Call<never> {
  const entries = requests.map((request) => {
    const { uid } = request;
    return logCall(logEntry(request, { uid, result: "created", generation: 1, revision: 1 })).values;
  });
  const column = (index: number) => entries.map((values) => values[index] as string | number | null);
  return call(appendLogs, organizationId, ...[1, 2, 3, 4, 5, 6].map(column));
}

function uidsOf(rows: readonly { readonly uid: string }[]): readonly string[] {
  return rows.map(({ uid }) => uid);
}

function rowOf(request: DeclareChange["declare"], paths: Known["paths"]) {
  const { uid, kind, name, scope, spec, labels, author, mode, protect } = request;
  return {
    uid,
    kind,
    name,
    scope,
    spec,
    labels,
    mode,
    protect,
    path: paths.get(scope),
    author_name: author.name,
    author_type: author.type,
    field_owners: fieldOwners(request),
  };
}

function subjectsOf({ uid, scope, kind, name, accounts, organizationId, author }: DeclareChange["declare"]) {
  return [...new Set(accounts)].map((id) => ({
    uid,
    scope,
    kind,
    name,
    account_id: id ?? null,
    shard: shardOf(id ?? organizationId),
    priority: authorPriority(author),
  }));
}

function uniqueNames(references: readonly ResourceReference[]): readonly ResourceReference[] {
  return [...new Map(references.map((reference) => [nameKey(reference), reference])).values()];
}

function nameKey({
  scope,
  kind,
  name,
}: {
  readonly scope: string;
  readonly kind: string;
  readonly name: string;
}): string {
  return canonical([scope, kind, name]);
}

function columns(names: readonly { readonly scope: string; readonly kind: string; readonly name: string }[]) {
  return [names.map(({ scope }) => scope), names.map(({ kind }) => kind), names.map(({ name }) => name)] as const;
}
