import assert from "node:assert/strict";
import { EngineError } from "../../src/kernel/errors.ts";
import type { CloudServer, ComputeEngine, ComputeReader, OwnMark, ServerIntent } from "../../src/ports/compute.ts";
import type { DnsZoneWriter } from "../../src/ports/dns.ts";
import type { BalancerService } from "../../src/ports/load-balancer.ts";
import type { ProviderAccount } from "../../src/ports/provider.ts";

type Account = ProviderAccount<ComputeReader, ComputeEngine>;

export interface Walk {
  readonly account: Account;
  readonly order: Pick<ServerIntent, "type" | "image" | "location" | "sshKeys">;
  readonly balancer: { readonly type: string; readonly larger: string };
  readonly zone: string;
  /** Names of things that somebody made: a volume, and a certificate where there are such things. */
  readonly volume: string;
  readonly certificate: string | undefined;
  /** Methods that this provider refuses, because it cannot do what they are for. */
  readonly refused: ReadonlySet<string>;
  settle(): Promise<void>;
}

const signal = new AbortController().signal;
const markOf = (resourceUid: string): OwnMark => ({ installationId: "installation-1", resourceUid });
const tcp: BalancerService = {
  protocol: "tcp",
  listenPort: 22,
  targetPort: 2222,
  proxyProtocol: false,
  redirectHttp: false,
  certificates: [],
  check: { protocol: "tcp", port: 2222, everySeconds: 15, timeoutSeconds: 10, retries: 3 },
};
const web: BalancerService = {
  ...tcp,
  protocol: "http",
  listenPort: 80,
  sticky: { cookie: "stay", lifetimeSeconds: 600 },
  check: {
    ...tcp.check,
    protocol: "http",
    http: { domain: "a.test", path: "/", response: "ok", statuses: ["2??"], tls: false },
  },
};

/** Every method of a provider for a cloud, once at least, in an order in which a person could have asked for them. */
export async function walkProvider(walk: Walk): Promise<void> {
  const { account, refused } = walk;
  const called = new Set<string>();
  const writer = new Proxy(
    { ...account.writer },
    {
      get: (target, name) => {
        const method = target[name as keyof ComputeEngine] as ((...given: unknown[]) => Promise<unknown>) | undefined;
        if (typeof method !== "function") return method;
        called.add(String(name));
        return async (...given: unknown[]) => {
          if (refused.has(String(name))) return assert.rejects(method.apply(target, given), /cannot/);
          const answer = await repeated(() => method.apply(target, given), walk);
          await walk.settle();
          return answer;
        };
      },
    },
  );
  await account.claim?.({ installationId: "installation-1", incarnation: 1 }, signal);
  await account.identity(signal);
  await account.rights?.(signal);
  await networks(walk, writer);
  await firewalls(walk, writer);
  const server = await servers(walk, writer);
  await balancers(walk, writer);
  await forwarders(walk, writer);
  if ("createZone" in account.writer) await zones(writer as unknown as DnsZoneWriter);
  await ends(walk, writer, server);
  for (const lister of Object.values(account.collections)) await lister(undefined, signal);
  const all = Object.keys(account.writer).toSorted();
  assert.deepEqual([...called].toSorted(), all, "every method is walked");
}

/** What goes on behind its answer longer than a call is asked for again: every method can be repeated. */
async function repeated(call: () => Promise<unknown>, walk: Walk): Promise<unknown> {
  for (let left = 5; ; left--)
    try {
      return await call();
    } catch (thrown) {
      if (left === 0 || !(thrown instanceof EngineError) || thrown.code !== "DEPENDENCY_NOT_READY") throw thrown;
      await walk.settle();
    }
}

async function zones(writer: DnsZoneWriter): Promise<void> {
  const recordSet = { name: "www.walk.test.", type: "A", ttlSeconds: 300, values: ["192.0.2.1"] };
  await writer.createZone("walk.test.", [], signal);
  await writer.change("walk.test.", [{ action: "replace", recordSet }], signal);
  await assert.rejects(writer.signZone("walk.test.", signal), /cannot sign/);
  await writer.deleteZone("walk.test.", signal);
}

