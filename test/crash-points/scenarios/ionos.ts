import type { Kind } from "../../../src/kernel/kind.ts";
import { scopeLabels } from "../../../src/kinds/cloud/layers.ts";
import { cloudNetworkKind } from "../../../src/kinds/cloud-network/kind.ts";
import { firewallKind } from "../../../src/kinds/firewall/kind.ts";
import { hostKind } from "../../../src/kinds/host/kind.ts";
import { loadBalancerKind } from "../../../src/kinds/load-balancer/kind.ts";
import { loadBalancerSchema } from "../../../src/kinds/load-balancer/schema.ts";
import type { Clock } from "../../../src/ports/clock.ts";
import type { Http } from "../../../src/ports/http.ts";
import type { Json, JsonObject } from "../../../src/ports/json.ts";
import { createIonosProvider } from "../../../src/providers/ionos/provider.ts";
import { worldToken } from "../../../src/world/cloud.ts";
import { World } from "../../../src/world/world.ts";
import { worldHttp } from "../../support/world-http.ts";
import {
  accountId,
  declaration,
  deletion,
  type PointCall,
  type Scenario,
  type ScenarioOutside,
  scope,
  tenant,
} from "../scenario.ts";

const settleSeconds = 2;
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

interface Raw {
  readonly id: string;
  readonly properties: Readonly<Record<string, Json>>;
  readonly entities?: Readonly<Record<string, { readonly items: readonly Raw[] }>>;
}

/** A contract of IONOS in a world, reached by the production client; its lists may lag. */
export class IonosOutside implements ScenarioOutside {
  readonly #world: World;
  readonly #clock: Clock;
  readonly #datacenter: string;

  constructor(nowMs: () => number) {
    // What is waited for (a request) is over at once: in the scenarios every wait is a point of the engine's own.
    this.#clock = { nowMs, monotonicMs: nowMs, wait: async () => {} };
    this.#world = new World(this.#clock, { accounts: ["demo"], pace: 0 });
    this.#cloud().configure("demo", { requestsPerMinute: 1_000_000 });
    this.#datacenter = this.#make("/datacenters", { name: "main", location: "de/fra" });
  }

