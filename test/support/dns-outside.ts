import type { Clock } from "../../src/ports/clock.ts";
import type { Http, HttpAnswer, HttpRequest, HttpSilence } from "../../src/ports/http.ts";
import type { JsonObject } from "../../src/ports/json.ts";
import type { Provider } from "../../src/ports/provider.ts";
import { createPowerDnsProvider } from "../../src/providers/powerdns/provider.ts";
import { signMessage } from "../../src/providers/rfc2136/tsig.ts";
import { messageBytes, readMessage } from "../../src/providers/rfc2136/wire/message.ts";
import type { DnsTransport } from "../../src/ports/dns-transport.ts";
import { createRfc2136Provider } from "../../src/providers/rfc2136/provider.ts";
import { createDnsTransport } from "../../src/runtime/dns-transport.ts";
import { createHttpClient } from "../../src/runtime/http-client.ts";
import { systemClock } from "../../src/runtime/system-clock.ts";
import { systemRandom } from "../../src/runtime/system-random.ts";
import { type DnsProxy, startDnsProxy } from "./dns-proxy.ts";
import { startNameServer } from "./name-server.ts";
import { startPowerDns } from "./powerdns.ts";

/** A real server with an empty zone example.test, its provider, and somebody's hands beside us. */
export interface DnsOutside extends AsyncDisposable {
  readonly provider: Provider;
  readonly settings: JsonObject;
  put(host: string, type: string, values: readonly string[]): Promise<void>;
  /** One value for many hosts, in one call. */
  putMany(hosts: readonly string[], type: string, value: string): Promise<void>;
  remove(host: string, type: string): Promise<void>;
  /** Values of everything below the zone itself but our mark, by `host TYPE`. */
  world(): Promise<Readonly<Record<string, string>>>;
  /** From now on a look fails half-way, in the way this server can. */
  breakLooks(): void;
  /** A transfer of the whole zone and its parse, and nothing else. */
  bare(): Promise<void>;
  /** What our provider has asked so far. */
  calls(): { readonly calls: number; readonly transfers: number; readonly writes: number };
  repair(): void;
  /** It lives in the time of a bench, where it is simulated. */
  follow?(clock: Clock): void;
}

const zone = "example.test.";
export const outsides = { PowerDNS: "pdns_server", BIND: "named", Knot: "knotd" } as const;

/** One record set that is there from the beginning. */
export interface FirstSet {
  readonly host: string;
  readonly ttlSeconds: number;
  readonly type: string;
  readonly value: string;
}

export function startOutside(
  name: keyof typeof outsides,
  program: string,
  first: readonly FirstSet[] = [],
): Promise<DnsOutside> {
  return name === "PowerDNS" ? powerDnsOutside(program, first) : nameServerOutside(name, program, first);
}

