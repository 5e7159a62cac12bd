import type {
  Delivery,
  DeliveryOutcome,
  DueDelivery,
  Notification,
  NotificationStore,
  Told,
  ToldItem,
} from "../ports/notification-store.ts";
import type { Ids } from "../ports/ids.ts";
import type { Principal } from "../ports/records.ts";
import type { Database, Transaction } from "./database.ts";
import { logCall } from "./log-entries.ts";
import { sealedEntry } from "./read-store.ts";
import {
  addEmails,
  anyToGather,
  type DeliveryRow,
  type DueDeliveryRow,
  deleteEndpoint,
  dueNotifications,
  endDelivery,
  gathering,
  insertDelivery,
  insertEndpoint,
  listDeliveries,
  listEmails,
  listMailed,
  listEndpoints,
  listNotifications,
  makeDeliveries,
  moveCursor,
  type NotificationRow,
  noteEndpoint,
  readCursor,
  readForTelling,
  removeEmails,
  replayDelivery,
  rotateSecret,
  takeDeliveries,
  tryLockTelling,
  updateEndpoint,
  upsertNotifications,
} from "./sql/notifications.ts";
import { noteOldHolds } from "./sql/operation-intents.ts";
import { noteOverdueHeld } from "./sql/held.ts";
import { type Call, call } from "./statement.ts";
import { requireOrganizationId } from "./tenant.ts";

/** A notification names this many things and counts the others. */
const itemsAtMost = 20;
/** Of each message, so many answers are kept. */
const answersAtMost = 20;

const overdueAtMost = 500;

type Request<Method extends keyof NotificationStore> = Parameters<NotificationStore[Method]>[0];

/** Whom to tell and what became of it, on PostgreSQL. Gathering and sending see all tenants and are administration's. */
export class PostgresNotificationStore implements NotificationStore {
  readonly #database: Database;
  readonly #administration: Database;
  readonly #ids: Ids;
  readonly #logged: () => void;

  constructor(options: {
    readonly database: Database;
    readonly administration: Database;
    readonly ids: Ids;
    readonly logged?: () => void;
  }) {
    this.#database = options.database;
    this.#administration = options.administration;
    this.#ids = options.ids;
    this.#logged = options.logged ?? (() => undefined);
  }

  listEndpoints: NotificationStore["listEndpoints"] = async (organizationId) => {
    const rows = await this.#database.run(requireOrganizationId(organizationId), call(listEndpoints, organizationId));
    return rows.map((row) => ({
      id: row.id,
      url: row.url,
      description: row.description,
      events: row.events,
      state: row.state,
      createdBy: row.created_by,
      createdAtMs: row.created_at_ms,
      failingSinceMs: row.failing_since_ms ?? undefined,
      disabledReason: row.disabled_reason ?? undefined,
    }));
  };

  createEndpoint({ organizationId, endpoint, sealedSecret, author, atMost }: Request<"createEndpoint">) {
    const { id, url, description, events } = endpoint;
    const values = [organizationId, id, url, description, events, sealedSecret, author.name, atMost] as const;
    return this.#changed(organizationId, author, call(insertEndpoint, ...values), "webhook.created", { id, url });
  }

  updateEndpoint({ organizationId, endpoint, author }: Request<"updateEndpoint">) {
    const { id, url, description, events, state } = endpoint;
    const update = call(updateEndpoint, organizationId, id, url, description, events, state);
    return this.#changed(organizationId, author, update, "webhook.changed", { id, url, state });
  }

  deleteEndpoint({ organizationId, id, author }: Request<"deleteEndpoint">) {
    return this.#changed(organizationId, author, call(deleteEndpoint, organizationId, id), "webhook.deleted", { id });
  }

  rotateSecret({ organizationId, id, sealedSecret, keepForMs, author }: Request<"rotateSecret">) {
    const rotate = call(rotateSecret, organizationId, id, sealedSecret, Math.round(keepForMs));
    return this.#changed(organizationId, author, rotate, "webhook.secret-rotated", { id });
  }

  listDeliveries: NotificationStore["listDeliveries"] = async ({ organizationId, target, limit }) => {
    const asked = call(listDeliveries, organizationId, target, limit);
    const rows = await this.#database.run(requireOrganizationId(organizationId), asked);
    return rows.map(delivery);
  };