  /** Operations made these servers for hosts of the scope earlier. */
  withServers(...names: readonly string[]): this {
    const at = `/datacenters/${this.#datacenter}`;
    const lan = Number(this.#make(`${at}/lans`, { name: "outer", public: true }));
    const inner = this.#make(`${at}/lans`, { name: "backend setpoint:installation-1:uid-of-backend", public: false });
    for (const name of names) {
      const full = `${name} setpoint:installation-1:uid-of-${name}`;
      const server = this.#make(`${at}/servers`, { name: full, cores: 1, ram: 1024 });
      this.#make(`${at}/servers/${server}/nics`, { name, lan });
      this.#make(`${at}/servers/${server}/nics`, { name, lan: Number(inner) });
      for (const [key, value] of Object.entries(scopeLabels({ scope, organizationId: tenant })))
        this.#ask("POST", `${at}/servers/${server}/labels`, { properties: { key, value } });
    }
    return this;
  }

  /** Whether some card in a public LAN lets everything through, as it is now. */
  get isOpen(): boolean {
    const at = `/datacenters/${this.#datacenter}`;
    const all = (segment: string) => (this.#ask("GET", `${at}/${segment}?depth=5`) as { items: readonly Raw[] }).items;
    const open = new Set(
      all("lans").flatMap(({ id, properties }) => (properties["public"] === true ? Number(id) : [])),
    );
    const cards = all("servers").flatMap(({ entities }) => entities?.["nics"]?.items ?? []);
    return cards.some(({ properties }) => open.has(Number(properties["lan"])) && properties["firewallActive"] !== true);
  }

  /** As the loop of a firewall does: a rule of it on every card. */
  guard(uid: string): void {
    const at = `/datacenters/${this.#datacenter}/servers`;
    for (const server of (this.#ask("GET", `${at}?depth=5`) as { items: readonly Raw[] }).items)
      for (const card of server.entities?.["nics"]?.items ?? [])
        this.#make(`${at}/${server.id}/nics/${card.id}/firewallrules`, {
          name: `web setpoint:installation-1:${uid}`,
          protocol: "ICMP",
          type: "INGRESS",
        });
  }

  /** Without ids, numbers and times, which depend on how often something was tried. */
  canonical(): Json {
    this.#world.core.settings.listLagSeconds = 0;
    const all = (segment: string) =>
      (this.#ask("GET", `/datacenters/${this.#datacenter}/${segment}?depth=5`) as { items: readonly Raw[] }).items;
    const lans = all("lans").map(({ properties }) => properties);
    const cards = all("servers").flatMap(({ entities }) => entities?.["nics"]?.items ?? []);
    const { items: blocks } = this.#ask("GET", "/ipblocks?depth=1") as { items: readonly Raw[] };
    const balancers = all("networkloadbalancers").map(({ properties, entities }) => [
      properties["name"] ?? null,
      (entities?.["forwardingrules"]?.items ?? []).map((rule) => withoutAddress(rule.properties)).sort(),
    ]);
    return [
      lans,
      blocks.map(({ properties }) => properties["name"] ?? null),
      balancers,
      ...cards.map(({ properties, entities }) => [
        properties["firewallActive"] ?? null,
        properties["firewallType"] ?? null,
        (entities?.["firewallrules"]?.items ?? []).map((rule) => JSON.stringify(rule.properties)).sort(),
      ]),
    ];
  }

  connect(call: PointCall): ReturnType<ScenarioOutside["connect"]> {
    const provider = createIonosProvider({
      http: this.#http(call),
      credentials: { read: async () => ({ found: true, value: worldToken("demo") }) },
      clock: this.#clock,
      log: silent,
    });
    const open: typeof provider.open = (account) =>
      provider.open({ ...account, settings: { url: "http://world.test/cloudapi/v6" }, credentialRef: "token:demo" });
    const kinds = [firewallKind, cloudNetworkKind, hostKind, loadBalancerKind].map(
      (kind) => [kind.kind, kind as Kind] as const,
    );
    const outside = { ...provider, name: "outside", settleMs: settleSeconds * 1_000, callTimeoutMs: 3_000, open };
    return { kinds: new Map(kinds), providers: new Map([["outside", outside]]) };
  }

  #http(call: PointCall): Http {
    const http = worldHttp(this.#world, this.#clock);
    return {
      request: (asked) => {
        const [, path = ""] = new URL(asked.url).pathname.split("/v6/");
        return call(
          `${asked.method} ${path.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}|\d+/g, "N")}`,
          (stale) => {
            this.#world.core.settings.listLagSeconds = stale ? settleSeconds : 0;
            return http.request(asked);
          },
          { reads: asked.method === "GET" },
        ).then((answer) => answer);
      },
    };
  }

  #make(path: string, properties: object): string {
    return (this.#ask("POST", path, { properties }) as Raw).id;
  }

  #ask(method: string, path: string, body?: object): unknown {
    const [route = "", query = ""] = path.split("?");
    const text = body === undefined ? "" : JSON.stringify(body);
    const request = { method, path: "", query: new URLSearchParams(query), headers: {}, body: text };
    return this.#world.asConsole(this.#cloud(), "demo", request, route).body;
  }

  #cloud() {
    const cloud = this.#world.clouds.find(({ name }) => name === "ionos");
    if (cloud === undefined) throw new Error("The world has no IONOS.");
    return cloud;
  }
}

/** Which address was reserved depends on how often it was tried. */
function withoutAddress({ listenerIp: _listenerIp, ...rule }: Raw["properties"]): string {
  return JSON.stringify(rule);
}

const firewall = (ports: readonly string[]) =>
  declaration(
    "Firewall",
    "web",
    {
      account: accountId,
      applies: "scope",
      rules: ports.map((port) => ({ direction: "in", protocol: "tcp", port, cidrs: ["192.0.2.0/24"] })),
      labels: {},
    },
    { accounts: [accountId] },
  );

const network = (name: string) =>
  declaration(
    "CloudNetwork",
    name,
    { account: accountId, location: "main", subnets: [], routes: [], labels: {}, protect: false },
    { accounts: [accountId] },
  );

export const ionosFirewallScenario: Scenario = {
  kind: "Firewall",
  at: "IONOS",
  outside: (nowMs) => new IonosOutside(nowMs).withServers("web-1", "web-2"),
  acts: [
    { atSeconds: 1, act: (intents) => intents.declare(firewall(["443"])) },
    { atSeconds: 20, act: (intents) => intents.declare(firewall(["8443", "22"])) },
    { atSeconds: 45, act: (intents) => intents.requestDeletion(deletion("web", 2)) },
  ],
  endsAtSeconds: 100,
};

export const ionosNetworkScenario: Scenario = {
  kind: "CloudNetwork",
  at: "IONOS",
  outside: (nowMs) => new IonosOutside(nowMs),
  acts: [
    { atSeconds: 1, act: (intents) => intents.declare(network("backend")) },
    { atSeconds: 15, act: (intents) => intents.declare(network("storage")) },
    { atSeconds: 40, act: (intents) => intents.requestDeletion(deletion("backend", 1)) },
  ],
  endsAtSeconds: 90,
  madeTwice: ["POST datacenters/N/lans"],
};

const balancer = (ports: readonly number[]) =>
  declaration(
    "LoadBalancer",
    "edge",
    loadBalancerSchema.parse({
      account: accountId,
      type: "nlb",
      location: "main",
      network: { name: "backend" },
      services: ports.map((listenPort) => ({ protocol: "tcp", listenPort, targetPort: 8443 })),
      targets: [{ labels: {}, private: true }],
    }) as unknown as JsonObject,
    { accounts: [accountId] },
  );

/** An order of a load balancer that is delivered twice is refused the second time: its address is in use. One of an address is not. */
export const ionosLoadBalancerScenario: Scenario = {
  kind: "LoadBalancer",
  at: "IONOS",
  outside: (nowMs) => new IonosOutside(nowMs).withServers("web-1", "web-2"),
  acts: [
    // The LANs are older than a list can be: who sees no public one makes it.
    { atSeconds: 5, act: (intents) => intents.declare(balancer([443])) },
    { atSeconds: 25, act: (intents) => intents.declare(balancer([8443, 22])) },
    { atSeconds: 50, act: (intents) => intents.requestDeletion(deletion("edge", 2)) },
  ],
  endsAtSeconds: 115,
  madeTwice: ["POST ipblocks"],
};
