import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { parseAllDocuments } from "yaml";
import { runCommand, type Ran } from "../support/cli.ts";
import type { CliWorld } from "../../src/cli/world.ts";
import { startTestApi, type TestApi } from "../support/api.ts";
import { query } from "../support/postgres.ts";

let api: TestApi;
const folder = mkdtempSync(join(tmpdir(), "setpoint-cli-"));
before(async () => {
  api = await startTestApi();
});
after(async () => {
  rmSync(folder, { recursive: true });
  await api[Symbol.asyncDispose]();
});

function setpoint(args: readonly string[], change: Partial<CliWorld> = {}): Promise<Ran> {
  return runCommand(api.app, args, change);
}

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const good = `apiVersion: setpoint/v1
kind: DnsZone
metadata: { name: example, mode: observe, labels: { team: web } }
spec: { account: lab, zone: example.test }
---
apiVersion: setpoint/v1
kind: DnsRecord
metadata: { name: www }
spec: { zone: example, name: www, type: A, values: [192.0.2.1] }
`;

test("what is applied can be read back in every format, and applied again without a change", async () => {
  const added = await setpoint([
    "account",
    "add",
    "lab",
    "--provider",
    "powerdns",
    "--set",
    "url=http://127.0.0.1:8081",
    "--credential",
    "env:KEY",
  ]);
  assert.deepEqual(added, { code: 0, data: "account/lab added\n", notes: "" });
  const applied = await setpoint(["apply", "-f", file("good.yaml", good)]);
  assert.equal(applied.data, "DnsZone/example created\nDnsRecord/www created\n");
  assert.match(applied.notes, /^create DnsZone\/example\n/, "the plan comes first, on the other stream");
  assert.match(applied.notes, /It needs DnsZone\/example, which the same files declare/);
  assert.match(applied.notes, /2 created, 0 changed, 0 unchanged\n$/);
  const table = await setpoint(["get", "dnszone"]);
  assert.match(table.data, /^NAME +MODE +READY/);
  assert.match(table.data, /^example +observe +Unknown/m);
  assert.equal((await setpoint(["get", "DnsZones", "-o", "name"])).data, "dnszone/example\n");
  assert.equal((await setpoint(["get", "dnszone", "-l", "team=other", "-o", "name"])).data, "");
  const yaml = (await setpoint(["get", "dnsrecord/www", "-o", "yaml"])).data;
  assert.equal(parseAllDocuments(yaml).length, 1);
  assert.match((await setpoint(["apply", "-f", file("again.yaml", yaml)])).data, /DnsRecord\/www unchanged/);
  assert.equal(
    (JSON.parse((await setpoint(["get", "dnszone", "-o", "json"])).data) as { items: unknown[] }).items.length,
    1,
  );
});

test("a resource that differs says in how many things", async () => {
  const synced = { type: "Synced", status: "False", reason: "Differs", message: "3 differ", sinceMs: 1, generation: 1 };
  const status = { observedGeneration: 1, conditions: [synced], differences: 3, owned: 0, failing: true };
  await query(
    api.url,
    `insert into setpoint.subject_state (organization_id, subject_id, status)
     select organization_id, id,
       ('${JSON.stringify(status)}'::jsonb || jsonb_build_object('lookedAtMs', setpoint.now_ms()))::json from setpoint.subject where name = 'example'`,
  );
  assert.match((await setpoint(["get", "dnszone"])).data, /^example +observe +- +False \(3\) /m);
});

test("what a resource needs is applied before it, wherever it stands in the files", async () => {
  await setpoint(["account", "add", "cloud", "--provider", "hetzner-cloud", "--credential", "env:KEY"]);
  const host = `apiVersion: setpoint/v1
kind: Host
metadata: { name: web-1 }
spec: { account: cloud, type: cx22, image: debian-12, location: fsn1, networks: [{ name: backend }], firewalls: [{ name: ssh }] }
---
apiVersion: setpoint/v1
kind: Firewall
metadata: { name: ssh }
spec: { account: cloud, rules: [] }
`;
  const network = `---
apiVersion: setpoint/v1
kind: CloudNetwork
metadata: { name: backend }
spec: { account: cloud, range: 10.0.0.0/16 }
`;
  const lacking = await setpoint(["apply", "-f", file("host.yaml", host)]);
  assert.match(lacking.notes, /networks\/0\/name: there is no CloudNetwork\/backend in its scope/);
  assert.equal(lacking.data, "");
  const applied = await setpoint(["apply", "-f", file("host.yaml", host + network)]);
  const made = applied.data.trim().split("\n");
  assert.deepEqual([made.at(-1), made.length], ["Host/web-1 created", 3], applied.notes);
});

