import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Table } from "../../../src/world/table.ts";

interface Thing {
  readonly id: number;
  readonly colour: string;
}

const steps = fc.array(
  fc.record({
    afterMs: fc.integer({ min: 0, max: 1_000 }),
    id: fc.integer({ min: 1, max: 6 }),
    colour: fc.option(fc.constantFrom("red", "green", "blue"), { nil: undefined }),
  }),
  { maxLength: 40 },
);

/** A table the simple way: every state that ever was, in full. */
function histories(list: readonly { afterMs: number; id: number; colour: string | undefined }[]) {
  const time = { nowMs: 1_000 };
  const table = new Table<Thing>(time, { colour: ({ colour }) => [colour] });
  const states: { readonly atMs: number; readonly rows: ReadonlyMap<number, Thing> }[] = [];
  let rows = new Map<number, Thing>();
  states.push({ atMs: 0, rows });
  for (const { afterMs, id, colour } of list) {
    time.nowMs += afterMs;
    rows = new Map(rows);
    if (colour === undefined) {
      table.remove(id);
      rows.delete(id);
    } else rows.set(id, table.put({ id, colour }));
    states.push({ atMs: time.nowMs, rows });
  }
  return { table, states };
}

const byId = (rows: Iterable<Thing>) => [...rows].toSorted((left, right) => left.id - right.id);

test("a table finds by its indexes what a walk over all rows finds", () => {
  fc.assert(
    fc.property(steps, (list) => {
      const { table } = histories(list);
      for (const colour of ["red", "green", "blue"]) {
        const found = byId(table.where("colour", colour));
        assert.deepEqual(found, byId(table.all().filter((row) => row.colour === colour)));
      }
    }),
  );
});

test("a table as of a moment is what it was then, by every way of reading it", () => {
  fc.assert(
    fc.property(steps, fc.integer({ min: 0, max: 45_000 }), (list, atMs) => {
      const { table, states } = histories(list);
      const then = states.findLast((state) => state.atMs <= atMs)?.rows ?? new Map<number, Thing>();
      const seen = table.asOf(atMs);
      assert.deepEqual(byId(seen.all()), byId(then.values()));
      assert.equal(seen.size, then.size);
      for (const id of [1, 2, 3, 4, 5, 6]) assert.deepEqual(seen.get(id), then.get(id));
      const red = byId(then.values()).filter(({ colour }) => colour === "red");
      assert.deepEqual(byId(seen.where("colour", "red")), red);
    }),
  );
});

test("a row that is changed keeps its place in the lists that it stays in", () => {
  const table = new Table<{ readonly id: string; readonly color: string; readonly name: string }>(
    { nowMs: 0 },
    { color: ({ color }) => [color] },
  );
  for (const id of ["c", "a", "b"]) table.put({ id, color: "red", name: id });
  table.put({ id: "c", color: "red", name: "renamed" });
  const reds = () => table.where("color", "red").map(({ id }) => id);
  assert.deepEqual(reds(), ["c", "a", "b"]);
  table.put({ id: "c", color: "blue", name: "renamed" });
  assert.deepEqual(reds(), ["a", "b"]);
});
