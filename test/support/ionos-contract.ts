import assert from "node:assert/strict";
import type { Clock } from "../../src/ports/clock.ts";
import type { ComputeEngine, ComputeReader, ServerIntent } from "../../src/ports/compute.ts";
import type { Http } from "../../src/ports/http.ts";
import type { ProviderAccount } from "../../src/ports/provider.ts";
import type { AccountRecord } from "../../src/ports/records.ts";
import { World, type WorldOptions } from "../../src/world/world.ts";
import { ionosProvider } from "./cloud-lab.ts";

interface Raw {
  readonly id: string;
  readonly properties: { readonly name: string };
}

/** A contract of IONOS in a world with one data center, `main`, and a clock of its own. */
export class IonosContract {
  readonly signal = new AbortController().signal;
  readonly world: World;
  readonly clock: Clock;
  readonly record: AccountRecord = {
    id: "demo",
    organizationId: "o",
    name: "demo",
    provider: "ionos",
    settings: {},
    credentialRef: undefined,
    fingerprint: undefined,
    claimedIncarnation: undefined,
  };
  readonly #datacenter: string;
  #nowMs = 1_800_000_000_000;

  constructor(options: WorldOptions = {}) {
    const nowMs = () => this.#nowMs;
    this.clock = { nowMs, monotonicMs: nowMs, wait: async (ms) => void (this.#nowMs += ms) };
    this.world = new World(this.clock, { accounts: ["demo", "other"], ...options });
    this.#cloud().configure("demo", { requestsPerMinute: 1_000_000 });
    const body = { properties: { name: "main", location: "de/fra" } };
    this.#datacenter = (this.console("POST", "/datacenters", body) as unknown as Raw).id;
    this.pass();
  }

  open(http?: Http): ProviderAccount<ComputeReader, ComputeEngine> {
    return ionosProvider(this.world, this.clock, http).open(this.record) as ProviderAccount<
      ComputeReader,
      ComputeEngine
    >;
  }

  intent(name: string): ServerIntent {
    const order = { type: "2-cores-4-gb-20-gb-ssd", image: "debian:12", location: "main" };
    const publicAddresses = { ipv4: true, ipv6: false };
    const mark = { installationId: "installation-1", resourceUid: `uid-of-${name}` };
    return { name, labels: {}, mark, ...order, networks: [], firewalls: [], sshKeys: [], publicAddresses };
  }

  pass(ms = 600_000): void {
    this.#nowMs += ms;
  }

  /** Somebody at the provider's own console. */
  console(method: string, path: string, body?: object): Record<string, unknown> {
    const [route = "", query = ""] = path.split("?");
    const text = body === undefined ? "" : JSON.stringify(body);
    const request = { method, path: route, query: new URLSearchParams(query), headers: {}, body: text };
    const answer = this.world.asConsole(this.#cloud(), "demo", request, route);
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return (answer.body ?? {}) as Record<string, unknown>;
  }

  make(segment: string, properties: object): void {
    this.console("POST", `/datacenters/${this.#datacenter}/${segment}`, { properties });
    this.pass();
  }

  list(segment: string): readonly Raw[] {
    return this.console("GET", `/datacenters/${this.#datacenter}/${segment}?depth=2`)["items"] as readonly Raw[];
  }

  fill(servers: number): void {
    this.#cloud().fill("demo", { servers, prefix: "filled", labels: {} });
  }

  #cloud() {
    return this.world.clouds.find(({ name }) => name === "ionos") ?? assert.fail("no IONOS");
  }
}
