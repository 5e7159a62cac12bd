import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { SubjectTable } from "../../../src/scheduler/subject-table.ts";

const everyMsOf = () => 60_000;

test("finds every subject by id after any adds and removals, and no other", () => {
  const id = fc.oneof(
    fc.integer({ min: 1, max: 200 }),
    fc.integer({ min: 2 ** 31 - 20, max: 2 ** 31 + 20 }),
    fc.integer({ min: 2 ** 40, max: 2 ** 40 + 50 }),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(id, fc.nat(7), fc.boolean()), { maxLength: 400 }), (steps) => {
      const table = new SubjectTable({ capacity: 4, nowMs: 0, everyMsOf });
      const known = new Map<number, { readonly organizationId: string; readonly shard: number }>();
      for (const [each, tenant, remove] of steps) {
        const row = table.find(each);
        assert.equal(row >= 0, known.has(each));
        if (row < 0) {
          const subject = { organizationId: `org-${tenant}`, shard: tenant % 3 };
          table.add(
            { id: each, organizationId: subject.organizationId, accountId: undefined, kind: "Thing" },
            subject.shard,
            0,
          );
          known.set(each, subject);
        } else if (remove) {
          table.remove(row);
          known.delete(each);
        }
      }
      assert.equal(table.size, known.size);
      for (const [each, subject] of known) {
        const row = table.find(each);
        assert.equal(table.id(row), each);
        assert.equal(table.group(row).organizationId, subject.organizationId);
        assert.equal(table.group(row).shard, subject.shard);
      }
      const shard1 = [...table.rowsOfShard(1)].map((row) => table.id(row)).sort((left, right) => left - right);
      assert.deepEqual(
        shard1,
        [...known].flatMap(([each, { shard }]) => (shard === 1 ? [each] : [])).sort((left, right) => left - right),
      );
    }),
    { numRuns: 200 },
  );
});

test("a shard is seen since its oldest look; one that was never looked at holds it back, one that fails does not count", () => {
  const table = new SubjectTable({ capacity: 4, nowMs: 1_000, everyMsOf });
  const add = (id: number, shard: number) =>
    table.add({ id, organizationId: "acme", accountId: `account-${shard}`, kind: "Thing" }, shard, 1_000);
  const rows = [add(1, 5), add(2, 5), add(3, 5)];
  add(4, 6);
  table.markLooked(rows[0] ?? -1, 61_000);
  table.markLooked(rows[1] ?? -1, 31_500);
  assert.equal(table.sweep().seenSinceMs[5], undefined, "subject 3 was not looked at");
  table.markFailing(rows[2] ?? -1);
  assert.equal(table.sweep().seenSinceMs[5], 31_000, "rounded down to whole seconds, never up");
  assert.equal(table.sweep().seenSinceMs[6], undefined);
  assert.equal(table.sweep().seenSinceMs[7], undefined, "an empty shard says nothing");
  assert.equal(table.sweep().oldestMs, 1_000);
  table.markLooked(rows[2] ?? -1, 20_000);
  assert.equal(table.sweep().seenSinceMs[5], 20_000, "it does not fail any more");
  assert.deepEqual([...table.groups.accountsOf(5)], ["account-5"]);
  for (const row of rows) table.remove(row);
  assert.deepEqual([...table.groups.accountsOf(5)], [], "a group goes with its last subject");
});
