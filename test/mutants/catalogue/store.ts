import type { Mutant } from "../mutant.ts";

const budgetsFile = "store/migrations/0004-budgets.sql";
const reservingFile = "store/migrations/0018-operations.sql";
const subjectsFile = "store/migrations/0003-subjects.sql";

/** What the rest of the store must hold, in SQL and around it. */
export const store: readonly Mutant[] = [
  {
    name: "store-counts-percent-only",
    row: "delete budget",
    because: "the shared budgets count the share alone: a large account may lose more than the count",
    foundBy: "differential",
    patches: [
      {
        file: budgetsFile,
        find: "return least(\n  (limits ->> 'count')::double precision,",
        replace: "return least(\n  1000000::double precision + (limits ->> 'count')::double precision,",
      },
    ],
  },
  {
    name: "store-charges-nothing",
    row: "delete budget",
    because: "a reservation is answered and not charged, so that everybody's deletes pass",
    foundBy: "differential",
    patches: [{ file: reservingFile, find: "if charge > 0 then", replace: "if charge > 1000000 then" }],
  },
  {
    name: "store-charges-twice",
    row: "delete budget",
    because: "each delete is charged twice at every level",
    foundBy: "differential",
    patches: [
      {
        file: reservingFile,
        find: "values (level_name, key, at_minute, charge)",
        replace: "values (level_name, key, at_minute, 2 * charge)",
      },
    ],
  },
  {
    name: "store-charges-the-account-only",
    row: "delete budget",
    because: "organization and platform never see what their accounts delete",
    foundBy: "differential",
    patches: [
      {
        file: reservingFile,
        find: "if charge > 0 then\n    foreach level_name in array array['account', 'organization', 'platform'] loop",
        replace: "if charge > 0 then\n    foreach level_name in array array['account'] loop",
      },
    ],
  },
  {
    name: "store-reserves-for-anybody",
    row: "delete budget",
    because: "deletes are reserved for an actor whose lease is not current",
    foundBy: "differential",
    patches: [
      {
        file: reservingFile,
        find: "l.holder = for_holder and l.epoch = for_epoch and l.until_ms > setpoint.now_ms()\n      and l.shard = acting.shard",
        replace: "l.holder = for_holder and l.until_ms > setpoint.now_ms()\n      and l.shard = acting.shard",
      },
    ],
  },
  {
    name: "charges-last-a-minute",
    row: "delete budget",
    because: "what was deleted more than a minute ago no longer counts",
    foundBy: "differential",
    patches: [{ file: reservingFile, find: "c.minute > at_minute - 60;", replace: "c.minute > at_minute - 1;" }],
  },
  {
    name: "approve-by-id",
    row: "held changes",
    because: "an approval stands for whatever waits under that id by now, not for what was shown",
    foundBy: "differential",
    patches: [
      {
        file: "store/decisions.ts",
        find: "if (held.digest !== request.digest) return",
        replace: `if (held.digest !== request.digest && request.digest === "") return`,
      },
    ],
  },
  {
    name: "machines-approve",
    row: "held changes",
    because: "a machine or an assistant approves what waits for a person",
    foundBy: "differential",
    patches: [
      {
        file: "store/decisions.ts",
        find: `if (approver.type !== "person") return`,
        replace: `if (approver.type === "assistant") return`,
      },
    ],
  },
  {
    name: "machines-unfreeze",
    row: "freeze and pauses",
    because: "a machine or an assistant ends a pause",
    foundBy: "differential",
    patches: [
      {
        file: "store/intent-store.ts",
        find: `if (request.author.type !== "person") return "refused";`,
        replace: `if (request.author.type === "assistant") return "refused";`,
      },
    ],
  },
  {
    name: "machines-confirm",
    row: "held changes",
    because: "a machine that repeats a person's deletion with a count approves it in that person's name",
    foundBy: "differential",
    patches: [
      {
        file: "store/sql/resources.ts",
        find: "case when r.deletion is null or $4 = 'person' then $6::bigint",
        replace: "case when r.deletion is null or $4 is not null then $6::bigint",
      },
    ],
  },
  {
    name: "two-eyes-are-four",
    row: "held changes",
    because: "whoever declared or deleted it may approve it himself where four eyes are asked for",
    foundBy: "differential",
    patches: [
      { file: "store/decisions.ts", find: "if (held.four_eyes && held", replace: "if (!held.four_eyes && held" },
    ],
  },
  {
    name: "rejected-stays-rejected",
    row: "held changes",
    because: "what was rejected does not ask again when its items have changed",
    foundBy: "differential",
    patches: [
      {
        file: "store/sql/held.ts",
        find: "when n.empty then 'withdrawn' when n.moved then 'open' else h.state end",
        replace: "when n.empty then 'withdrawn' else h.state end",
      },
    ],
  },
  {
    name: "inputs-do-not-raise-the-version",
    row: "engine",
    because:
      "a changed declaration wakes its subjects and does not raise their input version: a delete planned before it passes",
    foundBy: "differential",
    patches: [
      {
        file: "store/sql/wake.ts",
        find: `wakeStatement("wake affected", ["input_version"],`,
        replace: `wakeStatement("wake affected", [],`,
      },
    ],
  },
  {
    name: "policy-does-not-raise-its-version",
    row: "engine",
    because: "a changed mode or limit does not raise the policy version: a create planned before it passes",
    foundBy: "differential",
    patches: [
      {
        file: "store/sql/wake.ts",
        find: `wakeStatement("wake policy", ["input_version", "policy_version"],`,
        replace: `wakeStatement("wake policy", ["input_version"],`,
      },
    ],
  },
  {
    name: "due-outside-the-transaction",
    row: "engine",
    because:
      "an operation is let go in one transaction and its subject is woken in another: a crash in between loses the edge",
    foundBy: "differential",
    patches: [
      {
        file: "store/operation-intents.ts",
        find: "    const { answer, woken } = await this.#options.database.transaction(tenants, (tx) => steer(tx, request));",
        replace: `    const { organizationId, operationId } = request;
    const { answer } = await this.#options.database.transaction(tenants, (tx) => steer(tx, request));
    const woken =
      answer.result === "done" && !isLive(answer.operation)
        ? await this.#options.database.transaction(tenants, (tx) =>
            giveBack(tx, organizationId, answer.operation.resourceUid, operationId),
          )
        : nobodyWoken;`,
      },
      {
        file: "store/operation-intents.ts",
        find: "  const woken = isLive(operation) ? nobodyWoken : await giveBack(tx, organizationId, uid, operationId);",
        replace: "  const woken = nobodyWoken;",
      },
    ],
  },
  {
    name: "settle-clears-a-later-edge",
    row: "engine",
    because: "the end of a cycle clears an edge that came while it ran",
    foundBy: "differential",
    patches: [
      {
        file: "store/sql/settle.ts",
        find: "not kept.again and kept.next_in_ms is null",
        replace: "kept.next_in_ms is null",
      },
    ],
  },
  {
    name: "settle-postpones-a-later-edge",
    row: "engine",
    because: "the backoff of a cycle overwrites an edge that came while it ran",
    foundBy: "differential",
    patches: [
      {
        file: "store/sql/settle.ts",
        find: "where not again and next_in_ms is not null",
        replace: "where next_in_ms is not null",
      },
    ],
  },
  {
    name: "settle-leaves-the-permit",
    row: "engine",
    because: "the end of a cycle leaves its permit alive, so that the next one waits for nothing",
    foundBy: "differential",
    patches: [
      {
        file: "store/sql/settle.ts",
        find: "set permit_id = case when kept.own then null else s.permit_id end,",
        replace: "set permit_id = s.permit_id,",
      },
    ],
  },
  {
    name: "outcome-of-another-permit",
    row: "engine",
    because: "an outcome is recorded over the permit and the memory of whoever came later",
    foundBy: "differential",
    patches: [
      {
        file: "store/sql/outcome.ts",
        find: "on s.id = q.subject_id and s.permit_id = q.permit_id",
        replace: "on s.id = q.subject_id and s.permit_id is not null",
      },
    ],
  },
  {
    name: "claims-are-taken-over",
    row: "ownership",
    because: "a second claimant takes what another subject owns instead of being refused",
    foundBy: "differential",
    patches: [
      {
        file: "store/sql/outcome.ts",
        find: "do update set key = excluded.key\n     where c.subject_id = excluded.subject_id",
        replace: "do update set key = excluded.key, subject_id = excluded.subject_id\n     where true",
      },
    ],
  },
  {
    name: "takeover-keeps-the-epoch",
    row: "engine",
    because: "a shard is taken over under the epoch of its last holder, who cannot be told from the new one",
    foundBy: "differential",
    patches: [{ file: subjectsFile, find: "epoch = l.epoch + 1,", replace: "epoch = greatest(l.epoch, 1)," }],
  },
  {
    name: "every-takeover-is-orderly",
    row: "quiet start",
    because: "a lease that ran out is handed on as if its holder had released it",
    foundBy: "differential",
    patches: [
      {
        file: subjectsFile,
        find: "quiet = l.quiet_next, quiet_next = true",
        replace: "quiet = l.quiet_next, quiet_next = false",
      },
    ],
  },
  {
    name: "renew-what-ran-out",
    row: "engine",
    because: "a lease that ran out is renewed under the same epoch, although somebody may have counted on its end",
    foundBy: "differential",
    patches: [
      {
        file: "store/sql/lease.ts",
        find: "l.epoch = claim.epoch and l.holder = $1 and l.until_ms > clock.now_ms\n   returning",
        replace: "l.epoch = claim.epoch and l.holder = $1\n   returning",
      },
    ],
  },
  {
    name: "restore-forgets-to-raise-the-incarnation",
    row: "account identity",
    because: "a restored database keeps its incarnation and acts on the accounts at once",
    foundBy: "differential",
    patches: [
      {
        file: "store/sql/governance.ts",
        find: "update setpoint.installation set incarnation = incarnation + 1 returning incarnation",
        replace: "update setpoint.installation set incarnation = incarnation returning incarnation",
      },
    ],
  },
  {
    name: "people-have-no-reserve",
    row: "engine",
    because: "background work takes the calls that are kept for people",
    foundBy: "differential",
    patches: [
      {
        file: budgetsFile,
        find: "reserve := case when for_person then 0 else",
        replace: "reserve := case when for_person or capacity > 0 then 0 else",
      },
    ],
  },
];
