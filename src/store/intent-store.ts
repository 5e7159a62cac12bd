import { emptyMemory, retriedMemory } from "../kernel/memory.ts";
import type { Clock } from "../ports/clock.ts";
import type { Ids } from "../ports/ids.ts";
import type { EndPauseAnswer, IntentStore } from "../ports/intent-store.ts";
import type { Principal } from "../ports/records.ts";
import type { DueEdge } from "../ports/signal.ts";
import type { Database, Transaction } from "./database.ts";
import { approve, reject } from "./decisions.ts";
import { authorPriority, declare } from "./declare.ts";
import { DeclareTogether } from "./declare-together.ts";
import { nobodyWoken, type Woken, wokenOf } from "./due-edges.ts";
import { StoreError } from "./errors.ts";
import { append, logCall } from "./log-entries.ts";
import { endPause, setPolicy } from "./policy-writes.ts";
import { priorityNumber } from "./priorities.ts";
import {
  clearLeases,
  clearPermits,
  insertAccount,
  insertAccountBudget,
  insertOrganization,
  insertPause,
  insertRootScope,
  insertScope,
  lockAllShards,
  raiseIncarnation,
} from "./sql/governance.ts";
import { lockPause } from "./sql/four-eyes.ts";
import { stopOperation } from "./sql/operation-intents.ts";
import { doubtPool } from "./sql/pool.ts";
import { lockLinkNames, lockResource, markDeleted, readResource, removeResource } from "./sql/resources.ts";
import { lockSubjectsOf, readMemories, writeMemories } from "./sql/subject-intents.ts";
import { wakeAffected, wakeSubjects } from "./sql/wake.ts";
import { call } from "./statement.ts";
import { tenantOrPlatform } from "./tenant.ts";

export interface IntentStoreOptions {
  /** Of role `setpoint_api`: one organization per transaction. */
  readonly database: Database;
  /** Of role `setpoint_admin`: for what concerns every organization (a freeze, a platform policy, a restore). */
  readonly administration: Database;
  readonly ids: Ids;
  /** Given one, edits of an organization that come at the same time share a transaction. */
  readonly clock?: Clock;
  /** Called after the commit with what became due: shards, and subjects where they are few. Losing it costs one poll. */
  readonly poke?: (shards: readonly number[], due: readonly DueEdge[]) => void;
  /** Called after a commit that may have appended to the log. */
  readonly logged?: () => void;
}

type Request<Method extends keyof IntentStore> = Parameters<IntentStore[Method]>[0];

/** How people and programs change what is declared, on PostgreSQL. Each method is one transaction with its log entry. */
export class PostgresIntentStore implements IntentStore {
  readonly #options: IntentStoreOptions;
  readonly #together: DeclareTogether | undefined;

  constructor(options: IntentStoreOptions) {
    this.#options = options;
    if (options.clock !== undefined) this.#together = new DeclareTogether(options.clock);
  }