test("a mistake in a file is named by file, line and column, and nothing is applied", async () => {
  const broken = `${good}---
apiVersion: setpoint/v1
kind: DnsRecord
metadata:
  name: Bad Name
  colour: red
spec: {}
`;
  const path = file("broken.yaml", broken);
  const { code, data, notes } = await setpoint(["apply", "-f", path]);
  assert.equal(code, 64);
  assert.equal(data, "");
  assert.match(notes, /nothing was applied/);
  assert.ok(notes.includes(`${path}:14:9: /metadata/name: must be 1 to 63`), notes);
  assert.ok(notes.includes(`${path}:15:11: /metadata/colour: unknown field colour`), notes);
});

test("what the server refuses is named by its line too", async () => {
  const path = file(
    "refused.yaml",
    `apiVersion: setpoint/v1\nkind: DnsRecord\nmetadata: { name: bad }\nspec:\n  zone: example\n  name: www\n  type: A\n  values:\n    - 192.0.2.1\n    - not-an-address\n`,
  );
  const { code, notes } = await setpoint(["apply", "-f", path]);
  assert.equal(code, 64);
  assert.ok(notes.includes(`${path}:10:7: /spec/values/1: "not-an-address" is not an IPv4 address`), notes);
  assert.match(notes, /nothing was applied/);
});

test("files that cannot be used say why", async () => {
  const cases: readonly (readonly [string, string, RegExp])[] = [
    ["syntax.yaml", "kind: [", /syntax\.yaml:1:8: /],
    ["twice.yaml", "kind: A\nkind: B\n", /twice\.yaml:2:1: Map keys must be unique/],
    ["empty.yaml", "\n---\n", /there is no manifest/],
    ["list.yaml", "- 1\n", /list\.yaml:1:1: /],
    [
      "kind.yaml",
      good.replace("kind: DnsZone", "kind: Dnszone"),
      /kind\.yaml:2:7: there is no kind "Dnszone"\. Did you mean DnsZone\?/,
    ],
    [
      "bomb.yaml",
      `a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\n`,
      /bomb\.yaml:1:1: .*alias/i,
    ],
  ];
  for (const [name, text, expected] of cases) {
    const { code, notes } = await setpoint(["apply", "-f", file(name, text)]);
    assert.equal(code, 64, name);
    assert.match(notes, expected);
    assert.doesNotMatch(notes, / at .*\.ts/, "no stack trace");
  }
  assert.match(
    (await setpoint(["apply", "-f", join(folder, "none.yaml")])).notes,
    /none\.yaml cannot be read \(ENOENT\)/,
  );
});

test("each way to fail has the exit code that scripts were promised", async () => {
  const cases: readonly (readonly [readonly string[], number])[] = [
    [["get", "dnszone", "nowhere"], 6],
    [["get", "unicorn"], 64],
    [["get"], 64],
    [["dance"], 64],
    [["get", "dnszone", "-o", "xml"], 64],
    [["approve", "none", "--digest", "0123456789"], 6],
    [["approve", "none"], 64],
    [["delete", "dnszone"], 64],
    [["delete", "dnszone/example", "--confirm", "7"], 5],
    [["freeze"], 64],
    [["freeze", "--reason", "because", "--for", "soon"], 64],
    [["resume"], 6],
    [["mode", "organization", "yolo"], 64],
    [["mode", "galaxy", "observe"], 64],
    [["wait", "dnszone/example", "--timeout", "0s"], 9],
    [["account", "add", "lab", "--provider", "powerdns", "--set", "url=http://127.0.0.1:1"], 12],
    [["get", "dnszone", "-O", "nobody"], 6],
    [["get", "dnszone", "-W", "alone"], 64],
    [["--help"], 0],
    [["--version"], 0],
  ];
  for (const [args, expected] of cases) {
    const { code, notes } = await setpoint(args);
    assert.equal(code, expected, `setpoint ${args.join(" ")}: ${notes}`);
  }
  assert.equal(
    (await setpoint(["status"], { environment: { SETPOINT_TOKEN: "wrong", SETPOINT_URL: "http://test" } })).code,
    3,
  );
  const empty = { SETPOINT_DATA: join(folder, "nothing-here"), SETPOINT_URL: "http://test" };
  assert.equal((await setpoint(["status"], { environment: empty })).code, 3);
  const down = await setpoint(["status"], {
    request: () =>
      Promise.reject(new TypeError("fetch failed", { cause: Object.assign(new Error("x"), { code: "ECONNREFUSED" }) })),
  });
  assert.equal(down.code, 1);
  assert.match(down.notes, /does not answer at http:\/\/test \(ECONNREFUSED\)\. Start it with "npm start"/);
});

