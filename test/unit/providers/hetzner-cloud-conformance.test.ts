import { test } from "node:test";
import { computeConformance } from "setpoint/testing";
import type { Clock } from "../../../src/ports/clock.ts";
import type { ComputeEngine, ComputeReader } from "../../../src/ports/compute.ts";
import type { ProviderAccount } from "../../../src/ports/provider.ts";
import { faultSchema } from "../../../src/world/fault-schema.ts";
import { World } from "../../../src/world/world.ts";
import { worldProvider } from "../../support/cloud-lab.ts";

for (const conformance of computeConformance) {
  test(`Hetzner Cloud: ${conformance.name}`, async () => {
    let nowMs = 1_800_000_000_000;
    const clock: Clock = { nowMs: () => nowMs, monotonicMs: () => nowMs, wait: async (ms) => void (nowMs += ms) };
    const world = new World(clock, { accounts: ["demo"] });
    const account = { id: "demo", organizationId: "o", name: "demo", provider: "hetzner-cloud", settings: {} };
    const record = { ...account, credentialRef: undefined, fingerprint: undefined, claimedIncarnation: undefined };
    const lost = { kind: "timeout", when: "after", method: "POST", path: "^/servers$", times: 1 };
    await conformance.check({
      clock,
      open: async () => worldProvider(world, clock).open(record) as ProviderAccount<ComputeReader, ComputeEngine>,
      order: { type: "cx22", image: "debian-12", location: "fsn1" },
      loseNextAnswer: () => void world.core.tray.place(faultSchema.parse(lost)),
      wait: async () => void (nowMs += 120_000),
    });
  });
}