  async createOrganization({ id, name, author }: Request<"createOrganization">): Promise<void> {
    const scope = `organization/${id}`;
    const entry = logCall({
      organizationId: id,
      type: "organization.created",
      uid: id,
      ...by(author),
      data: { name },
      after: { id, name },
    });
    await naming(`organization ${id}`, () =>
      this.#options.database.transact(tenantOrPlatform(id), [
        call(insertOrganization, id, name),
        call(insertRootScope, id, scope),
        entry,
      ]),
    );
    this.#after(nobodyWoken);
  }

  async createScope({ organizationId, scope, parent, author }: Request<"createScope">): Promise<void> {
    await naming(`scope ${scope}`, () =>
      this.#write(organizationId, async (tx) => {
        const [row] = await tx.run(insertScope, organizationId, scope, parent);
        if (row === undefined) {
          throw new StoreError(
            "NOT_FOUND",
            `Organization ${organizationId} has no scope ${parent} to put ${scope} in. Create it first.`,
          );
        }
        await append(tx, {
          organizationId,
          type: "scope.created",
          uid: scope,
          ...by(author),
          data: { scope, parent },
          after: { scope, parent },
        });
        return { answer: undefined, woken: nobodyWoken };
      }),
    );
  }

  async createAccount(request: Request<"createAccount">): Promise<void> {
    const { organizationId, id, name, provider, settings, credentialRef, callsPerSecond } = request;
    const { readCredentialRef, author } = request;
    // What is sealed stays out of the log: it would outlive the credential there.
    const where = credentialRef?.startsWith("sealed:") === true ? "sealed" : credentialRef;
    const data = { name, provider, credentialRef: where, callsPerSecond, fromPool: request.fromPool };
    await naming(`account ${id}`, () =>
      this.#options.database.transact(tenantOrPlatform(organizationId), [
        call(
          insertAccount,
          organizationId,
          id,
          name,
          provider,
          JSON.stringify(settings),
          credentialRef ?? null,
          readCredentialRef ?? null,
          request.fromPool === true ? "{}" : null,
        ),
        call(insertAccountBudget, organizationId, id, callsPerSecond),
        logCall({
          organizationId,
          type: "account.created",
          uid: id,
          ...by(author),
          data,
          after: { name, provider, settings, callsPerSecond },
        }),
      ]),
    );
    this.#after(nobodyWoken);
  }

  declare(request: Request<"declare">): ReturnType<IntentStore["declare"]> {
    const { organizationId, uid } = request;
    const together = this.#together;
    return naming(`resource ${uid}`, async () => {
      if (together === undefined) return await this.#write(organizationId, (tx) => declare(tx, request));
      const { answer, woken } = await together.declare(request, (work) =>
        this.#options.database.transaction(tenantOrPlatform(organizationId), work),
      );
      this.#after(woken);
      return answer;
    });
  }

  requestDeletion(request: Request<"requestDeletion">): ReturnType<IntentStore["requestDeletion"]> {
    return this.#write(request.organizationId, (tx) => requestDeletion(tx, request));
  }

  async reconcileNow({ organizationId, uid, author }: Request<"reconcileNow">): Promise<void> {
    await this.#write(organizationId, async (tx) => {
      const subjects = await tx.run(lockSubjectsOf, organizationId, uid);
      if (subjects.length === 0) return { answer: undefined, woken: nobodyWoken };
      const ids = subjects.map(({ id }) => id);
      const memories = new Map(
        (await tx.run(readMemories, organizationId, ids)).map((row) => [row.subject_id, row.memory ?? emptyMemory]),
      );
      const retried = ids.map((id) => ({ subject_id: id, memory: retriedMemory(memories.get(id) ?? emptyMemory) }));
      const [woken] = await Promise.all([
        tx.run(wakeSubjects, priorityNumber("person"), organizationId, uid),
        tx.run(writeMemories, organizationId, JSON.stringify(retried)),
        append(tx, { organizationId, type: "reconcile.requested", uid, ...by(author), data: {} }),
      ]);
      return { answer: undefined, woken: wokenOf(woken) };
    });
  }

  approve(request: Request<"approve">): ReturnType<IntentStore["approve"]> {
    return this.#write(request.organizationId, (tx) => approve(tx, this.#options.ids, request));
  }

  reject(request: Request<"reject">): Promise<boolean> {
    return this.#write(request.organizationId, async (tx) => ({
      answer: await reject(tx, request),
      woken: nobodyWoken,
    }));
  }

  async pause(request: Request<"pause">): Promise<void> {
    const { id, organizationId, scope, on, level, author, reason, forMs } = request;
    const data = { scope, on, level, reason, forMs };
    const entry = { organizationId, type: "pause.placed", uid: id, author, data, after: { scope, level, reason } };
    await naming(`pause ${id}`, () =>
      this.#for(organizationId).transact(tenantOrPlatform(organizationId), [
        call(insertPause, id, organizationId ?? null, scope, level, author.name, reason, Math.round(forMs), on ?? null),
        logCall(entry),
      ]),
    );
    this.#after(nobodyWoken);
  }

  async endPause(request: Request<"endPause">): Promise<EndPauseAnswer> {
    if (request.author.type !== "person") return "refused";
    const { id, organizationId } = request;
    return this.#write<EndPauseAnswer>(organizationId, async (tx) => {
      const [known] = await tx.run(lockPause, id, organizationId ?? null);
      if (known?.four_eyes === true) return { answer: "four-eyes", woken: nobodyWoken };
      const woken = await endPause(tx, request);
      return woken === undefined ? { answer: "not-found", woken: nobodyWoken } : { answer: "ended", woken };
    });
  }

  async setPolicy(request: Request<"setPolicy">): Promise<void> {
    await this.#write(request.organizationId, async (tx) => {
      const { woken } = await setPolicy(tx, { ...request, reason: undefined });
      return { answer: undefined, woken };
    });
  }

  async markRestored(): Promise<number> {
    return this.#write(undefined, async (tx) => {
      const [, [row]] = await Promise.all([
        tx.run(lockAllShards),
        tx.run(raiseIncarnation),
        tx.run(clearPermits),
        tx.run(clearLeases),
        tx.run(doubtPool),
      ]);
      const incarnation = row?.incarnation ?? 1;
      const data = { incarnation };
      await append(tx, { organizationId: undefined, type: "installation.restored", actor: "setpoint", data });
      return { answer: incarnation, woken: nobodyWoken };
    });
  }

  /** A platform-wide change is administration's; everything else is one organization's. */
  #for(organizationId: string | undefined): Database {
    return organizationId === undefined ? this.#options.administration : this.#options.database;
  }

  async #write<Answer>(
    organizationId: string | undefined,
    work: (tx: Transaction) => Promise<{ readonly answer: Answer; readonly woken: Woken }>,
  ): Promise<Answer> {
    const { answer, woken } = await this.#for(organizationId).transaction(tenantOrPlatform(organizationId), work);
    this.#after(woken);
    return answer;
  }

  #after({ shards, due }: Woken): void {
    if (shards.length > 0) this.#options.poke?.(shards, due);
    this.#options.logged?.();
  }
}

