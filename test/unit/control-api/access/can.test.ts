import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { can, type Holder, sees } from "../../../../src/control-api/access/can.ts";
import { everyAction } from "../../../../src/control-api/access/permission-keys.ts";
import { scopePathOf } from "../../../../src/control-api/access/scope-path.ts";
import { organizationIdOf } from "../../../../src/control-api/names.ts";
import type { Action, Binding } from "../../../../src/ports/access.ts";

const keys = ["organization", "organization.account", "organization.project", "project.dns_zone", "project.workspace"];
const places = [
  { organization: "acme" },
  { organization: "acme", project: "web" },
  { organization: "acme", project: "shop" },
  { organization: "acme", project: "web", workspace: "live" },
  { organization: "other" },
  { organization: "other", project: "web" },
];
const paths = [["platform"], ...places.map(scopePathOf)];

const rule = fc.record({
  key: fc.constantFrom("*", ...keys),
  actions: fc.uniqueArray(fc.constantFrom(...everyAction), { minLength: 1 }),
});
const binding: fc.Arbitrary<Binding> = fc
  .record({ place: fc.option(fc.constantFrom(...places)), rules: fc.array(rule, { maxLength: 3 }) })
  .map(({ place, rules }) => ({
    organizationId: place === null ? undefined : organizationIdOf(place.organization),
    scope: place === null ? "platform" : (scopePathOf(place).at(-1) ?? "platform"),
    role: "some",
    rules,
  }));
// Beyond eight bindings they are found through an index: both ways are tried.
const bindings = fc.array(binding, { maxLength: 14 });

/** Everything that can be asked of a holder, as one line per question that is answered with yes. */
function allowed(holder: Holder): ReadonlySet<string> {
  const yes = new Set<string>();
  for (const path of paths) {
    for (const key of [...keys, "*"])
      for (const action of everyAction)
        if (can(holder, key, action, path).allowed) yes.add(`${key}.${action} at ${path.at(-1)}`);
    if (sees(holder, path)) yes.add(`sees ${path.at(-1)}`);
  }
  return yes;
}

function within(less: ReadonlySet<string>, more: ReadonlySet<string>): void {
  assert.deepEqual(
    [...less].filter((entry) => !more.has(entry)),
    [],
  );
}

test("taking a binding or a rule away never allows more", () => {
  fc.assert(
    fc.property(bindings, fc.nat(), fc.nat(), (all, first, second) => {
      const more = allowed({ bindings: all, within: undefined });
      const at = all.length === 0 ? 0 : first % all.length;
      within(allowed({ bindings: all.toSpliced(at, 1), within: undefined }), more);
      const chosen = all[at];
      if (chosen === undefined || chosen.rules.length === 0) return;
      const rules = chosen.rules.toSpliced(second % chosen.rules.length, 1);
      within(allowed({ bindings: all.with(at, { ...chosen, rules }), within: undefined }), more);
    }),
  );
});

test("a token allows no more than its own bindings, and no more than its maker has", () => {
  fc.assert(
    fc.property(bindings, bindings, (own, makers) => {
      const both = allowed({ bindings: own, within: makers });
      within(both, allowed({ bindings: own, within: undefined }));
      within(both, allowed({ bindings: makers, within: undefined }));
    }),
  );
});

test("what is allowed is what some binding on the way down says, and nothing else", () => {
  fc.assert(
    fc.property(
      bindings,
      fc.constantFrom(...paths),
      fc.constantFrom(...keys),
      fc.constantFrom(...everyAction),
      (all, path, key, action) => {
        const expected = all.some(
          ({ scope, rules }) =>
            path.includes(scope) && rules.some((one) => [key, "*"].includes(one.key) && one.actions.includes(action)),
        );
        assert.equal(can({ bindings: all, within: undefined }, key, action, path).allowed, expected);
      },
    ),
  );
});

test("a role in one project says nothing about its sibling, and shows the organization", () => {
  const rules = [{ key: "project.dns_zone", actions: ["read"] satisfies Action[] }];
  const scope = scopePathOf({ organization: "acme", project: "web" }).at(-1) ?? "";
  const holder = {
    bindings: [{ organizationId: organizationIdOf("acme"), scope, role: "reader", rules }],
    within: undefined,
  };
  assert.deepEqual(
    [...allowed(holder)].map((line) => line.replace(organizationIdOf("acme"), "ACME")),
    [
      "sees organization/ACME",
      "project.dns_zone.read at project/acme:web",
      "sees project/acme:web",
      "project.dns_zone.read at workspace/acme:web:live",
      "sees workspace/acme:web:live",
    ],
  );
});

test("a role about billing shows the organization and none of its projects", () => {
  const rules = [{ key: "organization.billing", actions: ["read"] satisfies Action[] }];
  const organizationId = organizationIdOf("acme");
  const holder = {
    bindings: [{ organizationId, scope: `organization/${organizationId}`, role: "billing", rules }],
    within: undefined,
  };
  assert.deepEqual(
    paths.filter((path) => sees(holder, path)).map((path) => path.at(-1)),
    [`organization/${organizationId}`],
  );
});
