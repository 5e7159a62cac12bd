import assert from "node:assert/strict";
import type { Clock } from "../../src/ports/clock.ts";
import type { Http } from "../../src/ports/http.ts";
import { createHetznerCloudProvider } from "../../src/providers/hetzner-cloud/provider.ts";
import { worldToken } from "../../src/world/cloud.ts";
import { faultSchema } from "../../src/world/fault-schema.ts";
import { World } from "../../src/world/world.ts";
import { byHost, type DnsOutside, type FirstSet } from "./dns-outside.ts";
import { Specification } from "./specification.ts";
import { SpecifiedHttp } from "./specified-http.ts";
import { worldHttp } from "./world-http.ts";

const zone = "example.test.";
const sets = "/zones/example.test/rrsets";
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

interface Listed {
  readonly rrsets: readonly {
    readonly name: string;
    readonly type: string;
    readonly records: readonly { readonly value: string }[];
  }[];
  readonly meta: { readonly pagination: { readonly next_page: number | null } };
}

export interface HetznerDnsOutside extends DnsOutside {
  /** What either side said that the specification does not allow. */
  readonly faults: readonly string[];
  /** From now on it lives in the time of a bench. */
  follow(clock: Clock): void;
  place(fault: object): void;
  /** Somebody at the provider's own console. */
  ask(method: string, path: string, body?: object): unknown;
}

/** Zones of Hetzner Cloud in the simulated world, every exchange checked against the specification. */
export function startHetznerDns(first: readonly FirstSet[] = []): HetznerDnsOutside {
  const running: { clock?: Clock } = {};
  const clock: Clock = {
    nowMs: () => running.clock?.nowMs() ?? 1_767_225_600_000,
    monotonicMs: () => running.clock?.monotonicMs() ?? 0,
    wait: async (ms) => world.advance(ms),
  };
  const world: World = new World(clock, { accounts: ["demo"] });
  const cloud = world.clouds[0] ?? assert.fail("no cloud");
  const ask = (method: string, path: string, body?: object): unknown => {
    const [plain = "", query = ""] = path.split("?");
    const text = body === undefined ? "" : JSON.stringify(body);
    const request = { method, path: "", query: new URLSearchParams(query), headers: {}, body: text };
    const answer = world.asConsole(cloud, "demo", request, plain);
    assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  cloud.configure("demo", { requestsPerHour: 100_000 });
  const rrsets = first.map(({ host: name, ttlSeconds: ttl, type, value }) => ({
    name,
    type,
    ttl,
    records: [{ value }],
  }));
  ask("POST", "/zones", { name: "example.test", mode: "primary", rrsets });
  const http = new SpecifiedHttp(
    worldHttp(world, clock),
    new Specification("hetzner-cloud", "hetzner-cloud.openapi.json.gz"),
    "/v1",
  );
  const { counts, counting } = counted(http);
  const place = (fault: object) => void world.core.tray.place(faultSchema.parse(fault));
  const credentials = { read: () => Promise.resolve({ found: true as const, value: worldToken("demo") }) };
  const resolver = { nameservers: () => Promise.resolve([]) };
  const all = () => everySet(ask);
  const has = (host: string, type: string) => all().some((set) => set.name === host && set.type === type);
  return {
    faults: http.faults,
    follow: (bench) => void (running.clock = bench),
    ask,
    provider: createHetznerCloudProvider({ http: counting, credentials, clock, log: silent, resolver }),
    settings: { url: "http://world.test/v1" },
    put: async (host, type, values) => {
      if (has(host, type)) ask("DELETE", `${sets}/${host}/${type}`);
      ask("POST", sets, { name: host, type, ttl: 300, records: values.map((value) => ({ value })) });
    },
    putMany: async (hosts, type, value) => {
      for (const host of hosts) ask("POST", `${sets}/${host}/${type}/actions/set_records`, { records: [{ value }] });
    },
    remove: async (host, type) => void ask("DELETE", `${sets}/${host}/${type}`),
    world: async () =>
      byHost(
        all().flatMap(({ name, type, records }) =>
          records.map(({ value }) => [name === "@" ? zone : `${name}.${zone}`, type, value] as const),
        ),
      ),
    // The list ends in its middle and states a total that fits, and the serial is not to be had.
    breakLooks: () => {
      place({ kind: "half-list", method: "GET", path: "/rrsets$" });
      place({ kind: "error", method: "GET", path: "/SOA$" });
    },
    repair: () => world.core.tray.clear(),
    place,
    bare: async () => void all(),
    calls: () => counts,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

type Ask = HetznerDnsOutside["ask"];

function everySet(ask: Ask): Listed["rrsets"] {
  const found: Listed["rrsets"][number][] = [];
  for (let page: number | null = 1; page !== null; ) {
    const listed = ask("GET", `${sets}?per_page=100&page=${page}`) as Listed;
    found.push(...listed.rrsets);
    page = listed.meta.pagination.next_page;
  }
  return found;
}

function counted(http: Http) {
  const counts = { calls: 0, transfers: 0, writes: 0 };
  const counting: Http = {
    request: (request) => {
      counts.calls++;
      counts.writes += Number(request.method !== "GET");
      counts.transfers += Number(/\/rrsets\?/.test(request.url));
      return http.request(request);
    },
  };
  return { counts, counting };
}
