import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { startTestApi, type TestApi } from "../support/api.ts";
import { memberOf } from "../support/people.ts";

let api: TestApi;
before(async () => {
  api = await startTestApi();
  for (const name of ["web", "shop"]) await api.send("POST", "/v1/organizations/default/projects", { name });
});
after(() => api[Symbol.asyncDispose]());

test("only those who run the platform name files and variables of the scheduler as a credential", async () => {
  const path = "/v1/organizations/default/accounts";
  const owner = await memberOf(api, "default", "owner@reading.test", [{ role: "owner" }]);
  const account = { provider: "powerdns", settings: { url: "http://127.0.0.1:8081" } };
  for (const credentialRef of ["file:/var/lib/setpoint/root.key", "env:SETPOINT_ROOT_KEY"]) {
    const refused = await owner.send("POST", path, { ...account, name: "theirs", credentialRef });
    assert.deepEqual([refused.status, refused.body["code"]], [403, "FORBIDDEN"], credentialRef);
    assert.match(String(refused.body["detail"]), /send it as `credential`/);
  }
  assert.equal((await owner.send("POST", path, { ...account, name: "without" })).status, 201);
  const allowed = await api.send("POST", path, { ...account, name: "named", credentialRef: "env:LAB_KEY" });
  assert.equal(allowed.status, 201, "the operator of the machine");
});

test("rules by which drift is ignored are shown to those who may read what they are about, and to nobody else", async () => {
  const rule = { kind: "DnsZone", name: "secret-zone", field: "/ttlSeconds", reason: "for the test" };
  const set = await api.send("PUT", "/v1/organizations/default/projects/shop/policy", { ignore: [rule] });
  assert.equal(set.status, 200, JSON.stringify(set.body));
  const ignoredFor = async (email: string, bindings: Parameters<typeof memberOf>[3]) => {
    const person = await memberOf(api, "default", email, bindings);
    const { status, body } = await person.send("GET", "/v1/organizations/default/drift");
    assert.equal(status, 200);
    return body["ignored"];
  };
  assert.deepEqual(await ignoredFor("inside@reading.test", [{ role: "member", project: "shop" }]), [
    { ...rule, from: "project/default:shop" },
  ]);
  assert.equal(await ignoredFor("beside@reading.test", [{ role: "member", project: "web" }]), undefined);
  assert.equal(await ignoredFor("payer@reading.test", [{ role: "billing" }]), undefined);
});

