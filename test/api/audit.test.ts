import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { runCommand } from "../support/cli.ts";
import { ExportVerifier } from "../../src/control-api/schemas/audit-export.ts";
import { query } from "../support/postgres.ts";
import { startTestApi, type TestApi, token, whatever } from "../support/api.ts";

const path = "/v1/organizations/default";
let api: TestApi;
const folder = mkdtempSync(join(tmpdir(), "setpoint-audit-"));
before(async () => {
  api = await startTestApi();
  const account = { name: "lab", provider: "powerdns", settings: { url: "http://127.0.0.1:8081" } };
  await api.send("POST", `${path}/accounts`, account, { "setpoint-reason": "first account" });
  await api.send("POST", "/v1/organizations", { name: "other" });
  await api.send("POST", `/v1/organizations/other/projects`, { name: "theirs" });
  const zone = (mode: string) => ({
    apiVersion: "setpoint/v1",
    kind: "DnsZone",
    metadata: { name: "example", mode },
    spec: { account: "lab", zone: "example.test" },
  });
  const reason = { ...whatever, "setpoint-reason": "because\tof =cmd() \u00fc" };
  for (const mode of ["observe", "propose"]) {
    const put = await api.send("PUT", `${path}/dnszones/example`, zone(mode), mode === "observe" ? {} : reason);
    assert.ok(put.status < 300, JSON.stringify(put.body));
  }
  await api.seal();
});
after(async () => {
  rmSync(folder, { recursive: true });
  await api[Symbol.asyncDispose]();
});

type Item = Readonly<Record<string, unknown>> & { readonly type: string; readonly position: number };

async function list(query_ = "", whose = path): Promise<readonly Item[]> {
  const answer = await api.send("GET", `${whose}/audit${query_}`);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return answer.body["items"] as readonly Item[];
}

test("every act is there with who, what, when, why, from where, and digests of before and after", async () => {
  const [created] = await list("?type=account.created");
  assert.ok(created);
  assert.equal(created["actor"], "operator");
  assert.equal(created["actorType"], "person");
  assert.equal(created["credential"], "operator-file/operator.token");
  assert.equal(created["address"], "127.0.0.1");
  assert.equal(created["reason"], "first account");
  assert.match(String(created["requestId"]), /^[0-9a-f-]{36}$/);
  assert.match(String(created["after"]), /^[0-9a-f]{64}$/);
  const [changed, first] = await list("?type=resource.");
  assert.equal(first?.type, "resource.created");
  assert.equal(first?.["before"], undefined);
  assert.equal(changed?.type, "resource.changed");
  assert.equal(changed?.["before"], first?.["after"], "what it was before is what it became by the act before");
  assert.notEqual(changed?.["after"], changed?.["before"]);
});

test("an organization sees its own part and nobody else's", async () => {
  const mine = JSON.stringify(await list());
  assert.ok(!mine.includes("theirs"));
  const theirs = await list("", "/v1/organizations/other");
  assert.ok(theirs.length > 0);
  const all = await list("?pageSize=500", "/v1");
  assert.ok(all.length > theirs.length);
});

test("filters and pages fit together", async () => {
  const whole = await list("?pageSize=500");
  const paged: Item[] = [];
  let pageToken: string | undefined;
  do {
    const more = pageToken === undefined ? "" : `&pageToken=${pageToken}`;
    const answer = await api.send("GET", `${path}/audit?pageSize=2${more}`);
    paged.push(...(answer.body["items"] as readonly Item[]));
    pageToken = answer.body["nextPageToken"] as string | undefined;
  } while (pageToken !== undefined);
  assert.deepEqual(paged, whole);
  assert.deepEqual(await list("?actor=nobody"), []);
  assert.equal((await list("?to=2001-01-01T00:00:00Z")).length, 0);
  assert.equal((await list("?from=2001-01-01T00:00:00Z&pageSize=500")).length, whole.length);
  assert.equal((await api.send("GET", `${path}/audit?pageToken=x`)).body["code"], "FIELDS_INVALID");
  assert.equal((await api.send("GET", `${path}/audit?outcome=bad`)).body["code"], "FIELDS_INVALID");
  assert.equal((await api.send("GET", `${path}/audit?type=%25`)).body["code"], "FIELDS_INVALID");
});

test("what happened to a thing is found by its uid, its name, and its kind and name", async () => {
  const [created] = await list("?type=resource.created");
  const types = async (resource: string) =>
    (await list(`?resource=${encodeURIComponent(resource)}`)).map(({ type }) => type);
  const expected = ["resource.changed", "resource.created"];
  assert.deepEqual(await types(String(created?.["resource"])), expected);
  assert.deepEqual(await types("DnsZone/example"), expected);
  assert.deepEqual(await types("example"), expected);
  assert.deepEqual(await types("lab"), ["account.created"]);
  assert.deepEqual(await types("Host/example"), []);
});

