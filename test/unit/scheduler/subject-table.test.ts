import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { SubjectTable } from "../../../src/scheduler/subject-table.ts";

const everyMsOf = () => 60_000;

/** Small, dense, and apart by whole multiples of 2^31 and 2^32, as ids of a long-lived installation may be. */
const idOf = (draw: number) => [draw % 900, 2 ** 31 - 100 + (draw % 200), 2 ** 40 + (draw % 300)][draw % 3] ?? 0;

test("finds every subject by id after any adds and removals, and no other", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(100_000), fc.nat(7), fc.boolean()), { minLength: 800, maxLength: 3_000 }),
      (steps) => {
        const table = new SubjectTable({ capacity: 4, nowMs: 0, everyMsOf });
        const known = new Map<number, { readonly organizationId: string; readonly shard: number }>();
        for (const [draw, tenant, remove] of steps) {
          const id = idOf(draw);
          const row = table.find(id);
          assert.equal(row >= 0, known.has(id));
          if (row < 0) {
            const subject = { organizationId: `org-${tenant}`, shard: tenant % 3 };
            table.add(
              { id, organizationId: subject.organizationId, accountId: undefined, kind: "Thing" },
              subject.shard,
              0,
            );
            known.set(id, subject);
          } else if (remove) {
            table.remove(row);
            known.delete(id);
          }
        }
        assert.equal(table.size, known.size);
        for (const [id, subject] of known) {
          const row = table.find(id);
          assert.equal(table.id(row), id);
          assert.equal(table.group(row).organizationId, subject.organizationId);
          assert.equal(table.group(row).shard, subject.shard);
        }
        const found = [...table.rowsOfShard(1)].map((row) => table.id(row));
        const expected = [...known].flatMap(([id, { shard }]) => (shard === 1 ? [id] : []));
        const byNumber = (left: number, right: number) => left - right;
        assert.deepEqual(found.sort(byNumber), expected.sort(byNumber));
      },
    ),
    { numRuns: 40 },
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
  const slow = table.add({ id: 5, organizationId: "acme", accountId: "account-5", kind: "Slow" }, 5, 1_000);
  assert.equal(table.sweep().seenSinceMs[5], undefined, "the shard waits for the loop that was not there yet");
  assert.deepEqual(table.sweep().loops, [{ shard: 5, kind: "Thing", sinceMs: 20_000 }], "its other loop does not");
  table.markLooked(slow, 9_000);
  assert.deepEqual(table.sweep().loops, [
    { shard: 5, kind: "Thing", sinceMs: 20_000 },
    { shard: 5, kind: "Slow", sinceMs: 9_000 },
  ]);
  assert.equal(table.sweep().seenSinceMs[5], 9_000);
  table.remove(slow);
  assert.deepEqual([...table.groups.accountsOf(5)], ["account-5"]);
  for (const row of rows) table.remove(row);
  assert.deepEqual([...table.groups.accountsOf(5)], [], "a group goes with its last subject");
});
