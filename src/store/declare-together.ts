import { canonical } from "../kernel/hash.ts";
import type { Clock } from "../ports/clock.ts";
import type { DeclareRequest } from "../ports/intent-store.ts";
import { Batcher } from "./batcher.ts";
import type { Transaction } from "./database.ts";
import {
  authorPriority,
  type Declared,
  declare,
  fieldOwners,
  log,
  resourceOf,
  sameSurroundings,
  unwritten,
} from "./declare.ts";
import { nobodyWoken, wokenOf } from "./due-edges.ts";
import { isAboutTheRequest } from "./errors.ts";
import { OrganizationLanes, type Write } from "./organization-lanes.ts";
import {
  type DeclaredRow,
  lockSeveralNames,
  lockSeveralResources,
  readSeveralResources,
  updateSeveralResources,
} from "./sql/resources.ts";
import { wakeSeveral } from "./sql/wake.ts";

interface Edit {
  readonly index: number;
  readonly existing: DeclaredRow;
  readonly request: DeclareRequest;
  readonly specChanged: boolean;
}

/**
 * Edits of one organization that come at the same time share a transaction: a commit waits for the disk, and most of what a
 * declaration costs is the way to the server and back. A lone request leaves at once. What creates something, or changes
 * more than spec and labels, has a transaction of its own.
 */
export class DeclareTogether {
  readonly #lanes: OrganizationLanes<DeclareRequest, PromiseSettledResult<Declared>>;

  constructor(clock: Clock) {
    this.#lanes = new OrganizationLanes((write) => batcherOf(clock, write));
  }

  async declare(request: DeclareRequest, write: Write): Promise<Declared> {
    const ended = await this.#lanes.ask(request.organizationId, request, write);
    if (ended.status === "rejected") throw ended.reason;
    return ended.value;
  }
}

function batcherOf(clock: Clock, write: Write): Batcher<DeclareRequest, PromiseSettledResult<Declared>> {
  return new Batcher({
    clock,
    keyOf: ({ scope, kind, name }) => canonical([scope, kind, name]),
    run: (requests) => declareSeveral(requests, write),
    maxSize: 50,
  });
}

/** Each has its own end: what one is refused for does not concern those that are written already. */
async function declareSeveral(
  requests: readonly DeclareRequest[],
  write: Write,
): Promise<readonly PromiseSettledResult<Declared>[]> {
  const together = requests.length > 1 ? requests.filter(isPlain) : [];
  const answers = together.length > 1 ? await editTogether(together, write) : [];
  const answered = new Map(together.map((request, index) => [request, answers[index]]));
  return await Promise.allSettled(
    requests.map(async (request) => {
      const answer = answered.get(request);
      return answer === undefined || answer === "alone" ? await write((tx) => declare(tx, request)) : answer;
    }),
  );
}

async function editTogether(
  requests: readonly DeclareRequest[],
  write: Write,
): Promise<readonly (Declared | "alone")[]> {
  try {
    return await write((tx) => editSeveral(tx, requests));
  } catch (thrown) {
    // Nothing was written, and one of them is the reason: each by itself then learns whether it is the one.
    if (isAboutTheRequest(thrown)) return [];
    throw thrown;
  }
}

function isPlain({ links, spec }: DeclareRequest): boolean {
  return links.length === 0 && typeof spec === "object" && spec !== null;
}

/** Two round trips for all of them: look, then write. */
async function editSeveral(
  tx: Transaction,
  requests: readonly DeclareRequest[],
): Promise<readonly (Declared | "alone")[]> {
  const organizationId = requests[0]?.organizationId ?? "";
  const names = [
    organizationId,
    requests.map(({ scope }) => scope),
    requests.map(({ kind }) => kind),
    requests.map(({ name }) => name),
  ] as const;
  const locks = [tx.run(lockSeveralNames, ...names), tx.run(lockSeveralResources, ...names)];
  const [rows] = await Promise.all([tx.run(readSeveralResources, ...names), ...locks]);
  const found = new Map(rows.map((row) => [row.place - 1, row]));
  const answers: (Declared | "alone")[] = requests.map(() => "alone");
  const edits: Edit[] = [];
  for (const [index, request] of requests.entries()) {
    const existing = found.get(index);
    const answer = unwritten(existing, request);
    if (answer !== undefined) answers[index] = { answer, woken: nobodyWoken };
    else if (existing !== undefined && existing.deletion === null && sameSurroundings(existing, request)) {
      const specChanged = canonical(existing.spec) !== canonical(request.spec);
      edits.push({ index, existing, request, specChanged });
    }
  }
  const byPriority = Map.groupBy(edits, ({ request }) => authorPriority(request.author));
  const written = await Promise.all(
    [...byPriority].map(([priority, some]) => editAll(tx, organizationId, priority, some)),
  );
  for (const [index, declared] of written.flat()) answers[index] = declared;
  return answers;
}

async function editAll(
  tx: Transaction,
  organizationId: string,
  priority: number,
  edits: readonly Edit[],
): Promise<readonly (readonly [index: number, declared: Declared])[]> {
  const asked = edits.map(({ existing, request, specChanged }) => ({
    uid: existing.uid,
    more: specChanged ? 1 : 0,
    spec: request.spec,
    labels: request.labels,
    author_name: request.author.name,
    author_type: request.author.type,
    field_owners: fieldOwners(request),
  }));
  const uids = edits.map(({ existing }) => existing.uid);
  const [rows, woken] = await Promise.all([
    tx.run(updateSeveralResources, organizationId, JSON.stringify(asked)),
    tx.run(wakeSeveral, priority, organizationId, uids),
    ...edits.map((edit) => log(tx, edit.request, { ...written(edit), result: "changed", existing: edit.existing })),
  ]);
  const declaredAt = new Map(rows.map((row) => [row.uid, row.declared_at_ms]));
  return edits.map((edit, place) => {
    const { uid, generation, revision } = written(edit);
    const resource = resourceOf(edit.request, { uid, generation, declaredAtMs: declaredAt.get(uid) ?? 0 });
    // What became due is told once for all of them, with the first.
    return [
      edit.index,
      { answer: { result: "changed", resource, revision }, woken: place === 0 ? wokenOf(woken) : nobodyWoken },
    ];
  });
}

function written({ existing, specChanged }: Edit) {
  const { uid, generation, revision } = existing;
  return { uid, generation: generation + (specChanged ? 1 : 0), revision: revision + 1 };
}
