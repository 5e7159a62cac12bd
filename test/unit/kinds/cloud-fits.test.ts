import assert from "node:assert/strict";
import { test } from "node:test";
import type { Kind } from "../../../src/kernel/kind.ts";
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
  const wishes = { ...host, reverseDns: "web.example.com", protect: true };
  const [name, protection, ...others] = await refused(hostKind as never, wishes, "ionos");
  assert.match(name ?? "", /^\/spec\/reverseDns cannot be set there.*the provider ionos of account "main"/);
  assert.match(protection ?? "", /^\/spec\/protect /);
  assert.deepEqual(others, []);
  assert.deepEqual(await refused(hostKind as never, wishes, "hetzner-cloud"), []);
  assert.deepEqual(await refused(hostKind as never, host, "ionos"), []);
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
  assert.deepEqual(await refused(scalingGroupKind as never, { ...group, desired: 1 }, "ionos"), []);
});

test("the family of a provider is that of its account", async () => {
  const watched = { family: "hetzner-cloud" };
  assert.deepEqual(await refused(computeProviderKind as never, watched, "hetzner-cloud"), []);
  const [problem = ""] = await refused(computeProviderKind as never, watched, "ionos");
  assert.match(problem, /^\/spec\/family is hetzner-cloud, and account "main" is one of provider ionos: write that/);
});
