import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { requireKnownNeeds } from "../../../../src/control-api/access/known-needs.ts";
import { permissionCatalogue } from "../../../../src/control-api/access/permission-keys.ts";
import { platformRules, seedRules } from "../../../../src/control-api/access/seed-roles.ts";
import { apiRoutes } from "../../../../src/control-api/app.ts";
import type { ApiContext } from "../../../../src/control-api/context.ts";
import type { Route } from "../../../../src/control-api/route.ts";
import { kinds } from "../../../../src/kinds/registry.ts";
import { permissionTable } from "./permission-table.ts";

const catalogue = permissionCatalogue(kinds);
const seeds = seedRules(catalogue);
// The routes are described by the kinds alone; nothing of the rest is touched before a request comes.
const routes = apiRoutes({ kinds } as ApiContext);

test("every route's need and every kind's permission is in the catalogue", () => {
  requireKnownNeeds(routes, catalogue);
  assert.ok(routes.length > 50);
  for (const kind of kinds.values()) assert.ok(catalogue.has(kind.permission), kind.permission);
});

test("a need that no role can have stops the start", () => {
  const [route] = routes.filter(({ need }) => need.at === "path");
  assert.ok(route);
  const refused: readonly Route["need"][] = [
    { at: "path", key: "organization.nothing", action: "read" },
    { at: "path", key: "organization.billing", action: "execute" },
    { at: "path", key: "platform.freeze", action: "read" },
    { at: "platform", key: "organization.project", action: "create" },
    { at: "visible", key: "project.workspace.host.power" },
  ];
  for (const need of refused)
    assert.throws(
      () => requireKnownNeeds([{ ...route, need }], catalogue),
      /not in the catalogue/,
      JSON.stringify(need),
    );
});

test("keys are written in one way, and each says what it is for", () => {
  for (const { key, scope, actions, description } of catalogue.values()) {
    assert.match(key, /^[a-z]+(_[a-z]+)*(\.[a-z]+(_[a-z]+)*)*$/);
    assert.ok(actions.length > 0 && description.length > 3, key);
    const first = {
      platform: "platform.",
      organization: "organization",
      project: "project.",
      workspace: "project.workspace",
    };
    assert.ok(key.startsWith(first[scope]), `${key} is checked at ${scope}`);
  }
});

test("no role of an organization reaches the platform, and only the owner has everything", () => {
  for (const [role, rules] of seeds) {
    assert.equal(
      rules.some(({ key }) => key === "*"),
      role === "owner",
      role,
    );
    assert.deepEqual(
      rules.filter(({ key }) => key.startsWith("platform.")),
      [],
      role,
    );
    for (const { key, actions } of rules.filter((rule) => rule.key !== "*"))
      for (const action of actions)
        assert.ok(catalogue.get(key)?.actions.includes(action), `${role}: ${key}.${action}`);
  }
});

test("an auditor only reads, exports the audit trail, and gets nothing that lets them in elsewhere", () => {
  for (const { key, actions } of seeds.get("auditor") ?? []) {
    assert.deepEqual(
      actions.filter((action) => action !== "read"),
      key === "organization.audit" ? ["execute"] : [],
      key,
    );
    assert.equal(catalogue.get(key)?.sensitive, false, key);
  }
});

test("neither members nor auditors nor billing decide held changes, resume, or change who may do what", () => {
  const deciding = ["organization.held_change.execute", "organization.pause.delete", "organization.policy.update"];
  const granting = [
    "organization.role.update",
    "organization.membership.update",
    "organization.membership_invite.create",
  ];
  for (const role of ["member", "auditor", "billing"]) {
    const has = (seeds.get(role) ?? []).flatMap(({ key, actions }) => actions.map((action) => `${key}.${action}`));
    assert.deepEqual(
      [...deciding, ...granting].filter((right) => has.includes(right)),
      [],
      role,
    );
  }
});

test("billing has nothing of the infrastructure, and an operator of the platform nothing inside organizations", () => {
  for (const { key } of seeds.get("billing") ?? []) assert.match(key, /^organization(\.|$)/);
  for (const { key } of platformRules(catalogue).get("operator") ?? []) assert.match(key, /^platform\./);
});

test("the document lists every key with what each role may do", () => {
  const document = readFileSync(new URL("../../../../docs/access.md", import.meta.url), "utf8");
  assert.ok(document.endsWith(permissionTable()), `docs/access.md should end with:\n${permissionTable()}`);
});