async function powerDnsOutside(program: string, first: readonly FirstSet[]): Promise<DnsOutside> {
  await using undo = new AsyncDisposableStack();
  const server = undo.use(await startPowerDns(program));
  await server.createZone(zone);
  const there = first.map(({ host, ttlSeconds, type, value }) => ({
    name: `${host}.${zone}`,
    type,
    ttl: ttlSeconds,
    changetype: "REPLACE" as const,
    records: [{ content: value, disabled: false }],
  }));
  // Its web server takes bodies of two megabytes.
  for (let start = 0; start < there.length; start += 5_000)
    await server.change(zone, there.slice(start, start + 5_000));
  const client = undo.use(createHttpClient());
  const http = new BreakableHttp(client);
  const credentials = { read: () => Promise.resolve({ found: true as const, value: server.apiKey }) };
  const owned = undo.move();
  return {
    provider: createPowerDnsProvider({ http, credentials, resolver: { nameservers: () => Promise.resolve([]) } }),
    settings: { url: server.apiUrl, sentinel: "none" },
    put: (host, type, values) =>
      server.change(zone, [
        {
          name: `${host}.${zone}`,
          type,
          ttl: 300,
          changetype: "REPLACE",
          records: values.map((content) => ({ content, disabled: false })),
        },
      ]),
    putMany: (hosts, type, value) =>
      server.change(
        zone,
        hosts.map((host) => ({
          name: `${host}.${zone}`,
          type,
          ttl: 300,
          changetype: "REPLACE",
          records: [{ content: value, disabled: false }],
        })),
      ),
    remove: (host, type) => server.change(zone, [{ name: `${host}.${zone}`, type, changetype: "DELETE" }]),
    world: async () =>
      byHost(
        (await server.recordSets(zone)).flatMap(({ name, type, records = [] }) =>
          records.map(({ content }) => [name, type, content] as const),
        ),
      ),
    breakLooks: () => (http.broken = true),
    bare: async () => void (await server.recordSets(zone)),
    calls: () => http.counts,
    repair: () => (http.broken = false),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** A list that times out in its middle: the request went out, and no whole answer came. */
class BreakableHttp implements Http {
  broken = false;
  counts = { calls: 0, transfers: 0, writes: 0 };
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  request(request: HttpRequest): Promise<HttpAnswer | HttpSilence> {
    const { calls, transfers, writes } = this.counts;
    const whole = request.method === "GET" && /\/zones\/[^?]+$/.test(request.url);
    this.counts = {
      calls: calls + 1,
      transfers: transfers + Number(whole),
      writes: writes + Number(request.method !== "GET"),
    };
    if (!this.broken || request.method !== "GET" || !request.url.includes("/zones/"))
      return this.#http.request(request);
    return Promise.resolve({ answered: false, reason: "timeout", sent: true, message: "no whole answer in time" });
  }
}

async function nameServerOutside(
  name: "BIND" | "Knot",
  program: string,
  first: readonly FirstSet[],
): Promise<DnsOutside> {
  await using undo = new AsyncDisposableStack();
  const lines = first.map(({ host, ttlSeconds, type, value }) => `${host} ${ttlSeconds} IN ${type} ${value}`);
  const server = undo.use(await startNameServer(name, program, [{ zone, lines }]));
  const proxy = undo.use(await startDnsProxy(server.port));
  const credentials = { read: () => Promise.resolve({ found: true as const, value: server.secret }) };
  const world = { transport: createDnsTransport(), clock: systemClock, random: systemRandom, credentials };
  const owned = undo.move();
  return {
    provider: createRfc2136Provider(world),
    settings: { server: "127.0.0.1", port: proxy.port, keyName: server.keyName },
    put: (host, type, values) => {
      const about = `${host}.${zone}`;
      server.nsupdate(
        `update delete ${about} ${type}`,
        ...values.map((value) => `update add ${about} 300 ${type} ${value}`),
      );
      return Promise.resolve();
    },
    putMany: (hosts, type, value) =>
      Promise.resolve(
        server.nsupdate(
          ...hosts.flatMap((host) => [
            `update delete ${host}.${zone} ${type}`,
            `update add ${host}.${zone} 300 ${type} ${value}`,
          ]),
        ),
      ),
    remove: (host, type) => Promise.resolve(server.nsupdate(`update delete ${host}.${zone} ${type}`)),
    world: () =>
      Promise.resolve(
        byHost(
          server.records(zone).map((line) => {
            const [record = "", , , type = "", ...value] = line.split(" ");
            return [record, type, value.join(" ")] as const;
          }),
        ),
      ),
    breakLooks: () => spoil(proxy),
    // By the same way as ours, through what counts the questions.
    bare: () => bareTransfer(world, { port: proxy.port, keyName: server.keyName, secret: server.secret }),
    calls: () => ({
      calls: proxy.asked.length,
      transfers: proxy.asked.filter((asked) => asked === "AXFR").length,
      writes: proxy.asked.filter((asked) => asked === "UPDATE").length,
    }),
    repair: () => (proxy.fault = undefined),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Signed as the server wants it, each message parsed, nothing checked and nothing kept. */
async function bareTransfer(
  { transport }: { readonly transport: DnsTransport },
  server: { readonly port: number; readonly keyName: string; readonly secret: string },
): Promise<void> {
  const key = {
    name: `${server.keyName}.`,
    algorithm: "hmac-sha256",
    secret: Buffer.from(server.secret, "base64"),
  } as const;
  const asked = messageBytes({ id: 1, operation: 0, question: { name: zone, type: "AXFR" } });
  const { message } = signMessage(asked, key, Math.floor(systemClock.nowMs() / 1_000));
  let closings = 0;
  await transport.stream({
    server: "127.0.0.1",
    port: server.port,
    message,
    timeoutMs: 60_000,
    signal: AbortSignal.timeout(60_000),
    receive: (bytes) => {
      const { answers } = readMessage(Buffer.from(bytes));
      closings += answers.filter(({ type }) => type === "SOA").length;
      return closings >= 2;
    },
  });
}

/** SERVFAIL where the second message of a transfer would be, and to every other question. */
function spoil(proxy: DnsProxy): void {
  proxy.fault = (message, index) => {
    if (proxy.asked.at(-1)?.endsWith("XFR") === true && index === 0 && message.length > 20_000) return message;
    const failed = Buffer.from(message);
    failed[3] = ((failed[3] ?? 0) & 0xf0) | 2;
    return failed;
  };
}

export function byHost(
  records: readonly (readonly [name: string, type: string, value: string])[],
): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const [name, type, value] of records.toSorted((left, right) => (left.join() < right.join() ? -1 : 1))) {
    const host = name.slice(0, -zone.length - 1);
    if (name === zone || host === "_setpoint" || host === "ns1") continue;
    const key = `${host} ${type}`;
    found[key] = found[key] === undefined ? value : `${found[key]}, ${value}`;
  }
  return found;
}