async function networks({ account, zone, order }: Walk, writer: ComputeEngine): Promise<void> {
  const mark = markOf("network");
  const subnet = { range: "10.0.1.0/24", zone };
  const wanted = { name: "net", labels: { a: "b" }, mark, range: "10.0.0.0/16", subnets: [subnet], routes: [] };
  const made = await writer.createNetwork({ ...wanted, location: order.location }, signal);
  const id = made?.id ?? "none";
  const route = { destination: "192.168.0.0/24", gateway: "10.0.1.2" };
  const second = { range: "10.0.2.0/24", zone };
  await writer.addSubnet(id, second, signal);
  await writer.addRoute(id, route, signal);
  await writer.removeRoute(id, route, signal);
  await writer.removeSubnet(id, second, signal);
  await writer.setNetworkRange(id, "10.0.0.0/15", signal);
  await writer.setNetworkProtection(id, true, signal);
  await writer.setNetworkProtection(id, false, signal);
  await writer.describeNetwork(id, { name: "net", labels: {}, mark }, signal);
  if (made === undefined) return;
  assert.notEqual(await account.reader.network(id, signal), "absent");
  assert.notEqual(await account.reader.networkByName("net", signal), "absent");
}

const rules = [
  { direction: "in", protocol: "tcp", port: "443", cidrs: ["0.0.0.0/0"], description: "all" },
  { direction: "out", protocol: "icmp", cidrs: ["192.0.2.0/24"] },
] as const;

async function firewalls({ account }: Walk, writer: ComputeEngine): Promise<void> {
  const mark = markOf("firewall");
  const made = await writer.createFirewall({ name: "fw", labels: {}, mark, rules, selectors: ["a==b"] }, signal);
  const id = made?.id ?? "none";
  await writer.withdrawSelector(id, "a==b", signal);
  await writer.applySelector(id, "a==b", signal);
  await writer.setFirewallRules(id, rules.slice(0, 1), signal);
  await writer.describeFirewall(id, { name: "fw", labels: { a: "b" }, mark }, signal);
  await writer.withdrawSelector(id, "a==b", signal);
  if (made === undefined) return;
  assert.notEqual(await account.reader.firewall(id, signal), "absent");
  assert.notEqual(await account.reader.firewallByName("fw", signal), "absent");
}

async function servers({ account, order, volume, refused }: Walk, writer: ComputeEngine): Promise<string> {
  const mark = markOf("server");
  const { reader } = account;
  const type = await reader.serverType(order.type, signal);
  assert.ok(type !== "absent" && (await reader.hasImage(order.image, type.architecture, signal)));
  const { images, locations } = (await reader.catalogue?.(signal)) ?? assert.fail("no catalogue");
  assert.ok(images?.some(({ name }) => name === order.image) && locations?.includes(order.location));
  await reader.room?.(signal);
  const prices = await reader.prices?.(signal);
  const offered = type.offers.filter(({ monthly }) => monthly !== undefined);
  for (const { location, monthly } of prices === undefined ? [] : offered)
    assert.equal(prices?.servers.find((one) => one.of === order.type && one.location === location)?.net, monthly);
  const intent = {
    ...order,
    name: "one",
    labels: { a: "b" },
    mark,
    networks: [],
    firewalls: [],
    userData: "#!/bin/sh",
  };
  const addresses = { publicAddresses: { ipv4: true, ipv6: true } };
  const { server, work } = await writer.ensureServer({ ...intent, ...addresses }, signal);
  if (work !== undefined) await reader.work(work, signal);
  const { id } = server;
  await writer.describeServer(id, { name: "one", labels: { a: "c" }, mark }, signal);
  await writer.setPower(id, "off", signal);
  await writer.setPower(id, "on", signal);
  await writer.resetServer(id, signal);
  await writer.setServerProtection(id, true, signal);
  await writer.setServerProtection(id, false, signal);
  await writer.setReverseDns(id, "one.example.test", signal);
  await writer.attachNetwork(id, { name: "net", ip: refused.has("setNetworkRange") ? undefined : "10.0.1.9" }, signal);
  await writer.attachFirewall(id, "fw", signal);
  await writer.attachVolume(id, volume, signal);
  assert.notEqual(await reader.volumeByName(volume, signal), "absent");
  await writer.detachVolume(id, volume, signal);
  await cards(await reader.server(id, signal), writer);
  await writer.detachFirewall(id, "fw", signal);
  assert.equal((await reader.markedServers(mark, signal)).length, 1);
  assert.notEqual(await reader.server(id, signal), "absent");
  return id;
}

async function cards(server: CloudServer | "absent", writer: ComputeEngine): Promise<void> {
  if (server === "absent") assert.fail("the server is not there");
  for (const { id } of server.cards ?? []) {
    const firewall = { name: "fw", mark: markOf("firewall") };
    const [first] = rules;
    await writer.setCardRules?.(id, { ...firewall, rules }, signal);
    await writer.setCardRules?.(id, { ...firewall, rules: [{ ...first, description: "some" }] }, signal);
    await writer.setCardRules?.(id, { ...firewall, rules: [] }, signal);
  }
}

