import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { CliWorld } from "../../src/cli/world.ts";
import { startTestApi, type TestApi } from "../support/api.ts";
import { type Ran, runCommand } from "../support/cli.ts";

let api: TestApi;
const folder = mkdtempSync(join(tmpdir(), "setpoint-apply-"));
before(async () => {
  api = await startTestApi();
  const words = "account add lab --provider powerdns --set url=http://127.0.0.1:8081 --credential env:KEY";
  const added = await setpoint(words.split(" "));
  assert.equal(added.code, 0, added.notes);
});
after(async () => {
  rmSync(folder, { recursive: true });
  await api[Symbol.asyncDispose]();
});

function setpoint(args: readonly string[], change: Partial<CliWorld> = {}): Promise<Ran> {
  return runCommand(api.app, args, change);
}

/** A person at a terminal, with the answers in the order of the questions. */
function terminal(...answers: readonly string[]): Partial<CliWorld> & { readonly asked: string[] } {
  const asked: string[] = [];
  const ask = (question: string) => {
    asked.push(question);
    return Promise.resolve(answers[asked.length - 1] ?? "");
  };
  return { interactive: true, ask, asked };
}

function manifests(file: string, ...documents: readonly object[]): string {
  const path = join(folder, file);
  writeFileSync(path, documents.map((document) => JSON.stringify(document)).join("\n---\n"));
  return path;
}

const zone = (name: string, labels: object = { team: "web" }) => ({
  apiVersion: "setpoint/v1",
  kind: "DnsZone",
  metadata: { name, mode: "observe", labels },
  spec: { account: "lab", zone: `${name}.test` },
});
const record = (name: string, of: string, labels: object = { team: "web" }) => ({
  apiVersion: "setpoint/v1",
  kind: "DnsRecord",
  metadata: { name, labels },
  spec: { zone: of, name, type: "A", values: ["192.0.2.1"] },
});

async function names(kind: string): Promise<readonly string[]> {
  const { data } = await setpoint(["get", kind, "-o", "json"]);
  const { items } = JSON.parse(data) as { items: { metadata: { name: string; deletion?: unknown } }[] };
  return items.filter(({ metadata }) => metadata.deletion === undefined).map(({ metadata }) => metadata.name);
}

test("a plan changes nothing, and is the same that apply shows before it asks", async () => {
  const file = manifests("first.yaml", record("www", "shop"), zone("shop"));
  const dry = await setpoint(["apply", "-f", file, "--dry-run"]);
  assert.equal(dry.code, 0, dry.notes);
  assert.match(
    dry.data,
    /create DnsZone\/shop\n[^]*create DnsRecord\/www\n +It needs DnsZone\/shop, which the same files declare/,
  );
  assert.deepEqual(await names("dnszone"), []);
  const planned = await setpoint(["plan", "-f", file]);
  assert.equal(planned.data, dry.data);
  const no = terminal("n");
  const refused = await setpoint(["apply", "-f", file], no);
  assert.equal(refused.code, 8);
  assert.deepEqual(no.asked, ["Apply? [y/N] "]);
  assert.ok(refused.notes.startsWith(dry.data), refused.notes);
  assert.deepEqual(await names("dnszone"), []);
  const yes = terminal("y");
  assert.equal((await setpoint(["apply", "-f", file], yes)).data, "DnsZone/shop created\nDnsRecord/www created\n");
  const again = terminal();
  assert.equal((await setpoint(["apply", "-f", file], again)).code, 0);
  assert.deepEqual(again.asked, [], "where nothing would change nobody is asked");
});

test("one refused document keeps all of them from being applied, and every mistake is named", async () => {
  const lost = manifests("lost.yaml", zone("fine"), record("a", "nowhere"), {
    ...record("b", "fine"),
    spec: { zone: "fine", name: "b", type: "A", values: ["x"] },
  });
  const { code, notes } = await setpoint(["apply", "-f", lost]);
  assert.equal(code, 64);
  assert.match(notes, /nothing was applied/);
  assert.match(notes, /lost\.yaml:3:\d+: \/spec\/zone: there is no DnsZone\/nowhere/);
  assert.match(notes, /lost\.yaml:5:\d+: \/spec\/values\/0: "x" is not an IPv4 address/);
  assert.ok(!(await names("dnszone")).includes("fine"));
});

