import assert from "node:assert/strict";
import { test } from "node:test";
import { shapeOf, typeNameOf } from "../../../src/providers/ionos/types.ts";

test("a type at IONOS is taken by the one name that its servers are shown with", () => {
  for (const name of ["1-core-2-gb-10-gb-ssd", "2-cores-4-gb-20-gb-ssd", "16-cores-64-gb-500-gb-hdd"]) {
    const shape = shapeOf(name);
    assert.ok(shape !== undefined, name);
    assert.equal(typeNameOf(shape), name);
  }
  for (const name of [
    "1-cores-2-gb-10-gb-ssd",
    "2-core-4-gb-20-gb-ssd",
    "02-cores-4-gb-20-gb-ssd",
    "0-cores-4-gb-20-gb-ssd",
  ])
    assert.equal(shapeOf(name), undefined, name);
});