test("stopping and going on: pause, list, freeze, resume", async () => {
  const pause = await setpoint(["pause", "dnszones/example", "--reason", "moving house", "--level", "deletes"]);
  assert.equal(pause.code, 0);
  const id = pause.data.trim();
  assert.match(pause.notes, /^deletes paused at dnszones\/example until/);
  const listed = await setpoint(["pause", "list"]);
  assert.match(listed.data, /dnszones\/example +deletes +operator +\d+m +moving house/);
  assert.doesNotMatch(listed.data, /resource\//, "nobody knows ids");
  assert.match((await setpoint(["why", "dnszone/example"])).data, /deletes paused at the resource itself by operator/);
  const asked = await setpoint(["resume", id], { interactive: true, ask: () => Promise.resolve("n") });
  assert.equal(asked.code, 8);
  assert.equal((await setpoint(["resume", id])).code, 64, "nobody can be asked, and nothing is assumed");
  assert.match((await setpoint(["resume", id, "--yes"])).notes, /would run: DnsZone\/example.*resumed/s);
  const elsewhere = (await setpoint(["pause", "dnsrecords/www", "--reason", "moving house"])).data.trim();
  const besides = await setpoint(["resume", elsewhere, "--yes"]);
  assert.match(besides.notes, /^Nothing would be written, as far as was last seen\.\nresumed/, "nothing waits there");
  assert.equal((await setpoint(["freeze", "--reason", "incident", "--level", "all", "--for", "2h"])).code, 0);
  const thawed = await setpoint(["resume"], { interactive: true, ask: () => Promise.resolve("yes") });
  assert.equal(thawed.code, 0);
  assert.match((await setpoint(["pause", "list"])).notes, /Nothing is paused/);
});

test("modes and policies are set from the command line", async () => {
  assert.equal((await setpoint(["mode", "dnszone/example", "propose"])).code, 0);
  assert.match((await setpoint(["get", "dnszone"])).data, /example +propose/);
  assert.equal((await setpoint(["mode", "organization", "observe"])).code, 0);
  assert.equal((await setpoint(["policy", "organization"])).data, "mode: observe\n");
  const policy = file("policy.yaml", "limits:\n  changesPerCycle: 7\n");
  const waits = await setpoint(["policy", "organization", "-f", policy]);
  assert.equal(waits.code, 10, "leaving observe lets more through");
  const command = /setpoint (approve \S+ --digest \S+)/.exec(waits.notes)?.[1] ?? "";
  assert.equal((await setpoint(command.split(" "))).code, 0);
  assert.equal((await setpoint(["policy", "organization"])).data, "limits:\n  changesPerCycle: 7\n");
  assert.equal((await setpoint(["create", "project", "web"])).data, "project/web created\n");
  assert.equal((await setpoint(["mode", "project", "observe", "-p", "web"])).code, 0);
});

test("text from outside cannot take over the terminal", async () => {
  const reason = "\u001b[2Jgone\u0007";
  assert.equal((await setpoint(["pause", "organization", "--reason", reason])).code, 0);
  const { data } = await setpoint(["pause", "list"]);
  assert.ok(data.includes("gone"));
  assert.ok(!data.includes("\u001b") && !data.includes("\u0007"));
  assert.equal((await setpoint(["doctor"])).code, 1, "a pause in force is something to know");
});

test("colours are only used where they were asked for", async () => {
  assert.ok((await setpoint(["get", "dnszone"], { colours: true })).data.includes("\u001b["));
  assert.ok(!(await setpoint(["get", "dnszone"])).data.includes("\u001b["));
});