  listMailed: NotificationStore["listMailed"] = async ({ organizationId, limit }) => {
    const asked = call(listMailed, organizationId, limit);
    const rows = await this.#database.run(requireOrganizationId(organizationId), asked);
    return rows.map((row) => ({ ...delivery(row), address: row.target }));
  };

  async enqueue({ organizationId, id, target, type, body }: Request<"enqueue">): Promise<void> {
    const tenants = requireOrganizationId(organizationId);
    await this.#database.run(tenants, call(insertDelivery, organizationId, id, target, type, body));
  }

  replay({ organizationId, target, id, author }: Request<"replay">) {
    const again = call(replayDelivery, organizationId, target, id);
    return this.#changed(organizationId, author, again, "webhook.delivery-replayed", { id: target, delivery: id });
  }

  listNotifications: NotificationStore["listNotifications"] = async ({ organizationId, limit }) => {
    const asked = call(listNotifications, organizationId, limit);
    return (await this.#database.run(requireOrganizationId(organizationId), asked)).map(notification);
  };

  emails: NotificationStore["emails"] = async (organizationId) => {
    const rows = await this.#database.run(requireOrganizationId(organizationId), call(listEmails, organizationId));
    return rows.map(({ address }) => address);
  };

  async setEmails({ organizationId, addresses, author }: Request<"setEmails">): Promise<void> {
    const data = { addresses: [...addresses] };
    await this.#database.transact(requireOrganizationId(organizationId), [
      call(removeEmails, organizationId, addresses),
      call(addEmails, organizationId, addresses, author.name),
      logCall({ organizationId, type: "notification-emails.set", uid: organizationId, author, data }),
    ]);
    this.#logged();
  }

  gather: NotificationStore["gather"] = async (limit, interpret) => {
    const [waiting] = await this.#administration.run("platform", call(anyToGather));
    if (waiting?.any !== true) return 0;
    return await this.#administration.transaction("platform", async (tx) => {
      const [lock] = await tx.run(tryLockTelling);
      if (lock?.locked !== true) return undefined;
      const [cursor] = await tx.run(readCursor);
      const entries = await tx.run(readForTelling, cursor?.position ?? 0, limit);
      const told = entries.flatMap((row) => {
        const thing = interpret(sealedEntry(row), row.organization ?? undefined);
        return thing === undefined ? [] : [{ told: thing, organizationId: row.organization_id ?? undefined }];
      });
      if (told.length > 0) await this.#merge(tx, told);
      const last = entries.at(-1)?.position;
      if (last !== undefined) await tx.run(moveCursor, last);
      return entries.length;
    });
  };

  noteOverdue: NotificationStore["noteOverdue"] = async ({ undecidedForMs, holdsForMs }) => {
    const noted = await Promise.all([
      this.#administration.run("platform", call(noteOverdueHeld, Math.round(undecidedForMs), overdueAtMost)),
      this.#administration.run("platform", call(noteOldHolds, Math.round(holdsForMs), overdueAtMost)),
    ]);
    const count = noted.flat().length;
    if (count > 0) this.#logged();
    return count;
  };

  /** Adds to what is being gathered for the same cause, or begins with it. */
  async #merge(
    tx: Transaction,
    told: readonly { readonly told: Told; readonly organizationId: string | undefined }[],
  ): Promise<void> {
    const causes = [...new Set(told.map((entry) => entry.told.cause))];
    const known = (await tx.run(gathering, causes)).map(notification);
    const groups = Map.groupBy(told, (entry) => `${entry.organizationId ?? ""} ${entry.told.cause}`);
    const rows = [...groups.values()].flatMap((group) => {
      const [first] = group;
      const last = group.at(-1);
      if (first === undefined || last === undefined) return [];
      const { organizationId } = first;
      const { cause, type, gatherMs } = first.told;
      const before = known.find((entry) => entry.cause === cause && entry.organizationId === organizationId);
      const items = new Map<string, ToldItem>((before?.data.items ?? []).map((item) => [item.id, item]));
      for (const { told: thing } of group)
        if (items.has(thing.item.id) || items.size < itemsAtMost) items.set(thing.item.id, thing.item);
      return [
        {
          id: before?.id ?? this.#ids.next(),
          organization_id: organizationId ?? null,
          type,
          cause,
          count: (before?.count ?? 0) + group.length,
          data: { summary: last.told.summary, items: [...items.values()] },
          gather_ms: gatherMs,
        },
      ];
    });
    await tx.run(upsertNotifications, JSON.stringify(rows));
  }

  tell: NotificationStore["tell"] = async ({ withEmail, bodyOf }) =>
    await this.#administration.transaction("platform", async (tx) => {
      const [lock] = await tx.run(tryLockTelling);
      if (lock?.locked !== true) return 0;
      const rows = await tx.run(dueNotifications);
      if (rows.length === 0) return 0;
      const messages = rows.map((row) => ({ id: row.id, body: bodyOf(notification(row), row.now_ms) }));
      await tx.run(makeDeliveries, JSON.stringify(messages), withEmail);
      return rows.length;
    });

  takeDue: NotificationStore["takeDue"] = async (limit, leaseMs) => {
    const rows = await this.#administration.run("platform", call(takeDeliveries, limit, Math.round(leaseMs)));
    return rows.map(dueDelivery);
  };

  async recordAnswer({ delivery: tried, answer, result }: DeliveryOutcome): Promise<void> {
    const { organizationId, id, target, channel, attempts } = tried;
    const answers = JSON.stringify([...tried.answers, answer].slice(-answersAtMost));
    const state = result.as === "again" ? "pending" : result.as;
    const inMs = result.as === "again" ? Math.round(result.inMs) : 0;
    const disable = result.as === "failed" ? result.disable : undefined;
    await this.#administration.transaction("platform", async (tx) => {
      const [kept] = await tx.run(endDelivery, organizationId, id, state, inMs, answers, attempts);
      if (kept === undefined || channel !== "webhook") return;
      await tx.run(noteEndpoint, organizationId, target, result.as === "delivered", disable ?? null);
      if (disable === undefined) return;
      const data = { url: tried.endpoint?.url ?? "", reason: disable };
      const entry = logCall({ organizationId, type: "webhook.disabled", uid: target, actor: "setpoint", data });
      await tx.run(entry.statement, ...entry.values);
    });
    if (disable !== undefined) this.#logged();
  }

  /** A change of one tenant's settings with its line in the log; false when it changed nothing. */
  async #changed(
    organizationId: string,
    author: Principal,
    change: Call<{ readonly id: string }>,
    type: string,
    data: Readonly<Record<string, string>> & { readonly id: string },
  ): Promise<boolean> {
    const done = await this.#database.transaction(requireOrganizationId(organizationId), async (tx) => {
      const [row] = await tx.run(change.statement, ...change.values);
      if (row === undefined) return false;
      const entry = logCall({ organizationId, type, uid: data.id, author, data });
      await tx.run(entry.statement, ...entry.values);
      return true;
    });
    if (done) this.#logged();
    return done;
  }
}

