import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import type { Clock } from "../../src/ports/clock.ts";
import type { ComputeEngine, ComputeReader } from "../../src/ports/compute.ts";
import type { Http } from "../../src/ports/http.ts";
import type { ProviderAccount } from "../../src/ports/provider.ts";
import { World } from "../../src/world/world.ts";
import { worldProvider } from "./cloud-lab.ts";
import { IonosContract } from "./ionos-contract.ts";
import { walkProvider } from "./provider-walk.ts";

/** What stands between our client and the world it asks. */
export type Between = (world: World, clock: Clock) => Promise<Http>;

/** Every method of our client for Hetzner Cloud, against a world with a clock of its own. */
export async function walkHetznerClient(between: Between): Promise<void> {
  let nowMs = 1_800_000_000_000;
  const clock: Clock = { nowMs: () => nowMs, monotonicMs: () => nowMs, wait: async (ms) => void (nowMs += ms) };
  const world = new World(clock, { accounts: ["demo"] });
  const account = { id: "demo", organizationId: "o", name: "demo", provider: "hetzner-cloud", settings: {} };
  const record = { ...account, credentialRef: undefined, fingerprint: undefined, claimedIncarnation: undefined };
  const ask = (path: string, body: object) => {
    const cloud = world.clouds[0] ?? assert.fail("no cloud");
    const request = { method: "POST", path: "", query: new URLSearchParams(), headers: {}, body: JSON.stringify(body) };
    assert.equal(world.asConsole(cloud, "demo", request, path).status, 201);
  };
  ask("/volumes", { name: "data", size: 10, location: "fsn1" });
  const certificate = readFileSync(new URL("../specs/example-certificate.pem", import.meta.url), "utf8");
  const privateKey = "-----BEGIN PRIVATE KEY-----\nnot one\n-----END PRIVATE KEY-----\n";
  ask("/certificates", { name: "site", certificate, private_key: privateKey });
  const provider = worldProvider(world, clock, await between(world, clock));
  await walkProvider({
    account: provider.open(record) as ProviderAccount<ComputeReader, ComputeEngine>,
    order: { type: "cx22", image: "debian-12", location: "fsn1", sshKeys: [] },
    balancer: { type: "lb11", larger: "lb21" },
    zone: "eu-central",
    volume: "data",
    certificate: "site",
    refused: new Set(),
    settle: async () => void (nowMs += 120_000),
  });
}

/** Every method of our client for IONOS, against a contract with a clock of its own. */
export async function walkIonosClient(between: Between): Promise<void> {
  const contract = new IonosContract();
  const account = contract.open(await between(contract.world, contract.clock));
  contract.make("volumes", { name: "data", size: 10, licenceType: "OTHER" });
  const able = [
    "describeServer",
    "setPower",
    "resetServer",
    "attachVolume",
    "detachVolume",
    "attachFirewall",
    "detachFirewall",
    "setCardRules",
    "createNetwork",
    "describeNetwork",
    "deleteNetwork",
    "attachNetwork",
    "detachNetwork",
    "reserveAddress",
    "describeAddress",
    "releaseAddress",
    "createForwarder",
    "setForwarder",
    "deleteForwarder",
  ];
  const makes = ["ensureServer", "ensureServerGone"];
  const refused = Object.keys(account.writer).filter((name) => ![...able, ...makes].includes(name));
  await walkProvider({
    account,
    order: { type: "2-cores-4-gb-20-gb-ssd", image: "debian:12", location: "main", sshKeys: ["ssh-ed25519 AAAA a"] },
    balancer: { type: "", larger: "" },
    zone: "",
    volume: "data",
    certificate: undefined,
    refused: new Set(refused),
    settle: async () => contract.pass(),
  });
}
