import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { parseAllDocuments } from "yaml";
import type { CliWorld } from "../../src/cli/world.ts";
import { startTestApi, type TestApi, token } from "../support/api.ts";
import { type Ran, runCommand } from "../support/cli.ts";

let api: TestApi;
const folder = mkdtempSync(join(tmpdir(), "setpoint-cli-"));
const zone = (account: string, labels = "{ team: web }") => `apiVersion: setpoint/v1
kind: DnsZone
metadata: { name: example, mode: observe, labels: ${labels} }
spec: { account: ${account}, zone: example.test }
`;
const record = `apiVersion: setpoint/v1
kind: DnsRecord
metadata: { name: www }
spec: { zone: example, name: www, type: A, values: [192.0.2.1] }
`;
before(async () => {
  api = await startTestApi();
  const account = { provider: "powerdns", settings: { url: "http://127.0.0.1:8081" } };
  for (const name of ["lab", "field"])
    await api.send("POST", "/v1/organizations/default/accounts", { name, ...account });
  writeFileSync(join(folder, "all.yaml"), `${zone("lab")}---\n${record}`);
  assert.equal((await setpoint("apply", "-f", join(folder, "all.yaml"))).code, 0);
});
after(async () => {
  rmSync(folder, { recursive: true });
  await api[Symbol.asyncDispose]();
});

function setpoint(...args: readonly string[]): Promise<Ran> {
  return runCommand(api.app, args);
}

function inFolder(change: Record<string, string>): Partial<CliWorld> {
  return { environment: { SETPOINT_TOKEN: token, SETPOINT_CONFIG: join(folder, "config"), ...change } };
}

test("describe, tree, events and history show one resource from every side", async () => {
  const described = await setpoint("describe", "dnszone/example");
  assert.match(described.data, /declared +generation 1, revision 1, by operator/);
  assert.match(described.data, /CONDITION +STATUS/);
  assert.match(described.data, /fields by owner:\n[\s\S]*\/account: cli/);
  assert.match((await setpoint("tree", "dnszone/example")).data, /^DnsZone\/example.*\n└─ DnsRecord\/www/m);
  assert.match((await setpoint("tree", "dnsrecord/www")).data, /^DnsZone\/example\n└─ DnsRecord\/www/m);
  await api.seal();
  assert.match((await setpoint("events", "dnszone/example")).data, /resource\.created +operator/);
  const history = JSON.parse((await setpoint("history", "dnszone/example", "-o", "json")).data) as { items: unknown[] };
  assert.ok(history.items.length > 0);
  assert.equal((await setpoint("describe", "dnszone/none")).code, 6);
});

test("explain tells what may stand in a manifest, and refuses a field that is not there", async () => {
  const spec = await setpoint("explain", "dnszone.spec");
  assert.match(spec.data, /account +string +yes/);
  const unknown = await setpoint("explain", "dnszone.spec.acount");
  assert.equal(unknown.code, 64);
  assert.match(unknown.notes, /there is no field "acount". Fields: .*account/);
});

test("diff and plan write nothing; with --detailed-exitcode they say whether there is something to change", async () => {
  const changed = join(folder, "changed.yaml");
  writeFileSync(changed, zone("field"));
  const before = await api.send("GET", "/v1/organizations/default/dnszones/example");
  const diff = await setpoint("diff", "-f", changed, "--detailed-exitcode");
  assert.equal(diff.code, 2, diff.notes);
  assert.match(diff.data, /update DnsZone\/example\n +\/spec\/account: lab → field/);
  assert.equal((await setpoint("diff", "-f", changed)).code, 0);
  assert.equal((await setpoint("diff", "-f", join(folder, "all.yaml"), "--detailed-exitcode")).code, 0);
  assert.match((await setpoint("plan", "-f", changed)).data, /outside, DnsZone\/example at .*never looked at/);
  assert.equal((await setpoint("plan")).code, 64);
  assert.match((await setpoint("plan", "dnszone/example")).data, /DnsZone\/example.*: unknown/);
  const after = await api.send("GET", "/v1/organizations/default/dnszones/example");
  assert.deepEqual(after.body["metadata"], before.body["metadata"]);
});

test("rollback declares again what was declared before, and shows it first when asked to", async () => {
  const changed = join(folder, "labelled.yaml");
  writeFileSync(changed, zone("field"));
  assert.equal((await setpoint("apply", "-f", changed)).code, 0);
  const shown = await setpoint("rollback", "dnszone/example", "--to-generation", "1", "--dry-run");
  assert.match(shown.data, /\/spec\/account: field → lab/);
  assert.equal((await setpoint("rollback", "dnszone/example", "--to-generation", "1")).code, 0);
  const now = await api.send("GET", "/v1/organizations/default/dnszones/example");
  assert.equal((now.body["spec"] as { account: string }).account, "lab");
  assert.equal((await setpoint("rollback", "dnszone/example")).code, 64);
  assert.equal((await setpoint("rollback", "dnszone/example", "--to-generation", "99")).code !== 0, true);
});

test("export prints manifests that change nothing when they are applied again", async () => {
  const exported = await setpoint("export");
  assert.equal(parseAllDocuments(exported.data).length, 2);
  const again = join(folder, "again.yaml");
  writeFileSync(again, exported.data);
  assert.match((await setpoint("apply", "-f", again)).notes, /0 created, 0 changed, 2 unchanged/);
});