function notification(row: NotificationRow): Notification {
  return {
    id: row.id,
    organizationId: row.organization_id ?? undefined,
    organization: row.organization ?? undefined,
    type: row.type as Notification["type"],
    cause: row.cause,
    count: row.count,
    data: row.data as Notification["data"],
    openedAtMs: row.opened_at_ms,
    toldAtMs: row.told_at_ms ?? undefined,
  };
}

function delivery(row: DeliveryRow): Delivery {
  return {
    organizationId: row.organization_id,
    id: row.id,
    channel: row.channel,
    target: row.target,
    type: row.type,
    body: row.body,
    state: row.state,
    attempts: row.attempts,
    nextTryAtMs: row.next_try_at_ms ?? undefined,
    createdAtMs: row.created_at_ms,
    endedAtMs: row.ended_at_ms ?? undefined,
    answers: row.answers,
  };
}

function dueDelivery(row: DueDeliveryRow): DueDelivery {
  const { url, endpoint_state, secret, previous_secret } = row;
  return {
    ...delivery(row),
    nowMs: row.now_ms,
    endpoint:
      url === null || endpoint_state === null || secret === null
        ? undefined
        : {
            url,
            state: endpoint_state,
            secrets: previous_secret === null ? [secret] : [secret, previous_secret],
            failingSinceMs: row.failing_since_ms ?? undefined,
          },
  };
}
