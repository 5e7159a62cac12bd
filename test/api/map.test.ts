import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { cardsAtMost, type MapDocument } from "../../src/control-api/schemas/map.ts";
import { startTestApi, type TestApi } from "../support/api.ts";

const base = "/v1/organizations/default";
let api: TestApi;

async function declare(path: string, kind: string, name: string, spec: object, mode = "observe"): Promise<string> {
  const manifest = { apiVersion: "setpoint/v1", kind, metadata: { name, mode }, spec };
  const answer = await api.send("POST", `${base}${path}`, manifest);
  // What is made by an operation is accepted, the rest is declared at once.
  assert.ok([201, 202].includes(answer.status), JSON.stringify(answer.body));
  return (answer.body["metadata"] as { uid: string }).uid;
}

async function mapOf(query = "", token?: string): Promise<MapDocument> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const { status, body } = await api.send("GET", `${base}/map${query}`, undefined, headers);
  assert.equal(status, 200, JSON.stringify(body));
  return body as unknown as MapDocument;
}

/** Names instead of uids, sorted. */
function relationsOf({ cards, groups, edges }: MapDocument): readonly string[] {
  const names = new Map([
    ...cards.map(({ metadata }) => [metadata.uid, metadata.name] as const),
    ...groups.map(({ id, kind, total }) => [id, `${total} ${kind}`] as const),
  ]);
  return edges.map(({ from, to }) => `${names.get(from)} > ${names.get(to)}`).sort();
}
const namesOf = ({ cards }: MapDocument) => cards.map(({ metadata }) => metadata.name).sort();

const uids: Record<string, string> = {};
before(async () => {
  api = await startTestApi();
  await api.send("POST", `${base}/accounts`, { name: "cloud", provider: "hetzner-cloud", settings: {} });
  await api.send("POST", `${base}/accounts`, {
    name: "dns",
    provider: "powerdns",
    settings: { url: "http://127.0.0.1:9" },
  });
  await api.send("POST", `${base}/projects`, { name: "web" });
  uids["net"] = await declare("/cloudnetworks", "CloudNetwork", "net", { account: "cloud", range: "10.0.0.0/16" });
  const host = { account: "cloud", type: "cx22", image: "debian-12", location: "fsn1" };
  for (const name of ["app-1", "app-2"])
    uids[name] = await declare("/hosts", "Host", name, { ...host, networks: [{ name: "net" }] });
  uids["alone"] = await declare("/hosts", "Host", "alone", host);
  uids["zone"] = await declare("/projects/web/dnszones", "DnsZone", "zone", { account: "dns", zone: "z.example.org" });
  for (const name of ["www", "mail"])
    uids[name] = await declare("/projects/web/dnsrecords", "DnsRecord", name, {
      zone: "zone",
      name,
      type: "A",
      values: ["192.0.2.1"],
    });
});
after(() => api[Symbol.asyncDispose]());

test("the map has a card for everything there is, and what each refers to or is a part of", async () => {
  const map = await mapOf();
  assert.deepEqual(namesOf(map), ["alone", "app-1", "app-2", "mail", "net", "www", "zone"]);
  assert.deepEqual(relationsOf(map), ["app-1 > net", "app-2 > net", "mail > zone", "www > zone"]);
  assert.deepEqual([map.groups, map.leftOut, map.truncated], [[], { resources: 0, groups: 0 }, false]);
  assert.ok(!("spec" in (map.cards[0] ?? {})), "what was declared is not carried along");
});

test("it can be of one kind or of one project", async () => {
  assert.deepEqual(namesOf(await mapOf("?kind=Host")), ["alone", "app-1", "app-2"]);
  assert.deepEqual(relationsOf(await mapOf("?project=web")), ["mail > zone", "www > zone"]);
  assert.equal((await api.send("GET", `${base}/map?kind=Nothing`)).body["code"], "KIND_UNKNOWN");
  assert.equal((await api.send("GET", `${base}/map?project=nothing`)).body["code"], "SCOPE_UNKNOWN");
  assert.equal((await api.send("GET", `${base}/map?hops=9`)).body["code"], "FIELDS_INVALID");
});

test("a focus shows what is around it, both ways and as far as asked", async () => {
  const from = (name: string, hops: number) => mapOf(`?focus=${uids[name]}&hops=${hops}`);
  assert.deepEqual(namesOf(await from("app-1", 1)), ["app-1", "net"]);
  const far = await from("app-1", 2);
  assert.deepEqual(namesOf(far), ["app-1", "app-2", "net"]);
  assert.deepEqual(relationsOf(far), ["app-1 > net", "app-2 > net"]);
  assert.deepEqual(namesOf(await from("alone", 2)), ["alone"]);
  assert.equal((await api.send("GET", `${base}/map?focus=nobody`)).body["code"], "NOT_FOUND");
});

test("nobody sees, or is led through, what they may not read", async () => {
  const { body } = await api.send("POST", `${base}/tokens`, {
    type: "service-token",
    name: "hosts-only",
    expiresInDays: 1,
    access: [{ rules: [{ key: "project.workspace.host", actions: ["read"] }] }],
  });
  const token = String(body["token"]);
  const map = await mapOf("", token);
  assert.deepEqual(namesOf(map), ["alone", "app-1", "app-2"]);
  assert.deepEqual(map.edges, []);
  assert.deepEqual(namesOf(await mapOf(`?focus=${uids["app-1"]}&hops=3`, token)), ["app-1"]);
  const headers = { authorization: `Bearer ${token}` };
  const hidden = await api.send("GET", `${base}/map?focus=${uids["net"]}`, undefined, headers);
  assert.equal(hidden.body["code"], "NOT_FOUND");
});

test("long lists are one group each, with their figures and their relations", async () => {
  const records = Array.from({ length: cardsAtMost }, (_, index) => `record-${index}`);
  for (const name of records)
    await declare("/projects/web/dnsrecords", "DnsRecord", name, {
      zone: "zone",
      name,
      type: "A",
      values: ["192.0.2.1"],
    });
  const map = await mapOf();
  assert.deepEqual(
    map.groups.map(({ kind, scope, total }) => ({ kind, scope, total })),
    [{ kind: "DnsRecord", scope: "web", total: cardsAtMost + 2 }],
  );
  assert.deepEqual(namesOf(map), ["alone", "app-1", "app-2", "net", "zone"]);
  assert.deepEqual(relationsOf(map), ["302 DnsRecord > zone", "app-1 > net", "app-2 > net"]);
  const around = await mapOf(`?focus=${uids["zone"]}&hops=2`);
  assert.ok(around.cards.length > 100 && around.cards.length <= cardsAtMost, String(around.cards.length));
  assert.equal(around.truncated, true);
  assert.ok(around.edges.every(({ to }) => to === uids["zone"]));
});
