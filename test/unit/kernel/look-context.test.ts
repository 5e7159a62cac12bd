import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Kind } from "../../../src/kernel/kind.ts";
import type { LookContext } from "../../../src/kernel/loop.ts";
import { items, Lab } from "../../support/lab.ts";
import { labKinds } from "../../support/lab-kinds.ts";

/** Contexts that the looks of a shelf were given. */
function watched(seen: LookContext<unknown>[]): Lab["kinds"] {
  const shelf = labKinds.get("Shelf");
  assert.ok(shelf?.loop !== undefined);
  const { loop } = shelf;
  const observe: typeof loop.observe = (context, subject) => {
    seen.push(context);
    return loop.observe(context, subject);
  };
  return new Map<string, Kind>([...labKinds, ["Shelf", { ...shelf, loop: { ...loop, observe } }]]);
}

test("the context of a look is a plain object to the engine beneath: as a dictionary it kept its whole cycle in memory", async () => {
  setFlagsFromString("--allow-natives-syntax");
  const isPlain = runInNewContext("(context) => %HasFastProperties(context)") as (context: object) => boolean;
  const seen: LookContext<unknown>[] = [];
  const lab = await Lab.open();
  lab.kinds = watched(seen);
  await lab.declare("Shelf/s", { account: "main", items: items("a", "b") });
  await lab.rest("Shelf/s");
  await lab.rest("Shelf/s");
  assert.ok(seen.length > 1);
  for (const context of seen) assert.ok(isPlain(context));
  assert.equal(seen.at(-1)?.ownIds.size, 2, "what is ours is known to whoever asks");
});