function by(author: Principal | undefined): { readonly author: Principal } | { readonly actor: string } {
  return author === undefined ? { actor: "setpoint" } : { author };
}

/** Says which thing exists already. */
async function naming<Result>(what: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (thrown) {
    if (!(thrown instanceof StoreError) || thrown.code !== "ALREADY_EXISTS") throw thrown;
    throw new StoreError(
      "ALREADY_EXISTS",
      `There is a ${what} already. Nothing was written; choose another id or name.`,
      {
        cause: thrown,
      },
    );
  }
}

export async function requestDeletion(tx: Transaction, request: Request<"requestDeletion">) {
  const { organizationId, uid, author, orphan, confirmedCount } = request;
  const locks = [tx.run(lockLinkNames, organizationId, uid), tx.run(lockResource, organizationId, uid)];
  const [[row]] = await Promise.all([tx.run(readResource, organizationId, uid), ...locks]);
  if (row === undefined) return { answer: { found: false, conflict: false }, woken: nobodyWoken };
  if (request.ifRevision !== undefined && request.ifRevision !== row.revision) {
    return { answer: { found: true, conflict: true }, woken: nobodyWoken };
  }
  const { kind, name, scope } = row;
  const revision = row.revision + 1;
  const data = { kind, name, scope, orphan, confirmedCount, authorType: author.type };
  // An operation's row comes before its subject's, as for whoever ends one.
  const stopping = tx.run(stopOperation, organizationId, uid);
  const [woken] = await Promise.all([
    tx.run(wakeAffected, authorPriority(author), organizationId, uid),
    stopping,
    tx.run(markDeleted, organizationId, uid, author.name, author.type, orphan, confirmedCount ?? null),
    append(tx, {
      organizationId,
      type: "resource.deletion-requested",
      uid,
      revision,
      author,
      data,
      before: { spec: row.spec, labels: row.labels },
    }),
  ]);
  // Nobody has anything of it outside, and nothing is computed from it.
  if (woken.length === 0) await tx.run(removeResource, organizationId, uid);
  return { answer: { found: true, conflict: false }, woken: wokenOf(woken) };
}
