import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import fc from "fast-check";
import { compare, type CompareRules, sameBy, withSeenFields } from "../../../src/kernel/diff.ts";
import { TerminalError } from "../../../src/kernel/errors.ts";
import { canonical, redacted } from "../../../src/kernel/hash.ts";
import { Secret } from "../../../src/kernel/secret.ts";
import { compareRules, disguised, jsonItem, meaningOf } from "../../support/json-items.ts";
import { holds } from "../../support/properties.ts";

test("the diff is empty exactly when two items mean the same under the rules", () => {
  holds(
    fc.property(jsonItem, jsonItem, compareRules, (wanted, seen, rules) => {
      const same = meaningOf(wanted, rules) === meaningOf(seen, rules);
      assert.equal(compare(wanted, seen, rules).differences.length === 0, same);
    }),
    1_200,
  );
});

test("whatever order, case and ignored noise may do, the diff stays empty", () => {
  holds(
    fc.property(jsonItem, compareRules, fc.nat(), (item, rules, order) => {
      const other = disguised(item, rules, order);
      // Noise may hide a default that would have been filled in inside the ignored field; the meaning decides.
      fc.pre(meaningOf(item, rules) === meaningOf(other, rules));
      assert.deepEqual(compare(item, other, rules).differences, []);
    }),
    1_200,
  );
});

test("the diff is symmetric: the same fields, with wanted and seen exchanged", () => {
  const turned = (differences: readonly { wanted: unknown; seen: unknown }[]) =>
    differences.map((difference) => ({ ...difference, wanted: difference.seen, seen: difference.wanted }));
  holds(
    fc.property(jsonItem, jsonItem, compareRules, (left, right, rules) => {
      const there = compare(left, right, rules);
      const back = compare(right, left, rules);
      assert.deepEqual(there.differences, turned(back.differences));
      assert.deepEqual(there.ignored, turned(back.ignored));
    }),
    500,
  );
});

test("every difference lies outside the ignored fields, and what was ignored names its rule", () => {
  holds(
    fc.property(jsonItem, jsonItem, compareRules, (wanted, seen, rules) => {
      const strict = compare(wanted, seen, { ...rules, ignored: [] });
      const { differences, ignored } = compare(wanted, seen, rules);
      assert.ok(ignored.every((entry) => rules.ignored?.some(({ rule }) => rule === entry.rule)));
      assert.ok(differences.length <= strict.differences.length);
      if (strict.differences.length === 0) assert.deepEqual(ignored, []);
    }),
    500,
  );
});

test("writing the seen value of every differing field leaves no difference", () => {
  holds(
    fc.property(jsonItem, jsonItem, compareRules, (wanted, seen, rules) => {
      const fields = compare(wanted, seen, rules).differences.map((difference) => difference.field);
      assert.deepEqual(compare(withSeenFields(wanted, seen, fields), seen, rules).differences, []);
    }),
    1_000,
  );
});

test("leaving one fought element of an unordered list as it was seen keeps no other wanted element out", () => {
  const rules: CompareRules = { unordered: ["/values"] };
  const wanted = { values: ["b", "a"], ttl: 60 };
  const seen = { values: ["a", "c"], ttl: 300 };
  const [difference, ...others] = compare(wanted, seen, rules).differences.filter(({ field }) => field !== "/ttl");
  assert.deepEqual(others, []);
  assert.equal(difference?.field, "/values");
  assert.deepEqual(withSeenFields(wanted, seen, ["/values"]), { values: ["a", "c"], ttl: 60 });
});

test("ignored fields do not disturb the comparison of unordered lists", () => {
  const rules: CompareRules = {
    unordered: ["/list"],
    ignored: [{ field: "/list/*/id", rule: "given by the provider" }],
  };
  const wanted = {
    list: [
      { id: 2, name: "a" },
      { id: 1, name: "b" },
    ],
  };
  const seen = {
    list: [
      { id: 1, name: "a" },
      { id: 2, name: "b" },
    ],
  };
  const { differences, ignored } = compare(wanted, seen, rules);
  assert.deepEqual(differences, []);
  assert.deepEqual([...new Set(ignored.map((entry) => entry.rule))], ["given by the provider"]);
});

test("a named difference says field, wanted and seen", () => {
  assert.deepEqual(
    sameBy({ defaults: { "/ttl": 300 } })({ a: { "x/y": [1, 2] } }, { a: { "x/y": [1, 3] }, ttl: 300 }),
    [{ field: "/a/x~1y/1", wanted: 2, seen: 3 }],
  );
  assert.deepEqual(compare({ a: 1 }, {}).differences, [{ field: "/a", wanted: 1, seen: undefined }]);
});

test("long values are cut in a difference, and still told apart", () => {
  const long = (end: string) => ({ text: `${"x".repeat(100_000)}${end}` });
  const [difference, ...others] = compare(long("a"), long("b")).differences;
  assert.deepEqual([others, difference?.field], [[], "/text"]);
  assert.ok(JSON.stringify(difference).length < 1_000);
  assert.match(JSON.stringify(difference?.wanted), /x… \(100003 characters, [0-9a-f]{32}\)"$/);
  assert.notEqual(difference?.wanted, difference?.seen);
  assert.deepEqual(compare(long("a"), long("a")).differences, []);
});

const secretText = fc.stringMatching(/^hidden-[0-9a-f]{24}$/);

test("secrets are compared by hash and never printed", () => {
  holds(
    fc.property(jsonItem, secretText, secretText, fc.boolean(), (item, one, other, nestedInList) => {
      const hold = (text: string) => ({ ...item, key: nestedInList ? [new Secret(text)] : { at: new Secret(text) } });
      const comparison = compare(hold(one), hold(other));
      assert.equal(comparison.differences.length === 0, one === other);
      assert.deepEqual(compare(hold(one), hold(one)).differences, []);
      const error = new TerminalError("INTERNAL", `cannot write ${String(new Secret(one))}`, { cause: hold(one) });
      const shown = [
        JSON.stringify(comparison),
        JSON.stringify(hold(one)),
        canonical(hold(one)),
        JSON.stringify(redacted(hold(one))),
        inspect(comparison, { depth: 20 }),
        inspect(hold(one), { depth: 20, showHidden: true }),
        inspect(hold(one), { depth: 20, customInspect: false, showHidden: true }),
        inspect(error, { depth: 20, showHidden: true }),
        `${error.message} ${error.stack}`,
        inspect(Object.entries(new Secret(one))),
      ].join("\n");
      assert.ok(!shown.includes(one) && !shown.includes(other), shown);
    }),
  );
  assert.equal(new Secret("hidden").reveal(), "hidden");
});
