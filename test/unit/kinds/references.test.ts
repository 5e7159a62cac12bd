import assert from "node:assert/strict";
import { test } from "node:test";
import { kinds } from "../../../src/kinds/registry.ts";

const build = { image: "debian-12", location: "fsn1" };
const around = { profile: "small", networks: [{ name: "backend" }], firewalls: [{ name: "web" }] };
const naming: Readonly<Record<string, object>> = {
  DnsRecord: {
    zone: "shop",
    name: "www",
    type: "A",
    ttlSeconds: 60,
    valuesFrom: [{ kind: "Host", name: "web", field: "ipv4" }],
  },
  Host: { account: "demo", ...build, ...around },
  LoadBalancer: {
    account: "demo",
    type: "lb11",
    location: "fsn1",
    network: { name: "backend" },
    services: [],
    targets: [{ labels: { role: "web" } }, { host: "web-1" }],
  },
  ScalingGroup: { account: "demo", min: 1, max: 2, desired: 1, template: { ...build, ...around } },
};

/** What is declared in one go is put in order by this: what somebody refers to comes first. */
test("every reference points at the name that it means", () => {
  for (const registered of kinds.values()) {
    const { kind, schema } = registered;
    if (registered.references === undefined) continue;
    const spec = schema.parse(naming[kind] ?? assert.fail(`a ${kind} that refers to all that it can is missing here`));
    const found = registered.references(spec);
    assert.ok(found.length > 0, kind);
    for (const { name, pointer } of found)
      assert.equal(valueAt({ spec }, pointer ?? assert.fail(kind)), name, `${kind} ${pointer}`);
  }
});

function valueAt(document: object, pointer: string): unknown {
  return pointer
    .split("/")
    .slice(1)
    .reduce<unknown>((value, part) => Reflect.get(value as object, part), document);
}
