import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { CliWorld } from "../../src/cli/world.ts";
import type { Log } from "../../src/ports/log.ts";
import { createEngineOpener } from "../../src/runtime/engine-seal.ts";
import { systemSecretRandom } from "../../src/runtime/system-secret-random.ts";
import { Database } from "../../src/store/database.ts";
import { registerEngineKey } from "../../src/store/engine-keys.ts";
import { startTestApi, type TestApi } from "../support/api.ts";
import { type Ran, runCommand } from "../support/cli.ts";
import { query } from "../support/postgres.ts";
import { settleLook } from "../support/settled-look.ts";

let api: TestApi;
const folder = mkdtempSync(join(tmpdir(), "setpoint-adopt-"));
const silent: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const url = "http://127.0.0.1:8081";
before(async () => {
  api = await startTestApi();
  const administration = new Database({ url: api.url, role: "setpoint_admin", log: silent });
  await registerEngineKey(administration, createEngineOpener([systemSecretRandom.bytes(32)]));
  await administration.end();
});
after(async () => {
  rmSync(folder, { recursive: true });
  await api[Symbol.asyncDispose]();
});

function setpoint(args: readonly string[], change: Partial<CliWorld> = {}): Promise<Ran> {
  return runCommand(api.app, args, change);
}

interface There {
  readonly name: string;
  readonly type?: string;
  readonly values?: readonly string[];
}

/** What a scheduler would have seen of the zone. */
async function sees(zone: string, items: readonly There[], completeness = "complete"): Promise<void> {
  const seen = items.map(({ name, type = "A", values = ["192.0.2.1"] }) => {
    const key = `${name}.shop.test. ${type}`;
    const item = { name: `${name}.shop.test.`, type, ttlSeconds: 60, values };
    return { key, externalId: key, item, owned: false };
  });
  const observation = { hash: "seen", completeness, observedAtMs: 1_000_000, items: seen, truncated: false };
  await query(
    api.url,
    `insert into setpoint.subject_observation (organization_id, subject_id, observation)
     select s.organization_id, s.id, '${JSON.stringify(observation)}'::json from setpoint.subject as s
     join setpoint.resource as r on r.uid = s.resource_uid where r.name = '${zone}'
     on conflict (organization_id, subject_id) do update set observation = excluded.observation`,
  );
  await settleLook(api.url, zone);
}

async function recordNames(): Promise<readonly string[]> {
  const { data } = await setpoint(["get", "dnsrecord", "-o", "name"]);
  return data.split("\n").filter((line) => line !== "");
}

const inShop: readonly There[] = [
  { name: "www" },
  { name: "mail" },
  { name: "ssh", type: "SSHFP", values: ["1 1 00"] },
];
const connect = (...more: readonly string[]) => ["connect", "powerdns", "--name", "lab", "--url", url, ...more];

test("without a terminal nobody is asked for a key, and a mistake adds no account", async () => {
  const empty = join(folder, "empty.key");
  writeFileSync(empty, "\n");
  const cases: readonly (readonly [readonly string[], number, RegExp])[] = [
    [connect("--zone", "shop.test"), 64, /--api-key-file FILE, or - for stdin/],
    [connect("--api-key-file", join(folder, "none.key")), 64, /none\.key cannot be read \(ENOENT\)/],
    [connect("--api-key-file", empty), 64, /nothing in/],
    [connect("--api-key-file", "-"), 64, /nothing in the standard input/],
    [connect("--mode", "enforce"), 64, /no mode to begin with/],
    [connect("--zone", "Not a zone"), 64, /cannot be the name of a DnsZone/],
    [connect("--timeout", "soon"), 64, /not a duration/],
    [["connect", "powerdns", "the-key-itself"], 64, /too many arguments/],
  ];
  for (const [args, expected, message] of cases) {
    const { code, notes } = await setpoint(args);
    assert.equal(code, expected, `setpoint ${args.join(" ")}: ${notes}`);
    assert.match(notes, message);
  }
  assert.equal((await setpoint(["account", "list", "-o", "name"])).data, "");
});

test("on a terminal it goes step by step: key, zones, what is there, what to adopt, whether to act", async () => {
  const asked: string[] = [];
  const answers = ["shop.test", "www.shop.test. A, mail.shop.test./A", "no"];
  const ran = await setpoint(connect(), {
    interactive: true,
    askHidden: (question) => {
      asked.push(question);
      return Promise.resolve("canary-key");
    },
    ask: (question) => {
      asked.push(question);
      return Promise.resolve(answers[asked.length - 2] ?? "");
    },
    // The time it waits is the time in which a scheduler looks.
    sleep: () => sees("shop.test", inShop),
  });
  assert.equal(ran.code, 0, ran.notes);
  assert.equal(asked.length, 4, asked.join("\n"));
  assert.match(ran.data, /account\/lab added\nDnsZone\/shop\.test declared in mode observe\n/);
  assert.match(ran.data, /ssh\.shop\.test\. SSHFP +no: a DnsRecord cannot be of the type SSHFP/);
  assert.match(ran.data, /DnsRecord\/shop\.test-www-a declared: www\.shop\.test\. A\n/);
  assert.match(ran.notes, /setpoint plan dnszone\/shop\.test\n.*setpoint mode dnszone\/shop\.test enforce\n$/);
  assert.ok(!`${ran.data}${ran.notes}`.includes("canary-key"));
  assert.deepEqual(await recordNames(), ["dnsrecord/shop.test-mail-a", "dnsrecord/shop.test-www-a"]);
  const zone = JSON.parse((await setpoint(["get", "dnszone/shop.test", "-o", "json"])).data) as {
    metadata: { mode: string };
  };
  assert.equal(zone.metadata.mode, "observe", "nobody said that it may act");
});