async function balancers(
  { account, order, balancer, certificate, refused }: Walk,
  writer: ComputeEngine,
): Promise<void> {
  const mark = markOf("balancer");
  const secure =
    certificate === undefined
      ? []
      : [{ ...web, protocol: "https" as const, listenPort: 443, certificates: [certificate] }];
  const services = refused.has("setBalancerType") ? [tcp] : [web, ...secure];
  const facts = { name: "lb", labels: {}, mark };
  const made = await writer.createLoadBalancer(
    {
      ...facts,
      type: balancer.type,
      location: order.location,
      algorithm: "round-robin",
      public: true,
      network: "net",
      services,
      targets: [{ type: "host", value: "one", private: true }],
    },
    signal,
  );
  const id = made?.id ?? "none";
  const more = { ...tcp, listenPort: 2022 };
  await writer.addService(id, more, signal);
  await writer.updateService(id, { ...more, targetPort: 2024 }, signal);
  await writer.removeService(id, 2022, signal);
  await writer.addTarget(id, { type: "ip", value: "192.0.2.8", private: false }, signal);
  await writer.removeTarget(id, { type: "ip", value: "192.0.2.8", private: false }, signal);
  await writer.setBalancerType(id, balancer.larger, signal);
  await writer.setBalancerAlgorithm(id, "least-connections", signal);
  await writer.setBalancerProtection(id, true, signal);
  await writer.setBalancerProtection(id, false, signal);
  await writer.setBalancerPublic(id, false, signal);
  await writer.setBalancerPublic(id, true, signal);
  await writer.describeLoadBalancer(id, { ...facts, labels: { a: "b" } }, signal);
  if (made !== undefined) {
    assert.notEqual(await account.reader.loadBalancer(id, signal), "absent");
    assert.notEqual(await account.reader.loadBalancerByName("lb", signal), "absent");
  }
  await writer.removeTarget(id, { type: "host", value: "one", private: true }, signal);
  await writer.detachBalancer(id, "net", signal);
  await writer.attachBalancer(id, { name: "net" }, signal);
  await writer.deleteLoadBalancer(id, signal);
}

/** Load balancers that are rules: the address first and last. */
async function forwarders({ account: { reader, collections }, order }: Walk, writer: ComputeEngine): Promise<void> {
  if (!reader.capabilities.balancerRules) return;
  const facts = { name: "lb", mark: markOf("balancer") };
  const places = await collections["locations"]?.(undefined, signal);
  const [{ region = "" } = {}] = (places?.entries ?? []) as readonly { readonly region?: string }[];
  const address = await writer.reserveAddress?.({ ...facts, region }, signal);
  if (address === undefined) assert.fail("no address was reserved");
  await writer.describeAddress?.(address.id, facts, signal);
  assert.notEqual(await reader.markedAddress?.(facts.mark, region, signal), "absent");
  const rule = { listenPort: 443, protocol: "tcp", algorithm: "round-robin", timeoutSeconds: 10, retries: 3 };
  const targets = { "10.7.1.10": { port: 8443, everySeconds: 15 } };
  const wanted = { ...facts, location: order.location, network: "net", rules: [{ ...rule, targets }] };
  const made = await writer.createForwarder?.(wanted, signal);
  const id = made?.id ?? "none";
  const more = [
    { ...rule, listenPort: 80, targets },
    { ...rule, algorithm: "least-connections", targets: {} },
  ];
  await writer.setForwarder?.(id, { ...wanted, name: "edge", rules: more }, signal);
  await writer.setForwarder?.(id, { ...wanted, rules: more.slice(1) }, signal);
  const seen = await reader.forwarder?.(id, signal);
  assert.ok(seen !== undefined && seen !== "absent");
  assert.deepEqual([seen.name, seen.rules], ["lb", more.slice(1)]);
  assert.notEqual(await reader.forwarderByName?.("lb", signal), "absent");
  await writer.deleteForwarder?.(id, signal);
  await writer.releaseAddress?.({ id: address.id, mark: facts.mark }, signal);
  assert.equal(await reader.reservedAddress?.(address.id, signal), "absent");
}

async function ends({ account, refused }: Walk, writer: ComputeEngine, id: string): Promise<void> {
  await writer.detachNetwork(id, "net", signal);
  await writer.ensureServerGone({ id, mark: markOf("server") }, signal);
  assert.equal(await account.reader.server(id, signal), "absent");
  const network = refused.has("createNetwork") ? "absent" : await account.reader.networkByName("net", signal);
  await writer.deleteNetwork(network === "absent" ? "x" : network.id, signal);
  const firewall = refused.has("createFirewall") ? "absent" : await account.reader.firewallByName("fw", signal);
  await writer.deleteFirewall(firewall === "absent" ? "x" : firewall.id, signal);
}
