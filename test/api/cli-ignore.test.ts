import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startTestApi, type TestApi } from "../support/api.ts";
import { type Ran, runCommand } from "../support/cli.ts";
import { query } from "../support/postgres.ts";
import { zoneManifests } from "../support/zone-manifests.ts";

let api: TestApi;
const manifests = zoneManifests("example", "192.0.2.1");
const key = "www.example.test. A";
before(async () => {
  api = await startTestApi();
  const account = { name: "lab", provider: "powerdns", settings: { url: "http://127.0.0.1:8081" } };
  await api.send("POST", "/v1/organizations/default/accounts", account);
  assert.equal((await apply()).code, 0);
});
after(() => api[Symbol.asyncDispose]());

function setpoint(...args: readonly string[]): Promise<Ran> {
  return runCommand(api.app, args);
}

function apply(...more: readonly string[]): Promise<Ran> {
  return runCommand(api.app, ["apply", "-f", "-", ...more], { readStdin: () => Promise.resolve(manifests) });
}

test("a rule is made, shown wherever somebody looks for the difference, and taken back", async () => {
  const item = { name: "www.example.test.", type: "A", ttlSeconds: 3_600, values: ["192.0.2.1"] };
  const observation = {
    hash: "seen",
    completeness: "complete",
    observedAtMs: 1_000_000,
    items: [{ key, externalId: key, item, owned: true }],
    truncated: false,
  };
  await query(
    api.url,
    `insert into setpoint.subject_observation (organization_id, subject_id, observation)
     select s.organization_id, s.id, '${JSON.stringify(observation)}'::json from setpoint.subject as s`,
  );
  assert.match((await apply("--dry-run")).data, /\/ttlSeconds: 3600 → 60/);

  const made = await setpoint("ignore", "dnszone/example", "/ttlSeconds", "--reason", "the provider rounds it");
  assert.equal(made.code, 0, made.notes);
  assert.match(
    (await setpoint("ignore", "dnszone/example")).data,
    /\/ttlSeconds +every +DnsZone\/example +organization\S+ +taken back +the prov/,
  );
  const planned = await apply("--dry-run");
  assert.match(
    planned.data,
    /ignored: \/ttlSeconds of www\.example\.test\. A: 3600 stays, not 60 \(rule of .*the provider rounds it\)/,
  );
  assert.doesNotMatch(planned.data, /\/ttlSeconds: 3600 → 60/);
  for (const args of [
    ["why", "dnszone/example"],
    ["why", "dnsrecord/www"],
    ["drift"],
    ["limits"],
    ["policy-history"],
  ]) {
    const { data, notes } = await setpoint(...args);
    assert.match(data + notes, /\/ttlSeconds[^]*the provider rounds it/, args.join(" "));
  }
  await api.seal();
  assert.match((await setpoint("audit", "list")).data, /policy\S* .*the provider rounds it/);

  const ending = ["ignore", "dnszone/example", "/ttlSeconds", "--reason", "for a week", "--until"];
  assert.equal((await setpoint(...ending, "7d")).code, 0);
  assert.match((await setpoint("ignore", "dnszone/example")).data, /\d{4}-\d\d-\d\dT\S+Z +for a week/);
  for (const wrong of ["2020-01-01T00:00:00Z", "soon"])
    assert.equal((await setpoint(...ending, wrong)).code, 64, `--until ${wrong}`);
  assert.equal((await setpoint("ignore", "dnszone/example", "/ttlSeconds", "--remove")).code, 0);
  assert.equal((await setpoint("ignore", "dnszone/example", "/ttlSeconds", "--remove")).code, 6);
  assert.match((await apply("--dry-run")).data, /\/ttlSeconds: 3600 → 60/);
});

test("a rule of one record holds for what that record declares alone", async () => {
  const made = await setpoint("ignore", "dnsrecord/www", "/ttlSeconds", "--item", key, "--reason", "for the test");
  assert.equal(made.code, 0, made.notes);
  assert.match((await apply("--dry-run")).data, /ignored: \/ttlSeconds of www/);
  assert.match((await setpoint("why", "dnsrecord/www")).data, /--item 'www\.example\.test\. A' --remove/);
  assert.equal((await setpoint("ignore", "dnsrecord/www", "/ttlSeconds", "--item", key, "--remove")).code, 0);
});

test("what would ignore nothing, everything or without a reason is refused", async () => {
  const cases: readonly (readonly [readonly string[], number, RegExp])[] = [
    [["dnszone/example", "/ttlSeconds"], 64, /say why with --reason/],
    [["dnszone/example", "ttlSeconds", "--reason", "because"], 64, /JSON pointer, such as \/ttlSeconds/],
    [["dnszone/example", "/", "--reason", "because"], 64, /JSON pointer/],
    [["dnszone/none", "/ttlSeconds", "--reason", "because"], 6, /no DnsZone "none"/],
    [["nothing/example", "/ttlSeconds", "--reason", "because"], 64, /no kind "nothing"/],
  ];
  for (const [args, expected, message] of cases) {
    const { code, notes } = await setpoint("ignore", ...args);
    assert.equal(code, expected, `${args.join(" ")}: ${notes}`);
    assert.match(notes, message);
  }
  const rule = { kind: "DnsZonne", field: "/ttlSeconds", reason: "because" };
  const answer = await api.send("PUT", "/v1/organizations/default/policy", { ignore: [rule] }, { "if-match": "*" });
  assert.equal(answer.body["code"], "KIND_UNKNOWN");
  assert.match(JSON.stringify(answer.body["errors"]), /\/ignore\/0\/kind/);
});
