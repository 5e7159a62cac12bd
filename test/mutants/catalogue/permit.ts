import type { Mutant } from "../mutant.ts";

const file = "store/sql/permit.ts";

/** The fence itself: one mutant for each of its conditions, in the statement that PostgreSQL runs. */
export const permit: readonly Mutant[] = [
  {
    name: "permit-without-the-epoch",
    row: "permit: lease epoch",
    because: "whoever held the shard once may act under an epoch that has passed",
    foundBy: "differential",
    patches: [
      {
        file: "store/sql/lease.ts",
        find: "l.epoch = q.epoch and l.until_ms > clock.now_ms and s.shard",
        replace: "l.until_ms > clock.now_ms and s.shard",
      },
    ],
  },
  {
    name: "permit-after-the-lease",
    row: "permit: lease expiry",
    because: "a lease that ran out and was not taken by anybody still permits",
    foundBy: "differential",
    patches: [
      {
        file: "store/sql/lease.ts",
        find: "l.epoch = q.epoch and l.until_ms > clock.now_ms and s.shard",
        replace: "l.epoch = q.epoch and s.shard",
      },
    ],
  },
  {
    name: "permit-on-old-inputs",
    row: "permit: inputs version",
    because: "a delete is permitted although an input moved since its plan was made",
    foundBy: "differential",
    patches: [
      { file, find: "s.input_version is distinct from q.input_version", replace: "s.input_version < q.input_version" },
    ],
  },
  {
    name: "permit-on-old-sources",
    row: "permit: source generations",
    because: "a create or update is permitted although what declares it says something else by now",
    foundBy: "differential",
    patches: [
      {
        file,
        find: "where i.generation is distinct from source.generation)",
        replace: "where i.generation < source.generation)",
      },
    ],
  },
  {
    name: "permit-without-its-source",
    row: "permit: source generations",
    because: "a create or update is permitted although what declared it is gone",
    foundBy: "differential",
    patches: [{ file, find: "left join setpoint.resource as i on", replace: "join setpoint.resource as i on" }],
  },
  {
    name: "permit-under-an-old-policy",
    row: "permit: policy version",
    because: "a write is permitted although mode, limits or protection changed since its plan was made",
    foundBy: "differential",
    patches: [
      {
        file,
        find: "s.policy_version is distinct from q.policy_version",
        replace: "s.policy_version > q.policy_version + 1000",
      },
    ],
  },
  {
    name: "permit-ignores-a-pause-of-deletes",
    row: "permit: pause levels",
    because: "a pause of deletes does not cover a call that deletes",
    foundBy: "differential",
    patches: [{ file, find: "(p.level <> 'deletes' or q.deletes)", replace: "p.level <> 'deletes'" }],
  },
  {
    name: "pause-of-deletes-stops-everything",
    row: "permit: pause levels",
    because: "a pause of deletes also stops creates and updates",
    foundBy: "differential",
    patches: [{ file, find: " and (p.level <> 'deletes' or q.deletes)", replace: "" }],
  },
  {
    name: "pause-reaches-other-tenants",
    row: "permit: pause levels",
    because:
      "both layers gone: one tenant's pause of a scope of the same name is seen by another tenant, and covers it",
    foundBy: "differential",
    patches: [
      {
        file,
        find: "(p.organization_id is null or p.organization_id = s.organization_id)\n  and p.expires_at_ms",
        replace: "p.expires_at_ms",
      },
      {
        file: "store/migrations/0007-access.sql",
        find: "and organization_id is null)',\n      shared_table\n",
        replace: "and (organization_id is null or %L = ''pause''))',\n      shared_table, shared_table\n",
      },
    ],
  },
  {
    name: "pause-outlives-its-end",
    row: "permit: pause levels",
    because: "a pause that has run out goes on stopping calls",
    foundBy: "differential",
    patches: [
      { file, find: "and p.expires_at_ms > clock.now_ms", replace: "and p.expires_at_ms > clock.now_ms - 30000" },
    ],
  },
  {
    name: "gone-is-busy",
    row: "permit: subject is there",
    because: "who asks for a subject that is gone is told to come again, and does so for ever",
    foundBy: "differential",
    patches: [{ file, find: "when s.id is null then 'gone'", replace: "when s.id is null then 'busy'" }],
  },
  {
    name: "permit-for-any-holder",
    row: "permit: lease holder",
    because: "a process that does not hold the shard is permitted under the epoch of the one that does",
    foundBy: "differential",
    patches: [
      {
        file: "store/sql/lease.ts",
        find: "l.holder = q.holder and l.epoch = q.epoch and l.until_ms > clock.now_ms and s.shard",
        replace: "l.epoch = q.epoch and l.until_ms > clock.now_ms and s.shard",
      },
    ],
  },
  {
    name: "permit-for-any-worker",
    row: "permit: lease holder",
    because: "a worker that does not hold the shard of an operation is permitted under the epoch of the one that does",
    foundBy: "differential",
    patches: [
      {
        file: "store/sql/lease.ts",
        find: "where l.shard = q.shard and l.holder = q.holder and l.epoch = q.epoch and l.until_ms > clock.now_ms\n  ) end)",
        replace: "where l.shard = q.shard and l.epoch = q.epoch and l.until_ms > clock.now_ms\n  ) end)",
      },
    ],
  },
  {
    name: "permit-under-a-hold",
    row: "permit: hold",
    because: "the loop is permitted to write what an operation holds",
    foundBy: "differential",
    patches: [
      {
        file,
        find: "when s.hold_operation_id is distinct from q.operation_id then 'held'",
        replace: "when s.hold_operation_id <> q.operation_id then 'held'",
      },
    ],
  },
  {
    name: "two-permits-at-once",
    row: "permit: other permit alive",
    because: "a second actor is permitted while the first one's call may still be under way",
    foundBy: "differential",
    patches: [
      {
        file,
        find: "when s.permit_until_ms > clock.now_ms and s.permit_id <> q.permit_id then 'busy'\n         when s.permit_until_ms > clock.now_ms then 'again'",
        replace: "when s.permit_until_ms > clock.now_ms and s.permit_id = q.permit_id then 'again'",
      },
    ],
  },
  {
    name: "permit-does-it-again",
    row: "permit: other permit alive",
    because: "the same request sent again, because its answer was lost, records its intent a second time",
    foundBy: "differential",
    patches: [{ file, find: "when s.permit_until_ms > clock.now_ms then 'again'", replace: "when false then 'again'" }],
  },
  {
    name: "grant-is-used-again",
    row: "permit: grant once",
    because: "an approval that was used once is used once more",
    foundBy: "differential",
    patches: [{ file, find: "and g.used_at_ms is null and g.expires_at_ms", replace: "and g.expires_at_ms" }],
  },
  {
    name: "grant-never-expires",
    row: "permit: grant once",
    because: "an approval is used long after it ran out",
    foundBy: "differential",
    patches: [
      {
        file,
        find: "and g.used_at_ms is null and g.expires_at_ms > clock.now_ms)",
        replace: "and g.used_at_ms is null)",
      },
    ],
  },
  {
    name: "grant-of-another-subject",
    row: "permit: grant once",
    because: "an approval given for one subject is used by another",
    foundBy: "differential",
    patches: [
      { file, find: "and g.id = any (q.grant_ids) and g.subject_id = s.id", replace: "and g.id = any (q.grant_ids)" },
    ],
  },
];