/** What each route is for, read from docs/access.md and not from the routes: the key and the letter of the action. */
const readings: readonly (readonly [RegExp, string])[] = [
  [/^GET ORG$/, "organization r"],
  [/^POST ORG:submit$/, "organization u"],
  [/^DELETE ORG$/, "organization d"],
  [/^POST ORG\/projects$/, "organization.project c"],
  [/^DELETE ORG\/P$/, "organization.project d"],
  [/^GET ORG\/P\/W$/, "project.workspace r"],
  [/^POST ORG\/P\/workspaces$/, "project.workspace c"],
  [/^DELETE ORG\/P\/W$/, "project.workspace d"],
  [/^GET ORG\/members(\/\{person\})?$/, "organization.membership r"],
  [/^(POST|DELETE) ORG\/members\/\{person\}\/bindings/, "organization.membership u"],
  [/^DELETE ORG\/members\/\{person\}$/, "organization.membership d"],
  [/^POST ORG\/members\/\{person\}:confirm$/, "platform.membership x"],
  [/^GET ORG\/invites/, "organization.membership_invite r"],
  [/^POST ORG\/invites/, "organization.membership_invite c"],
  [/^DELETE ORG\/invites/, "organization.membership_invite d"],
  [/^GET ORG\/roles/, "organization.role r"],
  [/^POST ORG\/roles/, "organization.role c"],
  [/^PUT ORG\/roles/, "organization.role u"],
  [/^DELETE ORG\/roles/, "organization.role d"],
  [/^GET ORG\/accounts$/, "organization.account r"],
  [/^POST ORG\/accounts$/, "organization.account c"],
  [/^PUT ORG\/accounts\/\{account\}\/credential$/, "organization.account u"],
  [/^GET ORG\/audit(\/head)?$/, "organization.audit r"],
  [/^GET ORG\/audit\/export$/, "organization.audit x"],
  [/^GET \/v1\/audit(\/head)?$/, "platform.audit r"],
  [/^GET \/v1\/audit\/export$/, "platform.audit x"],
  [/^GET ORG\/tokens$/, "organization.token r"],
  [/^POST ORG\/tokens$/, "organization.token c"],
  [/^DELETE ORG\/tokens\//, "organization.token d"],
  [/^GET ORG\/P\/W\/keys$/, "project.workspace.key r"],
  [/^POST ORG\/P\/W\/keys$/, "project.workspace.key c"],
  [/^DELETE ORG\/P\/W\/keys\//, "project.workspace.key d"],
  [/^GET ORG\/P\/W\/enrolment-tokens$/, "project.workspace.agent_token r"],
  [/^POST ORG\/P\/W\/enrolment-tokens$/, "project.workspace.agent_token c"],
  [/^DELETE ORG\/P\/W\/enrolment-tokens\//, "project.workspace.agent_token d"],
  [/^GET ORG\/secrets$/, "organization.secret r"],
  [/^PUT ORG\/secrets\//, "organization.secret u"],
  [/^DELETE ORG\/secrets\//, "organization.secret d"],
  [/^POST \/v1\/keys\/rotation$/, "platform.key x"],
  [/^GET ORG\/held-changes/, "organization.held_change r"],
  [/^POST ORG\/held-changes$/, "organization.proposal c"],
  [/^POST ORG\/held-changes\/\{id\}:(approve|reject|withdraw)$/, "organization.held_change x"],
  [/^GET ORG\/pauses(\/\{id\}\/preview)?$/, "organization.pause r"],
  [/^GET ORG\/pending$/, "organization.pause r"],
  [/^POST ORG\/pauses(\/\{id\}:extend)?$/, "organization.pause c"],
  [/^DELETE ORG\/pauses\//, "organization.pause d"],
  [/^GET \/v1\/freeze/, "platform.freeze r"],
  [/^POST \/v1\/freeze/, "platform.freeze c"],
  [/^DELETE \/v1\/freeze$/, "platform.freeze d"],
  [/^GET ORG(\/P)?(\/W)?\/(policy|policy\/history|limits)$/, "organization.policy r"],
  [/^PUT ORG(\/P)?(\/W)?\/policy$/, "organization.policy u"],
  [/^GET \/v1\/(policy|policy\/history|limits)$/, "platform.policy r"],
  [/^PUT \/v1\/policy$/, "platform.policy u"],
  [/^GET ORG\/(webhooks|notifications|notification-emails)/, "organization.notification_channel r"],
  [/^POST ORG\/webhooks$/, "organization.notification_channel c"],
  [
    /^(PUT ORG\/webhooks|PUT ORG\/notification-emails|POST ORG\/webhooks\/\{id\}:rotate)/,
    "organization.notification_channel u",
  ],
  [/^DELETE ORG\/webhooks\//, "organization.notification_channel d"],
  [/^POST ORG\/webhooks\/.*:(test|replay)$/, "organization.notification_channel x"],
  [/^GET \/v1\/summary$/, "platform.summary r"],
  [/^GET ORG\/quotas$/, "organization.quota r"],
  [/^GET \/v1\/pool$/, "platform.pool r"],
  [/^POST \/v1\/pool$/, "platform.pool c"],
  [/^DELETE \/v1\/pool\//, "platform.pool d"],
  [/^POST \/v1\/pool\/.*:release$/, "platform.pool x"],
  [/^POST ORG\/accounts\/.*:release$/, "organization.account d"],
  [/^PUT (ORG|\/v1)\/quotas\//, "platform.quota u"],
  [/^PUT ORG\/status$/, "platform.organization u"],
  [/^GET ORG\/proposals/, "organization.proposal r"],
  [/^POST ORG\/proposals$/, "organization.proposal c"],
  [/^POST ORG\/proposals\/\{id\}:(approve|reject|withdraw)$/, "organization.proposal x"],
  [/^GET \/v1\/people/, "platform.person r"],
  [/^POST \/v1\/people$/, "platform.person c"],
];

/** Deciding, letting in and loosening are for people, whatever a token may do otherwise. */
const forPeopleAlone =
  /:(approve|reject|confirm|submit)$|\/members\/|\/invites|^(POST|PUT|DELETE) ORG\/roles|^(POST|DELETE) .*(tokens|keys)(\/|$)|^PUT .*(policy|credential|status|notification-emails)$|^DELETE ORG\/(pauses|P)|^DELETE ORG$|^(POST|PUT|DELETE) ORG\/webhooks(\/\{id\})?(:rotate)?$/;

test("the table of answers is what docs/access.md says, read by somebody else", () => {
  const rights = rightsInDocs();
  const [head = "", ...rows] = read("test/access-matrix.tsv").trimEnd().split("\n");
  const columns = head.split("\t");
  let judged = 0;
  const disagreements: string[] = [];
  for (const row of rows) {
    const cells = row.split("\t");
    const route = `${cells[0] ?? ""} ${shortened(cells[1] ?? "")}`;
    const reading = readings.find(([pattern]) => pattern.test(route))?.[1];
    if (reading === undefined) continue;
    judged++;
    const [key = "", action = ""] = reading.split(" ");
    for (const role of ["owner", "admin", "member", "auditor", "billing", "operator", "administrator"]) {
      const cell = cells[columns.indexOf(role)] ?? "";
      const refused = /^40[34]/.test(cell);
      if (refused === allowed(rights, role, key, action))
        disagreements.push(`${route} as ${role}: ${cell}, and ${role} ${refused ? "has" : "lacks"} ${key} ${action}`);
      const organizations = ["operator", "administrator"].includes(role) || key.startsWith("platform.");
      if (!organizations && !cell.endsWith("404"))
        disagreements.push(`${route} as ${role}: a foreign one shows (${cell})`);
    }
    for (const token of ["service-token", "assistant-token"]) {
      const cell = cells[columns.indexOf(token)] ?? "";
      if (forPeopleAlone.test(route) && !route.startsWith("GET") && !/^40[34]/.test(cell))
        disagreements.push(`${route} as ${token}: ${cell}, and it is for people alone`);
    }
  }
  assert.ok(judged > 85, `${judged} routes were judged`);
  assert.deepEqual(disagreements, []);
});

type Rights = ReadonlyMap<string, Readonly<Record<string, string>>>;

function allowed(rights: Rights, role: string, key: string, action: string): boolean {
  const row = rights.get(key);
  assert.ok(row !== undefined, `docs/access.md has no ${key}`);
  if (role === "administrator") return true;
  // Operators keep the list of organizations.
  if (role === "operator" && key === "organization" && action === "r") return true;
  if (role === "owner") return !key.startsWith("platform.") && (row["has"] ?? "").includes(action);
  return (row[role] ?? "").includes(action);
}

function rightsInDocs(): Rights {
  const [head = "", ...rows] =
    /\| key \| has [\s\S]*?\n\n|\| key \| has [\s\S]*$/.exec(read("docs/access.md"))?.[0].trim().split("\n") ?? [];
  const cellsOf = (row: string) =>
    row
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll("`", ""));
  const columns = cellsOf(head);
  return new Map(
    rows.slice(1).map((row) => {
      const cells = cellsOf(row);
      return [cells[0] ?? "", Object.fromEntries(columns.map((column, index) => [column, cells[index] ?? ""]))];
    }),
  );
}

function shortened(path: string): string {
  return path
    .replace("/v1/organizations/{organization}", "ORG")
    .replace("projects/{project}", "P")
    .replace("workspaces/{workspace}", "W");
}

function read(file: string): string {
  return readFileSync(new URL(`../../${file}`, import.meta.url), "utf8");
}