test("every output format of a list", async () => {
  assert.match((await setpoint("get", "dnszone", "-o", "wide")).data, /NAME.*GENERATION.*UID\nexample/);
  const lines = (await setpoint("get", "dnszone", "-o", "ndjson")).data.trimEnd().split("\n");
  assert.equal((JSON.parse(lines[0] ?? "") as { kind: string }).kind, "DnsZone");
  assert.equal((await setpoint("get", "dnszone", "-o", "name")).data, "dnszone/example\n");
  assert.equal((await setpoint("get", "dnszone", "-o", "xml")).code, 64);
});

test("get -w prints what is there, then what changes, until it is stopped", async () => {
  const stop = new AbortController();
  const names = new Set<string>();
  const declared = Promise.withResolvers<void>();
  const writeData = (line: string) => {
    names.add((JSON.parse(line) as { object: { metadata: { name: string } } }).object.metadata.name);
    declared.resolve();
    if (names.has("mail")) stop.abort();
  };
  const watching = runCommand(api.app, ["get", "dnsrecord", "-w", "-o", "ndjson"], {
    writeData,
    timer: () => stop.signal,
  });
  await declared.promise;
  await api.send("POST", "/v1/organizations/default/dnsrecords", {
    apiVersion: "setpoint/v1",
    kind: "DnsRecord",
    metadata: { name: "mail" },
    spec: { zone: "example", name: "mail", type: "A", values: ["192.0.2.2"] },
  });
  await api.seal();
  assert.equal((await watching).code, 0);
  assert.deepEqual(names, new Set(["www", "mail"]));
});

test("suspend stops one resource and unfreeze ends a freeze", async () => {
  assert.equal((await setpoint("suspend", "dnszone/example")).code, 64, "without a reason");
  const suspended = await setpoint("suspend", "dnszone/example", "--reason", "moving it");
  assert.equal(suspended.code, 0, suspended.notes);
  assert.match((await setpoint("pause", "list")).data, /writes +operator .*moving it/);
  assert.equal((await setpoint("resume", suspended.data.trim(), "--yes")).code, 0);
  assert.equal((await setpoint("freeze", "--reason", "test")).code, 0);
  assert.equal((await setpoint("unfreeze", "--yes")).code, 0);
  assert.equal((await setpoint("unfreeze", "--yes")).code, 6);
});

test("a context says where commands go; options and variables win over it", async () => {
  const run = (args: readonly string[], change: Record<string, string> = {}) =>
    runCommand(api.app, args, inFolder(change));
  assert.equal((await run(["context", "use", "none"])).code, 6);
  await run(["context", "set", "lab", "--url", "http://test", "-O", "default"]);
  await run(["context", "set", "other", "--url", "http://test", "-O", "elsewhere"]);
  assert.equal((await run(["get", "dnszone"])).code, 6, "elsewhere does not exist");
  assert.equal((await run(["get", "dnszone", "-O", "default"])).code, 0);
  await run(["context", "use", "lab"]);
  assert.match((await run(["context"])).data, /\* +lab +http:\/\/test +default/);
  assert.match((await run(["get", "dnszone"])).data, /example/);
  assert.equal((await run(["get", "dnszone"], { SETPOINT_ORGANIZATION: "elsewhere" })).code, 6);
});

test("api sends any request, and completion knows commands, options and names", async () => {
  assert.match((await setpoint("api", "GET", "/v1/summary")).data, /"organizations": 1/);
  assert.equal((await setpoint("api", "FETCH", "/v1/summary")).code, 64);
  assert.equal((await setpoint("api", "POST", "/v1/freeze", "-d", "{")).code, 64);
  const complete = async (...words: readonly string[]) => (await setpoint("__complete", "--", ...words)).data;
  assert.equal(await complete("rec"), "reconcile\n");
  assert.match(await complete("get", "--la"), /--labels/);
  assert.equal(await complete("why", "dnsz"), "dnszone/\n");
  assert.equal(await complete("why", "dnszone/e"), "dnszone/example\n");
  assert.match((await setpoint("completion", "bash")).data, /complete -o default -F _setpoint setpoint/);
  assert.equal((await setpoint("completion", "tcsh")).code, 64);
});

test("a proposed set of changes is shown, approved by its digest, and applied whole", async () => {
  const file = join(folder, "proposed.yaml");
  writeFileSync(file, zone("field"));
  assert.equal((await setpoint("plans", "propose", "-f", file)).code, 64, "without a reason");
  const proposed = await setpoint("plans", "propose", "-f", file, "--reason", "moving to the field");
  assert.equal(proposed.code, 0, proposed.notes);
  const id = proposed.data.trim();
  assert.match((await setpoint("plans", "list")).data, new RegExp(`${id} +open +operator +1 .*moving to the field`));
  const shown = await setpoint("plans", "show", id);
  assert.match(shown.data, /\/spec\/account: lab → field/);
  assert.equal((await setpoint("plans", "apply", id)).code !== 0, true, "not approved yet");
  assert.equal((await setpoint("plans", "approve", id, "--digest", "another")).code, 12);
  const digest = /digest: (\S+)/.exec(shown.data)?.[1] ?? "";
  assert.equal((await setpoint("plans", "approve", id, "--digest", digest)).code, 0);
  assert.equal((await setpoint("plans", "apply", id)).code, 0);
  const now = await api.send("GET", "/v1/organizations/default/dnszones/example");
  assert.equal((now.body["spec"] as { account: string }).account, "field");
});