test("repeated, it uses the account again; another server under the same name is a conflict", async () => {
  const again = await setpoint(connect("--zone", "shop.test"), { sleep: () => sees("shop.test", inShop) });
  assert.equal(again.code, 0, again.notes);
  assert.match(again.data, /account\/lab is there already\nDnsZone\/shop\.test is declared already\n/);
  const key = join(folder, "new.key");
  writeFileSync(key, "another\n");
  assert.match((await setpoint(connect("--api-key-file", key))).data, /account\/lab has a new credential\n/);
  const other = await setpoint(["connect", "powerdns", "--name", "lab", "--url", "http://127.0.0.1:9"]);
  assert.equal(other.code, 12);
  assert.match(other.notes, /Choose another --name/);
});

test("a look that does not come ends with its own code, and says what to do", async () => {
  const late = await setpoint(connect("--zone", "late.test", "--timeout", "0s"));
  assert.equal(late.code, 9, late.notes);
  assert.match(late.notes, /not looked at in time.*setpoint doctor/);
  for (const verb of [["import"], ["adopt", "--all"], ["release", "x"]]) {
    const [name = "", ...more] = verb;
    const unseen = await setpoint([name, "dnszone/late.test", ...more]);
    assert.equal(unseen.code, 4, unseen.notes);
    assert.match(unseen.notes, /was not looked at yet.*setpoint reconcile dnszone\/late\.test/);
  }
  await sees("late.test", [], "partial");
  assert.match((await setpoint(["import", "dnszone/late.test"])).notes, /was partial: what is there is not known/);
});

test("adopt takes items by name or all of them, all or none of what was named", async () => {
  await sees("shop.test", [
    { name: "www" },
    { name: "mail" },
    { name: "ftp" },
    { name: "old" },
    { name: "ssh", type: "SSHFP", values: ["1 1 00"] },
  ]);
  const target = "dnszone/shop.test";
  const cases: readonly (readonly [readonly string[], number, RegExp])[] = [
    [["adopt", target], 64, /the items by name, or --all/],
    [["adopt", target, "ftp.shop.test. A", "--all"], 64, /not both/],
    [["adopt", target, "ftp.shop.test. A", "nothing. A"], 6, /has no item "nothing\. A".*"ftp\.shop\.test\. A"/],
    [["adopt", target, "www.shop.test. A"], 64, /DnsRecord\/shop\.test-www-a declares it already/],
    [["adopt", target, "ftp.shop.test. A", "ssh.shop.test. SSHFP"], 64, /nothing was declared:[^]*type SSHFP/],
    [["adopt", "dnsrecord/shop.test-www-a", "--all"], 64, /name what it is part of/],
    [["adopt", "dnszone/none", "--all"], 6, /no DnsZone "none"/],
    [["release", target, "ftp.shop.test. A"], 64, /nobody declares it/],
    [["release", target], 64, /missing required argument/],
    [["import", target, "-o", "xml"], 64, /no output format "xml"/],
  ];
  const before = await recordNames();
  for (const [args, expected, message] of cases) {
    const { code, notes } = await setpoint(args);
    assert.equal(code, expected, `setpoint ${args.join(" ")}: ${notes}`);
    assert.match(notes, message);
  }
  assert.deepEqual(await recordNames(), before, "a refusal declares nothing");
  const all = await setpoint(["adopt", target, "--all"]);
  assert.equal(all.code, 0, all.notes);
  assert.match(all.notes, /left alone: ssh\.shop\.test\. SSHFP.*\n.*only looked at/);
  assert.equal((await recordNames()).length, before.length + 2);
  const imported = await setpoint(["import", target]);
  assert.equal(imported.data, "", "everything that can be declared is");
});

test("release deletes the declarations and leaves the things; a name that is taken is not proposed", async () => {
  const released = await setpoint(["release", "dnszone/shop.test", "old.shop.test./A", "ftp.shop.test. A"]);
  assert.equal(released.code, 0, released.notes);
  assert.match(released.data, /DnsRecord\/shop\.test-old-a released: old\.shop\.test\. A\n/);
  const gone = JSON.parse((await setpoint(["get", "dnsrecord/shop.test-old-a", "-o", "json"])).data) as {
    metadata: { deletion?: { orphan: boolean } };
  };
  assert.equal(gone.metadata.deletion?.orphan, true);
  const taken = await setpoint(["adopt", "dnszone/shop.test", "old.shop.test. A"]);
  assert.equal(taken.code, 64);
  assert.match(taken.notes, /there is a DnsRecord\/shop\.test-old-a already/);
});
