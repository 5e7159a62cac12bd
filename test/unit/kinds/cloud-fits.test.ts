import assert from "node:assert/strict";
import { test } from "node:test";
import type { Kind } from "../../../src/kernel/kind.ts";
import { computeProfileKind } from "../../../src/kinds/compute-profile/kind.ts";
import { computeProviderKind } from "../../../src/kinds/compute-provider/kind.ts";
import { firewallKind } from "../../../src/kinds/firewall/kind.ts";
import { hostKind } from "../../../src/kinds/host/kind.ts";
import { scalingGroupKind } from "../../../src/kinds/scaling-group/kind.ts";
import { hetznerCloudCapabilities } from "../../../src/providers/hetzner-cloud/capabilities.ts";
import { ionosCapabilities } from "../../../src/providers/ionos/capabilities.ts";
import { around } from "../../support/surroundings.ts";

const capabilities: Readonly<Record<string, unknown>> = {
  "hetzner-cloud": hetznerCloudCapabilities,
  ionos: ionosCapabilities,
  powerdns: { zones: true },
  theirs: undefined,
};

/** What is refused when this is declared at an account of that provider, by field. */
async function refused(kind: Kind<never>, spec: object, provider: string): Promise<readonly string[]> {
  const parsed = kind.schema.parse({ account: "main", ...spec });
  const account = () => Promise.resolve({ provider, capabilities: capabilities[provider] });
  const problems = (await kind.fits?.(parsed, { ...around, account })) ?? [];
  return problems.map(({ pointer, message }) => `${pointer} ${message}`);
}

const host = { type: "cx22", image: "debian-12", location: "fsn1" };
const group = { min: 1, max: 3, template: host };

test("a host that could never be as declared is refused before its server is made", async () => {
  const wishes = { ...host, type: "2-cores-4-gb-20-gb-ssd", reverseDns: "web.example.com", protect: true };
  const [name, protection, ...others] = await refused(hostKind as never, wishes, "ionos");
  assert.match(name ?? "", /^\/spec\/reverseDns cannot be set there.*the provider ionos of account "main"/);
  assert.match(protection ?? "", /^\/spec\/protect /);
  assert.deepEqual(others, []);
  assert.deepEqual(await refused(hostKind as never, wishes, "hetzner-cloud"), []);
  assert.deepEqual(await refused(hostKind as never, { ...host, type: "2-cores-4-gb-20-gb-ssd" }, "ionos"), []);
});

test("what needs a cloud is refused at an account that is none; what says nothing of itself is asked by the loop", async () => {
  for (const [kind, spec] of [
    [hostKind, host],
    [scalingGroupKind, { ...group, desired: 1 }],
    [firewallKind, { rules: [{ protocol: "icmp", cidrs: ["0.0.0.0/0"] }] }],
  ] as const) {
    const [problem = ""] = await refused(kind as never, spec, "powerdns");
    assert.match(problem, /^\/spec\/account the provider powerdns of account "main" is no cloud/);
    assert.deepEqual(await refused(kind as never, spec, "theirs"), []);
  }
});

test("a group that is sized by metrics is refused where there are none", async () => {
  const byLoad = { ...group, mode: "metric", metrics: { cpuPercent: { upAbove: 80, downBelow: 30 } } };
  assert.match((await refused(scalingGroupKind as never, byLoad, "ionos"))[0] ?? "", /has no metrics of servers/);
  assert.deepEqual(await refused(scalingGroupKind as never, byLoad, "hetzner-cloud"), []);
  const template = { ...host, type: "1-core-2-gb-10-gb-hdd" };
  assert.deepEqual(await refused(scalingGroupKind as never, { ...group, template, desired: 1 }, "ionos"), []);
});

test("the family of a provider is that of its account", async () => {
  const watched = { family: "hetzner-cloud" };
  assert.deepEqual(await refused(computeProviderKind as never, watched, "hetzner-cloud"), []);
  const [problem = ""] = await refused(computeProviderKind as never, watched, "ionos");
  assert.match(problem, /^\/spec\/family is hetzner-cloud, and account "main" is one of provider ionos: write that/);
});

test("a type that is no name of one is refused where names say what a server has, and asked for elsewhere", async () => {
  const kinds = [
    [hostKind, (type: string) => ({ ...host, type }), "/spec/type"],
    [
      scalingGroupKind,
      (type: string) => ({ ...group, desired: 1, template: { ...host, type } }),
      "/spec/template/type",
    ],
    [computeProfileKind, (type: string) => ({ type }), "/spec/type"],
  ] as const;
  for (const [kind, spec, field] of kinds) {
    for (const type of [
      "cx22",
      "1-cores-2-gb-10-gb-ssd",
      "2-core-2-gb-10-gb-ssd",
      "02-cores-2-gb-10-gb-ssd",
      "2-cores-0-gb-10-gb-ssd",
    ]) {
      const [problem = "", ...others] = await refused(kind as never, spec(type), "ionos");
      assert.ok(
        problem.startsWith(`${field} there is no type "${type}": write one such as 1-core-2-gb-10-gb-ssd`),
        problem,
      );
      assert.deepEqual(others, []);
    }
    assert.deepEqual(await refused(kind as never, spec("12-cores-48-gb-200-gb-hdd"), "ionos"), []);
    assert.deepEqual(await refused(kind as never, spec("no-such-type"), "hetzner-cloud"), []);
  }
});