test("--prune needs a selector, and the number of what it deletes", async () => {
  const all = manifests("all.yaml", zone("shop"), ...["www", "old-1", "old-2"].map((name) => record(name, "shop")));
  await setpoint(["apply", "-f", all, "--yes"]);
  await setpoint(["apply", "-f", manifests("other.yaml", record("others", "shop", { team: "mail" }))]);
  const file = manifests("fewer.yaml", zone("shop"), record("www", "shop"));
  const cases: readonly (readonly [readonly string[], number, RegExp])[] = [
    [["--prune"], 64, /needs a selector/],
    [["--prune", "-l", " "], 64, /needs a selector/],
    [["-l", "team=web"], 64, /go with --prune/],
    [["--prune", "-l", "team=web"], 5, /2 resources are in none of the files.*--confirm 2/],
    [["--prune", "-l", "team=web", "--yes"], 5, /--confirm 2/],
    [["--prune", "-l", "team=web", "--confirm", "3"], 5, /2 resources would be deleted, and 3 were confirmed/],
    [["--prune", "-l", "team==", "--confirm", "2"], 64, /./],
  ];
  for (const [more, expected, message] of cases) {
    const { code, notes } = await setpoint(["apply", "-f", file, ...more]);
    assert.equal(code, expected, `${more.join(" ")}: ${notes}`);
    assert.match(notes, message);
  }
  const typed = terminal("3");
  assert.equal((await setpoint(["apply", "-f", file, "--prune", "-l", "team=web"], typed)).code, 8);
  assert.deepEqual(await names("dnsrecord"), ["old-1", "old-2", "others", "www"], "nothing was deleted so far");
  const dry = await setpoint(["apply", "-f", file, "--prune", "-l", "team=web", "--dry-run"]);
  assert.match(dry.data, /delete DnsRecord\/old-1, which is in none of the files\ndelete DnsRecord\/old-2/);
  const done = await setpoint(["apply", "-f", file, "--prune", "-l", "team=web", "--confirm", "2"]);
  assert.equal(done.code, 0, done.notes);
  assert.match(done.data, /DnsRecord\/old-1 deleting\nDnsRecord\/old-2 deleting\n$/);
  assert.deepEqual(await names("dnsrecord"), ["others", "www"], "what the selector does not match stays");
});

test("kinds and scopes that the files do not speak of are not pruned; what is in use is refused by name", async () => {
  await setpoint(["apply", "-f", manifests("second.yaml", zone("spare"), record("spare-www", "spare"))]);
  const onlyRecords = manifests("records.yaml", record("www", "shop"));
  const records = await setpoint(["apply", "-f", onlyRecords, "--prune", "-l", "team=web", "--confirm", "1"]);
  assert.match(records.data, /DnsRecord\/spare-www deleting\n$/);
  assert.deepEqual(await names("dnszone"), ["shop", "spare"], "no zone is in the files, so none is a leftover");
  await setpoint(["apply", "-f", manifests("third.yaml", record("mail-www", "spare", { team: "mail" }))]);
  const onlyZones = manifests("zones.yaml", zone("shop"));
  const zones = await setpoint(["apply", "-f", onlyZones, "--prune", "-l", "team=web", "--confirm", "1"]);
  assert.equal(zones.code, 12, zones.notes);
  assert.match(zones.notes, /DnsZone\/spare: .*DnsRecord\/mail-www/);
  assert.match(zones.notes, /0 of 1 were deleted before this one/);
});

test("what was rolled back can be applied again: the terminal stays the owner of its fields", async () => {
  const values = (value: string) => ({
    ...record("moving", "shop"),
    spec: { zone: "shop", name: "moving", type: "A", values: [value] },
  });
  for (const value of ["192.0.2.1", "192.0.2.2"])
    await setpoint(["apply", "-f", manifests("moving.yaml", values(value))]);
  await api.seal();
  const back = await setpoint(["rollback", "dnsrecord/moving", "--to-generation", "1"]);
  assert.equal(back.code, 0, back.notes);
  const on = await setpoint(["apply", "-f", manifests("moving.yaml", values("192.0.2.3"))]);
  assert.deepEqual([on.code, on.data], [0, "DnsRecord/moving changed\n"], on.notes);
});
