import type { Kind } from "../../../src/kernel/kind.ts";
import { cloudNetworkKind } from "../../../src/kinds/cloud-network/kind.ts";
import { computeProfileKind } from "../../../src/kinds/compute-profile/kind.ts";
import { computeProviderKind } from "../../../src/kinds/compute-provider/kind.ts";
import { hostKind } from "../../../src/kinds/host/kind.ts";
import { firewallKind } from "../../../src/kinds/firewall/kind.ts";
import { loadBalancerKind } from "../../../src/kinds/load-balancer/kind.ts";
import { scalingGroupKind } from "../../../src/kinds/scaling-group/kind.ts";
import type { Clock } from "../../../src/ports/clock.ts";
import type { Http } from "../../../src/ports/http.ts";
import type { Json, JsonObject } from "../../../src/ports/json.ts";
import { createHetznerCloudProvider } from "../../../src/providers/hetzner-cloud/provider.ts";
import { worldToken } from "../../../src/world/cloud.ts";
import { World } from "../../../src/world/world.ts";
import { worldHttp } from "../../support/world-http.ts";
import { accountId, declaration, deletion, type PointCall, type Scenario, type ScenarioOutside } from "../scenario.ts";

const settleSeconds = 2;
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** A project of Hetzner Cloud in a world, reached by the production client; its lists may lag. */
export class CloudOutside implements ScenarioOutside {
  readonly #world: World;
  readonly #clock: Clock;

  constructor(nowMs: () => number) {
    // What is waited for (an action) is over at once: in the scenarios every wait is a point of the engine's own.
    this.#clock = { nowMs, monotonicMs: nowMs, wait: async () => {} };
    this.#world = new World(this.#clock, { accounts: ["demo"], pace: 0 });
  }

  /** An operation made this server for Host/web-1 earlier; here its loop is put to the test. */
  withServer(): this {
    const labels = { "setpoint-installation": "installation-1", "setpoint-resource": "uid-of-web-1" };
    this.ask("POST", "/servers", { name: "web-1", server_type: "cx22", image: "debian-12", location: "fsn1", labels });
    return this;
  }

  canonical(): Json {
    return ["firewalls", "networks", "ssh_keys", "servers", "load_balancers"].map((collection) =>
      this.#list(collection),
    );
  }

  connect(call: PointCall): ReturnType<ScenarioOutside["connect"]> {
    const provider = createHetznerCloudProvider({
      http: this.#http(call),
      credentials: { read: async () => ({ found: true, value: worldToken("demo") }) },
      clock: this.#clock,
      log: silent,
      resolver: { nameservers: async () => [] },
    });
    const open: typeof provider.open = (account) =>
      provider.open({ ...account, settings: { url: "http://world.test/v1" }, credentialRef: "token:demo" });
    const kinds = [
      firewallKind,
      cloudNetworkKind,
      computeProfileKind,
      computeProviderKind,
      hostKind,
      loadBalancerKind,
      scalingGroupKind,
    ].map((kind) => [kind.kind, kind as Kind] as const);
    const outside = { ...provider, name: "outside", settleMs: settleSeconds * 1_000, callTimeoutMs: 3_000, open };
    return { kinds: new Map(kinds), providers: new Map([["outside", outside]]) };
  }

  #http(call: PointCall): Http {
    const http = worldHttp(this.#world, this.#clock);
    return {
      request: (asked) => {
        const reads = asked.method === "GET";
        const [, collection = ""] = new URL(asked.url).pathname.split("/v1/");
        return call(
          `${asked.method} ${collection.replace(/\d+/, "N")}`,
          (stale) => {
            this.#world.core.settings.listLagSeconds = stale ? settleSeconds : 0;
            return http.request(asked);
          },
          { reads },
        ).then((answer) => answer);
      },
    };
  }

  /** How long the provider takes, as a multiple of what it usually does. */
  set pace(pace: number) {
    this.#world.core.settings.pace = pace;
  }

  /** As somebody at the provider's own console. */
  ask(method: string, path: string, body?: object): unknown {
    const [cloud] = this.#world.clouds;
    const text = body === undefined ? "" : JSON.stringify(body);
    const request = { method, path: "", query: new URLSearchParams(), headers: {}, body: text };
    return cloud === undefined ? {} : this.#world.asConsole(cloud, "demo", request, path).body;
  }

  /** Without ids and times, which depend on how often something was tried. */
  #list(collection: string): Json {
    this.#world.core.settings.listLagSeconds = 0;
    const answer = this.ask("GET", `/${collection}`);
    const entries = (answer as Record<string, readonly JsonObject[]>)[collection] ?? [];
    return entries.map((entry) =>
      Object.fromEntries(Object.entries(entry).filter(([field]) => field !== "id" && field !== "created")),
    );
  }
}

const firewall = (name: string, port: string) =>
  declaration(
    "Firewall",
    name,
    {
      account: accountId,
      applies: "scope",
      rules: [{ direction: "in", protocol: "tcp", port, cidrs: ["192.0.2.0/24"] }],
      labels: {},
    },
    { accounts: [accountId] },
  );

const network = (subnets: readonly string[]) =>
  declaration(
    "CloudNetwork",
    "backend",
    {
      account: accountId,
      range: "10.0.0.0/16",
      subnets: subnets.map((range) => ({ range, zone: "eu-central" })),
      routes: [],
      labels: { team: "core" },
      protect: false,
    },
    { accounts: [accountId] },
  );

const outside = (nowMs: () => number) => new CloudOutside(nowMs);

