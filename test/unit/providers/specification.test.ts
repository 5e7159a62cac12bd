import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import type { Clock } from "../../../src/ports/clock.ts";
import type { ComputeEngine, ComputeReader } from "../../../src/ports/compute.ts";
import type { ProviderAccount } from "../../../src/ports/provider.ts";
import { World } from "../../../src/world/world.ts";
import { worldProvider } from "../../support/cloud-lab.ts";
import { IonosContract } from "../../support/ionos-contract.ts";
import { walkProvider } from "../../support/provider-walk.ts";
import { Specification } from "../../support/specification.ts";
import { SpecifiedHttp } from "../../support/specified-http.ts";
import { worldHttp } from "../../support/world-http.ts";

const certificate = readFileSync(new URL("../../specs/example-certificate.pem", import.meta.url), "utf8");

test("everything that the client for Hetzner Cloud asks and is answered is as the specification says", async () => {
  let nowMs = 1_800_000_000_000;
  const clock: Clock = { nowMs: () => nowMs, monotonicMs: () => nowMs, wait: async (ms) => void (nowMs += ms) };
  const world = new World(clock, { accounts: ["demo"] });
  const specification = new Specification("hetzner-cloud", "hetzner-cloud.openapi.json.gz");
  const http = new SpecifiedHttp(worldHttp(world, clock), specification, "/v1");
  const account = { id: "demo", organizationId: "o", name: "demo", provider: "hetzner-cloud", settings: {} };
  const record = { ...account, credentialRef: undefined, fingerprint: undefined, claimedIncarnation: undefined };
  const ask = (path: string, body: object) => {
    const cloud = world.clouds[0] ?? assert.fail("no cloud");
    const request = { method: "POST", path: "", query: new URLSearchParams(), headers: {}, body: JSON.stringify(body) };
    assert.equal(world.asConsole(cloud, "demo", request, path).status, 201);
  };
  ask("/volumes", { name: "data", size: 10, location: "fsn1" });
  const privateKey = "-----BEGIN PRIVATE KEY-----\nnot one\n-----END PRIVATE KEY-----\n";
  ask("/certificates", { name: "site", certificate, private_key: privateKey });
  await walkProvider({
    account: worldProvider(world, clock, http).open(record) as ProviderAccount<ComputeReader, ComputeEngine>,
    order: { type: "cx22", image: "debian-12", location: "fsn1", sshKeys: [] },
    balancer: { type: "lb11", larger: "lb21" },
    zone: "eu-central",
    volume: "data",
    certificate: "site",
    refused: new Set(),
    settle: async () => void (nowMs += 120_000),
  });
  assert.deepEqual([...new Set(http.faults)], []);
  assert.ok(http.operations.size > 40, String(http.operations.size));
});

test("everything that the client for IONOS asks and is answered is as the specification says", async () => {
  const contract = new IonosContract();
  const { world, clock } = contract;
  const specification = new Specification("ionos", "ionos-cloud-v6.openapi.json.gz");
  const http = new SpecifiedHttp(worldHttp(world, clock), specification, "/cloudapi/v6");
  const account = contract.open(http);
  contract.make("volumes", { name: "data", size: 10, licenceType: "OTHER" });
  const able = ["describeServer", "setPower", "resetServer", "attachVolume", "detachVolume"];
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
  assert.deepEqual([...new Set(http.faults)], []);
  assert.ok(http.operations.size > 18, String(http.operations.size));
});