test("what did not come about is found apart from what did", async () => {
  const loosened = await api.send("PUT", `${path}/policy`, { limits: { changesPerCycle: 9_000 } }, whatever);
  assert.equal(loosened.status, 202, JSON.stringify(loosened.body));
  const comment = { comment: "not today" };
  const rejected = await api.send("POST", `${path}/held-changes/${String(loosened.body["id"])}:reject`, comment);
  assert.equal(rejected.status, 200, JSON.stringify(rejected.body));
  await api.seal();
  const all = await list("?pageSize=500");
  const [done, notDone] = [await list("?pageSize=500&outcome=done"), await list("?pageSize=500&outcome=not-done")];
  assert.deepEqual(
    notDone.map(({ type }) => type),
    ["governance.rejected"],
  );
  assert.deepEqual(
    done,
    all.filter(({ type }) => type !== "governance.rejected"),
  );
});

async function exportText(whose: string, query_ = ""): Promise<string> {
  await api.seal();
  const answer = await api.app.inject({
    method: "GET",
    url: `${whose}/audit/export${query_}`,
    headers: { authorization: `Bearer ${token}` },
  });
  assert.equal(answer.statusCode, 200, answer.body);
  return answer.body;
}

function check(text: string) {
  const verifier = new ExportVerifier();
  for (const line of text.replace(/\n$/, "").split("\n")) verifier.take(line);
  return verifier.result();
}

test("exports of the real log prove themselves: of one organization and of all", async () => {
  for (const whose of [path, "/v1/organizations/other", "/v1"]) {
    const checked = check(await exportText(whose));
    assert.ok(checked.holds && checked.complete, JSON.stringify(checked));
    await api.seal();
    const [latest] = await list("?pageSize=1", whose);
    assert.equal(latest?.type, "audit.exported", "who took a copy is part of the record");
  }
});

test("an entry that was changed in the database does not pass", async () => {
  const before = await exportText(path);
  assert.equal(check(before).holds, true);
  const position = (await list("?type=account.created"))[0]?.position;
  const change = `update setpoint.sealed_entry set actor = 'eve' where position = ${position}`;
  await query(api.url, change);
  assert.equal(check(await exportText(path)).holds, false);
  assert.equal(check(await exportText("/v1")).holds, false);
  await query(api.url, change.replace("eve", "operator"));
  assert.equal(check(await exportText(path)).holds, true);
});

test("CSV has a line for every entry, and its formulas are text", async () => {
  const text = await exportText(path, "?format=csv");
  const lines = text.trimEnd().split("\r\n");
  assert.match(lines[0] ?? "", /^"position","at","type","actor"/);
  assert.ok(lines.length > 3);
  assert.ok(lines.every((line) => !/(^|,)"[=+@-]/.test(line)));
});

async function setpoint(args: readonly string[]): Promise<{ readonly code: number; readonly out: string }> {
  const { code, data, notes } = await runCommand(api.app, args, {
    readStdin: () => Promise.resolve("canary-from-stdin\n"),
  });
  await api.seal();
  return { code, out: data + notes };
}

test("setpoint audit lists, exports and verifies, with the server and without", async () => {
  const listed = await setpoint(["audit", "list", "--type", "account."]);
  assert.deepEqual(
    [listed.code, /operator\s+account\.created\s+lab\s+first account\s+127\.0\.0\.1/.test(listed.out)],
    [0, true],
  );
  const file = join(folder, "audit.ndjson");
  assert.equal((await setpoint(["audit", "export", "-f", file])).code, 0);
  const offline = await setpoint(["audit", "verify", file]);
  assert.equal(offline.code, 0, offline.out);
  const head = /(\d+:[0-9a-f]{64})/.exec(offline.out)?.[1] ?? "";
  assert.equal((await setpoint(["audit", "verify", file, "--head", head])).code, 0);
  assert.equal((await setpoint(["audit", "verify", file, "--online"])).code, 0);
  assert.equal((await setpoint(["audit", "verify"])).code, 0);
  assert.equal((await setpoint(["audit", "verify", "--platform"])).code, 0);
  const lines = readFileSync(file, "utf8").split("\n");
  writeFileSync(file, lines.toSpliced(2, 1).join("\n"));
  const broken = await setpoint(["audit", "verify", file]);
  assert.equal(broken.code, 4);
  assert.match(broken.out, /line 3: entry \d+ follows on/);
});

test("setpoint token and secret work on what they name", async () => {
  const made = await setpoint(["token", "create", "ci", "--type", "service", "--allow", "organization.account=read"]);
  const value = /spt_svc_\w+/.exec(made.out)?.[0] ?? "";
  assert.equal(made.code, 0, made.out);
  const all = await setpoint(["token", "list", "--type", "service"]);
  assert.ok(!all.out.includes(value) && /ci\s+service-token\s+active/.test(all.out), all.out);
  const id = /([0-9a-f-]{36})\s+ci/.exec(all.out)?.[1] ?? "";
  assert.equal((await setpoint(["token", "revoke", id, "--type", "service"])).code, 0);
  const refused = await api.send("GET", `${path}/accounts`, undefined, { authorization: `Bearer ${value}` });
  assert.equal(refused.status, 401);
  assert.equal((await setpoint(["token", "create", "x", "--type", "workspace"])).code, 64);
  const stored = await setpoint(["secret", "set", "from-stdin"]);
  assert.deepEqual([stored.code, stored.out], [0, "secret/from-stdin stored as version 1\n"]);
  const rotated = await setpoint(["secret", "rotate"]);
  assert.equal(rotated.code, 0, rotated.out);
  assert.match(rotated.out, /Everything is sealed under the root key/);
  assert.equal((await setpoint(["secret", "remove", "from-stdin"])).code, 0);
});