const check = { everySeconds: 15, timeoutSeconds: 10, retries: 3, domain: "", path: "/", response: "" };
const service = (listenPort: number) => ({
  protocol: "tcp",
  listenPort,
  targetPort: 8080,
  proxyProtocol: false,
  redirectHttp: false,
  certificates: [],
  check: { ...check, statuses: ["2??"], tls: false },
  allowedOrigins: [],
  blockedOrigins: [],
});
const loadBalancer = (ports: readonly number[], ips: readonly string[]) =>
  declaration(
    "LoadBalancer",
    "edge",
    {
      account: accountId,
      type: "lb11",
      location: "fsn1",
      algorithm: "round-robin",
      public: true,
      services: ports.map(service),
      targets: ips.map((ip) => ({ ip })),
      labels: { team: "core" },
      protect: false,
    },
    { accounts: [accountId] },
  );

export const firewallScenario: Scenario = {
  kind: "Firewall",
  outside,
  acts: [
    { atSeconds: 1, act: (intents) => intents.declare(firewall("web", "443")) },
    { atSeconds: 20, act: (intents) => intents.declare(firewall("web", "8443")) },
    { atSeconds: 40, act: (intents) => intents.requestDeletion(deletion("web", 1)) },
  ],
  endsAtSeconds: 90,
};

export const cloudNetworkScenario: Scenario = {
  kind: "CloudNetwork",
  outside,
  acts: [
    { atSeconds: 1, act: (intents) => intents.declare(network(["10.0.1.0/24"])) },
    { atSeconds: 20, act: (intents) => intents.declare(network(["10.0.2.0/24", "10.0.3.0/24"])) },
    { atSeconds: 45, act: (intents) => intents.requestDeletion(deletion("backend", 1)) },
  ],
  endsAtSeconds: 95,
};

export const loadBalancerScenario: Scenario = {
  kind: "LoadBalancer",
  outside,
  acts: [
    { atSeconds: 1, act: (intents) => intents.declare(loadBalancer([80], ["192.0.2.1"])) },
    { atSeconds: 20, act: (intents) => intents.declare(loadBalancer([443, 8443], ["192.0.2.2", "192.0.2.3"])) },
    { atSeconds: 45, act: (intents) => intents.requestDeletion(deletion("edge", 1)) },
  ],
  endsAtSeconds: 95,
};

export const computeProviderScenario: Scenario = {
  kind: "ComputeProvider",
  outside,
  acts: [
    {
      atSeconds: 1,
      act: (intents) =>
        intents.declare(
          declaration(
            "ComputeProvider",
            "cloud",
            { account: accountId, family: "hetzner-cloud", locations: ["fsn1"] },
            { accounts: [accountId] },
          ),
        ),
    },
  ],
  endsAtSeconds: 60,
};

const computeProfile = (locations: readonly string[]) =>
  declaration(
    "ComputeProfile",
    "small",
    { account: accountId, type: "cx22", locations: [...locations] },
    { accounts: [accountId] },
  );

export const computeProfileScenario: Scenario = {
  kind: "ComputeProfile",
  outside,
  acts: [
    { atSeconds: 1, act: (intents) => intents.declare(computeProfile(["fsn1"])) },
    { atSeconds: 15, act: (intents) => intents.declare(computeProfile(["fsn1", "nbg1"])) },
    { atSeconds: 30, act: (intents) => intents.declare(computeProfile(["nbg1"])) },
    { atSeconds: 45, act: (intents) => intents.declare(computeProfile([])) },
    { atSeconds: 60, act: (intents) => intents.declare(computeProfile(["fsn1"])) },
    { atSeconds: 75, act: (intents) => intents.declare(computeProfile(["hel1"])) },
    { atSeconds: 90, act: (intents) => intents.declare(computeProfile(["fsn1", "hel1"])) },
    { atSeconds: 105, act: (intents) => intents.requestDeletion(deletion("small", 0)) },
  ],
  endsAtSeconds: 130,
};

const host = (labels: JsonObject, power: "on" | "off") =>
  declaration(
    "Host",
    "web-1",
    { account: accountId, type: "cx22", image: "debian-12", location: "fsn1", labels, power, reverseDns: "web-1.test" },
    { accounts: [accountId] },
  );

export const hostScenario: Scenario = {
  kind: "Host",
  outside: (nowMs) => new CloudOutside(nowMs).withServer(),
  acts: [
    { atSeconds: 1, act: (intents) => intents.declare(host({ role: "web" }, "on")) },
    { atSeconds: 20, act: (intents) => intents.declare(host({ role: "db" }, "off")) },
    { atSeconds: 40, act: (intents) => intents.declare(host({ role: "db" }, "on")) },
  ],
  endsAtSeconds: 80,
};

const scalingGroup = (desired: number, labels: JsonObject) =>
  declaration(
    "ScalingGroup",
    "web",
    {
      account: accountId,
      mode: "static",
      min: 1,
      max: 5,
      desired,
      template: { type: "cx22", image: "debian-12", location: "fsn1", labels },
      cooldownSeconds: 60,
    },
    { accounts: [accountId] },
  );

/** Its members are declared, and none of their operations has its turn: what they make is put to the test for themselves. */
export const scalingGroupScenario: Scenario = {
  kind: "ScalingGroup",
  outside,
  acts: [
    { atSeconds: 1, act: (intents) => intents.declare(scalingGroup(2, { role: "web" })) },
    { atSeconds: 30, act: (intents) => intents.declare(scalingGroup(3, { role: "api" })) },
    { atSeconds: 60, act: (intents) => intents.declare(scalingGroup(2, { role: "api" })) },
    { atSeconds: 150, act: (intents) => intents.requestDeletion(deletion("web", 2)) },
  ],
  endsAtSeconds: 230,
};
