import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { applyFields } from "../../../src/control-api/resources/apply-fields.ts";
import {
  changesBetween,
  type Declaration,
  declarationOf,
  fieldsOf,
} from "../../../src/control-api/resources/fields.ts";
import { parseSelector } from "../../../src/control-api/resources/label-selector.ts";
import type { Json } from "../../../src/ports/json.ts";

const declaration = (spec: Json, labels: Record<string, string> = {}): Declaration => ({
  spec,
  labels,
  mode: undefined,
  protect: undefined,
});
const apply = (
  standing: Declaration,
  owners: Record<string, string>,
  applied: Declaration,
  manager: string,
  force = false,
) => applyFields({ standing: fieldsOf(standing), owners, applied: fieldsOf(applied), manager, force });

test("a declaration taken apart into fields and put together again is the same", () => {
  const leaf = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null), fc.array(fc.integer()));
  const key = fc.string({ minLength: 1 }).filter((text) => text !== "__proto__");
  const spec = fc.dictionary(key, fc.oneof(leaf, fc.dictionary(key, leaf, { minKeys: 1, noNullPrototype: true })), {
    minKeys: 1,
    noNullPrototype: true,
  });
  fc.assert(
    fc.property(spec, (given) => {
      const whole = declaration(given, { team: "web" });
      assert.deepEqual(declarationOf(fieldsOf(whole)), whole);
      assert.deepEqual(changesBetween(fieldsOf(whole), fieldsOf(whole)), []);
    }),
  );
});

test("what an owner applies is there afterwards, what others own stays, and applying it again changes nothing", () => {
  const field = fc.constantFrom("a", "b", "c", "d");
  const spec = fc.dictionary(field, fc.integer({ min: 0, max: 3 }), { noNullPrototype: true });
  fc.assert(
    fc.property(spec, spec, spec, (first, second, third) => {
      const one = apply(declaration({}), {}, declaration(first), "one");
      assert.ok(one.ok);
      const two = apply(declarationOf(one.fields), one.owners, declaration(second), "two", true);
      assert.ok(two.ok);
      for (const [name, value] of Object.entries(second)) assert.equal(two.fields.get(`/spec/${name}`), value);
      const again = apply(declarationOf(two.fields), two.owners, declaration(second), "two");
      assert.ok(again.ok);
      assert.deepEqual(changesBetween(two.fields, again.fields), []);
      const three = apply(declarationOf(two.fields), two.owners, declaration(third), "two");
      for (const [pointer, owner] of Object.entries(two.owners)) {
        if (owner === "two" || !two.fields.has(pointer)) continue;
        const kept = three.ok && three.fields.get(pointer) === two.fields.get(pointer);
        const named =
          !three.ok && three.conflicts.some((conflict) => conflict.pointer === pointer && conflict.owner === owner);
        assert.ok(kept || named || !three.ok, `${pointer} of ${owner} was changed without a word`);
      }
    }),
  );
});

test("a field inside another one's field, and around it, is that field too", () => {
  const standing = declaration({ a: { b: 1, c: 2 } });
  const owners = { "/spec/a/b": "one" };
  const around = apply(standing, owners, declaration({ a: 5 }), "two");
  assert.deepEqual(around, { ok: false, conflicts: [{ pointer: "/spec/a/b", owner: "one" }] });
  const inside = apply(declaration({ a: 5 }), { "/spec/a": "one" }, declaration({ a: { b: 1 } }), "two");
  assert.deepEqual(inside, { ok: false, conflicts: [{ pointer: "/spec/a", owner: "one" }] });
  const beside = apply(standing, owners, declaration({ a: { c: 3 } }), "two");
  assert.ok(beside.ok);
  assert.deepEqual(declarationOf(beside.fields).spec, { a: { b: 1, c: 3 } });
});

test("a selector is understood or refused, and never empty", () => {
  assert.deepEqual(parseSelector("team=web, tier in (a, b),!old,new,x!=y"), {
    ok: true,
    requirements: [
      { key: "team", op: "in", values: ["web"] },
      { key: "tier", op: "in", values: ["a", "b"] },
      { key: "old", op: "absent", values: [] },
      { key: "new", op: "exists", values: [] },
      { key: "x", op: "not-in", values: ["y"] },
    ],
  });
  for (const wrong of ["", " ", ",", "a,", "a in ()", "a in (,)", "a=", "=b", "!", "a in b", "A=b"])
    assert.equal(parseSelector(wrong).ok, false, JSON.stringify(wrong));
});
