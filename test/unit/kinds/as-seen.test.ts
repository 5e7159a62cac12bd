import assert from "node:assert/strict";
import { test } from "node:test";
import { parsedSubject } from "../../../src/kernel/parsed-subject.ts";
import type { Kind } from "../../../src/kernel/kind.ts";
import { parseSpec } from "../../../src/kernel/kind.ts";
import type { DesiredContext } from "../../../src/kernel/loop.ts";
import { kinds } from "../../../src/kinds/registry.ts";
import type { Json, JsonObject } from "../../../src/ports/json.ts";
import type { CycleInput } from "../../../src/ports/records.ts";

const specs: Readonly<Record<string, JsonObject>> = {
  Host: {
    account: "lab",
    type: "cx22",
    image: "debian-13",
    location: "fsn1",
    labels: { tier: "web" },
    firewalls: [{ name: "base", scope: "organization" }],
  },
  Firewall: { account: "lab", rules: [{ protocol: "tcp", port: "443", cidrs: ["0.0.0.0/0"] }] },
  LoadBalancer: { account: "lab", type: "lb11", location: "fsn1" },
  CloudNetwork: { account: "lab", range: "10.0.0.0/16", subnets: [{ range: "10.0.1.0/24", zone: "eu-central" }] },
};

/** What somebody did outside, by kind: fields of the item as they are seen now. */
const done: readonly (readonly [kind: string, key: string, seen: JsonObject])[] = [
  ["Host", "server", { power: "off" }],
  ["Host", "server", { protect: true, volumes: ["data"] }],
  ["Host", "server", { firewalls: ["base", "extra"] }],
  ["Host", "build", { type: "cx32" }],
  ["Firewall", "firewall", { rules: [] }],
  ["Firewall", "firewall", { rules: [{ direction: "in", protocol: "tcp", port: "22", cidrs: ["192.0.2.0/24"] }] }],
  ["LoadBalancer", "load-balancer", { algorithm: "least-connections", type: "lb21" }],
  ["CloudNetwork", "network", { subnets: { "10.0.2.0/24": "eu-central" }, routes: { "10.9.0.0/16": "10.0.1.1" } }],
];

async function wantedItem(kind: Kind, spec: Json, key: string): Promise<JsonObject> {
  const resource = { uid: "uid", kind: kind.kind, name: "thing", scope: "workspace/o/shop:live", generation: 1, spec };
  const input = { resource, subject: { organizationId: "o" }, memory: {} } as unknown as CycleInput;
  // Of a provider whose firewalls are things of their own: nothing is measured on network cards.
  const context = { measured: { known: true, value: {} } } as unknown as DesiredContext;
  const answer = await kind.loop?.desired(context, parsedSubject(kind, input));
  assert.ok(answer?.known === true);
  const found = answer.items.find((item) => item.key === key);
  assert.ok(found);
  return JSON.parse(JSON.stringify(found.item)) as JsonObject;
}

for (const [name, key, seen] of done)
  test(`${name}: ${Object.keys(seen).join(" and ")} as seen, once declared, is what is wanted`, async () => {
    const kind = kinds.get(name);
    const spec = specs[name] ?? {};
    assert.ok(kind?.loop);
    const item = { ...(await wantedItem(kind, spec, key)), ...seen };
    const differing = kind.loop.same(await wantedItem(kind, spec, key), item);
    assert.ok(differing.length > 0);
    const fields = [...new Set(differing.map(({ field }) => field.split("/")[1] ?? ""))];
    const answer = kind.asSeen?.(spec, { key, item }, fields);
    assert.ok(answer?.ok === true, JSON.stringify(answer));
    const edited = { ...spec, ...answer.spec };
    const parsed = parseSpec(kind, edited);
    assert.ok(parsed.ok, JSON.stringify(parsed));
    assert.deepEqual(kind.loop.same(await wantedItem(kind, edited, key), item), []);
  });

test("what a spec cannot say is refused with the reason, and labels of Setpoint's own are left out", () => {
  const host = kinds.get("Host");
  const spec = specs["Host"] ?? {};
  const seen = { name: "renamed", power: "changing", labels: { tier: "db", "setpoint-workspace": "x" } };
  const asked = (...fields: readonly string[]) => host?.asSeen?.(spec, { key: "server", item: seen }, fields);
  assert.match(JSON.stringify(asked("name")), /called.*renamed/);
  assert.match(JSON.stringify(asked("power")), /between on and off/);
  assert.deepEqual(asked("labels"), { ok: true, spec: { labels: { tier: "db" } } });
  assert.match(JSON.stringify(asked("labels", "networks")), /no spec says its networks/);
});

test("a record whose values come from elsewhere is not edited", () => {
  const kind = kinds.get("DnsRecord");
  const item = { values: ["192.0.2.9"], ttlSeconds: 60 };
  const from = { zone: "z", name: "www", type: "A", valuesFrom: [{ kind: "Host", name: "h", field: "ipv4" }] };
  assert.match(JSON.stringify(kind?.asSeen?.(from, { key: "k", item }, ["values"])), /from other resources/);
  assert.deepEqual(kind?.asSeen?.(from, { key: "k", item }, ["ttlSeconds"]), { ok: true, spec: { ttlSeconds: 60 } });
});
