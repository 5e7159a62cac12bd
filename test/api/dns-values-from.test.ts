import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { resourceSchema } from "../../src/control-api/schemas/resource.ts";
import { startTestApi, type TestApi, whatever } from "../support/api.ts";
import { addLab, base, code, declare, record, status, takeEngine, zone } from "../support/zones.ts";

let api: TestApi;
before(async () => {
  api = await startTestApi();
  await addLab(api);
  const account = { name: "cloud", provider: "hetzner-cloud", settings: {} };
  assert.equal((await api.send("POST", `${base}/accounts`, account)).status, 201);
  const spec = { account: "cloud", type: "cx22", image: "debian-12", location: "fsn1" };
  const host = { apiVersion: "setpoint/v1", kind: "Host", metadata: { name: "web-1", mode: "observe" }, spec };
  const made = await api.send("POST", `${base}/hosts`, host);
  assert.ok(made.status === 201 || made.status === 202, JSON.stringify(made.body));
  await declare(api, zone("shop"));
});
after(() => api[Symbol.asyncDispose]());

const from = (name: string, field: string, type = "A") =>
  record(`www-${field}`, "shop", { type, values: undefined, valuesFrom: [{ kind: "Host", name, field }] });
const errorsOf = async (manifest: object) => {
  const refused = await api.send("POST", `${base}/dnsrecords`, manifest);
  assert.equal(refused.status, 422, JSON.stringify(refused.body));
  return JSON.stringify(refused.body);
};

test("what a record takes must be there, be shown, and fit", async () => {
  assert.match(await errorsOf(from("web-2", "ipv4")), /web-2/);
  assert.match(await errorsOf(from("web-1", "name")), /valuesFrom\/0\/field.*shows no/);
  assert.match(await errorsOf(from("web-1", "ipv6")), /A holds ipv4/);
  const { spec } = from("web-1", "ipv4");
  assert.match(await errorsOf({ ...from("web-1", "ipv4"), spec: { ...spec, valuesFrom: undefined } }), /at least one/);
});

test("a host in use is not deleted, its users are named, and a held value shows since when", async () => {
  await declare(api, from("web-1", "ipv4"));
  const refused = await api.send("DELETE", `${base}/hosts/web-1`, undefined, whatever);
  assert.equal(code(refused), "IN_USE");
  assert.match(JSON.stringify(refused.body["users"]), /DnsRecord.*www-ipv4/);
  const engine = await takeEngine(api);
  const stale = [{ key: "www-ipv4.shop.test. A", reason: "Host/web-1 shows no ipv4" }];
  await engine.settle("shop", { status: status({ nowMs: 1_700_000_000_000, stale }) });
  const shown = resourceSchema.parse((await api.send("GET", `${base}/dnsrecords/www-ipv4`)).body);
  const held = shown.status.conditions.find(({ type }) => type === "Stale");
  assert.match(held?.message ?? "", /the last good value stands: Host\/web-1 shows no ipv4/);
  assert.equal(held?.since, "2023-11-14T22:13:20.000Z");
  const other = resourceSchema.parse((await api.send("GET", `${base}/dnszones/shop`)).body);
  assert.ok(!other.status.conditions.some(({ type }) => type === "Stale"));
});

test("a provider without zones, or that cannot make them, says so when the zone is declared", async () => {
  const add = { name: "other", provider: "ionos", settings: {} };
  assert.equal((await api.send("POST", `${base}/accounts`, add)).status, 201);
  const refused = await api.send("POST", `${base}/dnszones`, zone("elsewhere", { spec: { account: "other" } }));
  assert.match(JSON.stringify(refused.body["errors"]), /\/spec\/account.*ionos.*has no zones/);
  const signed = { account: "cloud", makesZone: true, nameservers: ["ns1.example.test"], dnssec: true };
  const unsigned = await api.send("POST", `${base}/dnszones`, zone("signed", { spec: signed }));
  assert.match(JSON.stringify(unsigned.body["errors"]), /\/spec\/dnssec.*cannot sign/);
});
