import assert from "node:assert/strict";
import { EngineError } from "../../src/kernel/errors.ts";
import { readInventory } from "../../src/kernel/inventory.ts";
import type { Clock } from "../../src/ports/clock.ts";
import type {
  CloudFirewallRule,
  CloudServer,
  CloudThing,
  ComputeEngine,
  ComputeReader,
  ServerIntent,
} from "../../src/ports/compute.ts";
import type { ProviderAccount } from "../../src/ports/provider.ts";

/** What an author of a provider for a cloud gives: an empty account, and what can be ordered there. */
export interface ComputeConformance {
  readonly clock: Clock;
  open(): Promise<ProviderAccount<ComputeReader, ComputeEngine>>;
  readonly order: Pick<ServerIntent, "type" | "image" | "location">;
  /** The next call that makes a server has its effect, and its answer is lost. */
  loseNextAnswer(): void;
  /** Time passes at the provider. */
  wait(): Promise<void>;
}

export interface ConformanceCheck {
  readonly name: string;
  check(setup: ComputeConformance): Promise<void>;
}

const signal = new AbortController().signal;
const mark = { installationId: "installation", resourceUid: "resource-1" };

function intentOf(setup: ComputeConformance, more: Partial<ServerIntent> = {}): ServerIntent {
  const publicAddresses = { ipv4: true, ipv6: true };
  const rest = { labels: {}, networks: [], firewalls: [], sshKeys: [], publicAddresses };
  return { name: "conformance-1", mark, ...setup.order, ...rest, ...more };
}

async function listed<Entry = CloudServer>(
  setup: ComputeConformance,
  account: ProviderAccount,
  collection = "servers",
): Promise<readonly Entry[]> {
  const lister = account.collections[collection] ?? assert.fail(`the account has no collection '${collection}'`);
  const { inventory } = await readInventory(setup.clock, lister, signal);
  assert.equal(inventory.completeness, "complete", inventory.proof);
  return inventory.entries as readonly Entry[];
}

/** Longer than a call is no failure: it is looked for when it is done. */
function unlessItGoesOn(thrown: unknown): undefined {
  if (!(thrown instanceof EngineError) || thrown.code !== "DEPENDENCY_NOT_READY") throw thrown;
}

async function refusal(work: Promise<unknown>): Promise<EngineError> {
  const thrown: unknown = await work.then(
    () => assert.fail("it was not refused"),
    (error: unknown) => error,
  );
  assert.ok(thrown instanceof EngineError, `throw TerminalError or RetryableError, and not ${String(thrown)}`);
  return thrown;
}

type Account = ProviderAccount<ComputeReader, ComputeEngine>;

/** A network as this provider has them: with a range of its own, or in one place. */
async function makeNetwork(setup: ComputeConformance, { reader, writer }: Account): Promise<string> {
  const facts = { name: "conformance-net", labels: {}, mark, subnets: [], routes: [] };
  const { id } = await writer.createNetwork(
    reader.capabilities.networkRanges
      ? { ...facts, range: "10.0.0.0/16" }
      : { ...facts, range: "", location: setup.order.location },
    signal,
  );
  await setup.wait();
  return id;
}

const web = { direction: "in", protocol: "tcp", port: "443", cidrs: ["0.0.0.0/0"] } as const;
const admin = { direction: "in", protocol: "tcp", port: "22", cidrs: ["192.0.2.0/24"] } as const;
const portsOf = (rules: readonly CloudFirewallRule[]) => rules.map(({ port = "" }) => port).toSorted();

/** Rules on the card of a server: each firewall has its own there, and the card is open when none is left. */
async function checkCards(setup: ComputeConformance, account: Account): Promise<void> {
  const { server } = await account.writer.ensureServer(intentOf(setup), signal);
  await setup.wait();
  const card = async () => {
    const seen = await account.reader.server(server.id, signal);
    const [first] = (seen === "absent" ? [] : (seen.cards ?? [])).filter((one) => one.public);
    return first ?? assert.fail("the server has no public card");
  };
  const { id } = await card();
  const set = async (name: string, rules: readonly CloudFirewallRule[]) => {
    const firewall = { name, mark: { ...mark, resourceUid: `firewall-${name}` }, rules };
    const written = account.writer.setCardRules?.(id, firewall, signal);
    await (written ?? assert.fail("firewallsOnCards needs setCardRules"));
    await setup.wait();
  };
  await set("one", [web, admin]);
  await set("one", [web, admin]);
  await set("two", [web]);
  const both = await card();
  assert.deepEqual([both.guarded, portsOf(both.rules)], [true, ["22", "443", "443"]]);
  await set("one", [admin]);
  const left = await card();
  assert.deepEqual(left.rules.map(({ firewall, port }) => `${firewall} ${port}`).toSorted(), ["one 22", "two 443"]);
  await set("one", []);
  assert.deepEqual([(await card()).guarded, portsOf((await card()).rules)], [true, ["443"]]);
  await set("two", []);
  assert.deepEqual([(await card()).guarded, (await card()).rules], [false, []]);
}

/** Firewalls that are things of their own. */
async function checkFirewalls(setup: ComputeConformance, { reader, writer }: Account): Promise<void> {
  const facts = { name: "conformance-fw", labels: {}, mark };
  const { id } = await writer.createFirewall({ ...facts, rules: [web, admin], selectors: [] }, signal);
  await setup.wait();
  const seen = async () => {
    const found = await reader.firewall(id, signal);
    return found === "absent" ? assert.fail("the firewall is not there") : found;
  };
  assert.deepEqual([portsOf((await seen()).rules), (await seen()).mark], [["22", "443"], mark]);
  for (const rules of [[admin], [admin], []]) {
    await writer.setFirewallRules(id, rules, signal);
    assert.deepEqual(portsOf((await seen()).rules), portsOf(rules));
  }
  await writer.deleteFirewall(id, signal);
  await setup.wait();
  await writer.deleteFirewall(id, signal);
  assert.equal(await reader.firewall(id, signal), "absent");
}

/** Whoever passes these can be trusted with servers, networks, firewalls and addresses. Each is given an account of its own. */
export const computeConformance: readonly ConformanceCheck[] = [
  {
    name: "a server is made once, however often it is asked for",
    check: async (setup) => {
      const account = await setup.open();
      const first = await account.writer.ensureServer(intentOf(setup), signal);
      const again = await account.writer.ensureServer(intentOf(setup), signal);
      assert.deepEqual([again.server.id, first.found, again.found], [first.server.id, false, true]);
      await setup.wait();
      assert.equal((await listed(setup, account)).length, 1);
      assert.deepEqual(first.server.mark, mark);
    },
  },
  {
    name: "a server whose answer was lost is found and not made again",
    check: async (setup) => {
      const account = await setup.open();
      setup.loseNextAnswer();
      const lost = await refusal(account.writer.ensureServer(intentOf(setup), signal));
      assert.ok("ambiguous" in lost && lost.ambiguous === true, "an answer that was lost is ambiguous");
      await setup.wait();
      assert.equal((await account.writer.ensureServer(intentOf(setup), signal)).found, true);
      assert.equal((await listed(setup, account)).length, 1);
    },
  },
  {
    name: "a name that somebody else has is refused, and theirs is left alone",
    check: async (setup) => {
      const account = await setup.open();
      if (!account.reader.capabilities.uniqueServerNames) return;
      await account.writer.ensureServer(intentOf(setup, { mark: { ...mark, resourceUid: "another" } }), signal);
      assert.equal((await refusal(account.writer.ensureServer(intentOf(setup), signal))).code, "ALREADY_EXISTS");
      assert.equal((await listed(setup, account)).length, 1);
    },
  },
  {
    name: "only what carries the mark is removed, and removing it again is a success",
    check: async (setup) => {
      const account = await setup.open();
      const { server } = await account.writer.ensureServer(intentOf(setup), signal);
      await setup.wait();
      const theirs = { id: server.id, mark: { ...mark, resourceUid: "another" } };
      assert.equal((await refusal(account.writer.ensureServerGone(theirs, signal))).code, "PRECONDITION_FAILED");
      assert.equal((await listed(setup, account)).length, 1);
      await account.writer.ensureServerGone({ id: server.id, mark }, signal);
      await setup.wait();
      await account.writer.ensureServerGone({ id: server.id, mark }, signal);
      assert.deepEqual(await listed(setup, account), []);
      assert.equal(await account.reader.server(server.id, signal), "absent");
    },
  },
  {
    name: "an unknown type is refused for good, and nothing is made",
    check: async (setup) => {
      const account = await setup.open();
      assert.equal(await account.reader.serverType("no-such-type", signal), "absent");
      const thrown = await refusal(account.writer.ensureServer(intentOf(setup, { type: "no-such-type" }), signal));
      assert.equal("ambiguous" in thrown, false, "what is wrong in itself is a TerminalError");
      assert.deepEqual(await listed(setup, account), []);
    },
  },
  {
    name: "an empty name never means all",
    check: async (setup) => {
      const account = await setup.open();
      await account.writer.ensureServer(intentOf(setup), signal);
      assert.equal((await refusal(account.writer.ensureServerGone({ id: "", mark }, signal))).code, "WILDCARD_REFUSED");
      assert.equal((await listed(setup, account)).length, 1);
    },
  },
  {
    name: "a network is made with its mark, is known by its name and its id, and removing it again is a success",
    check: async (setup) => {
      const account = await setup.open();
      const { reader, writer } = account;
      if (!reader.capabilities.networks) return;
      const id = await makeNetwork(setup, account);
      const [one, named] = [await reader.network(id, signal), await reader.networkByName("conformance-net", signal)];
      assert.ok(one !== "absent" && named !== "absent");
      assert.deepEqual([one.id, named.id, one.mark, one.name], [id, id, mark, "conformance-net"]);
      await writer.describeNetwork(id, { name: "conformance-net-2", labels: {}, mark }, signal);
      await setup.wait();
      const names = (await listed<CloudThing>(setup, account, "networks")).filter((network) => network.id === id);
      assert.deepEqual(
        names.map((network) => [network.name, network.mark]),
        [["conformance-net-2", mark]],
      );
      await writer.deleteNetwork(id, signal);
      await setup.wait();
      await writer.deleteNetwork(id, signal);
      assert.equal(await reader.network(id, signal), "absent");
    },
  },
  {
    name: "a server is put into a network once, and taken out of it",
    check: async (setup) => {
      const account = await setup.open();
      const { reader, writer } = account;
      // Where networks have ranges, servers get their addresses from subnets, which this check does not make.
      if (!reader.capabilities.networks || reader.capabilities.networkRanges) return;
      const network = await makeNetwork(setup, account);
      const { server } = await writer.ensureServer(intentOf(setup), signal);
      await setup.wait();
      const inside = async () => {
        const seen = await reader.server(server.id, signal);
        return seen === "absent" ? [] : seen.networks.map((one) => one.network);
      };
      for (const time of ["once", "again"]) {
        await writer.attachNetwork(server.id, { name: "conformance-net" }, signal);
        await setup.wait();
        assert.deepEqual(await inside(), [network], time);
      }
      await writer.detachNetwork(server.id, "conformance-net", signal);
      await setup.wait();
      await writer.detachNetwork(server.id, "conformance-net", signal);
      assert.deepEqual(await inside(), []);
    },
  },
  {
    name: "a firewall lets through what its rules say and no more, each firewall for itself",
    check: async (setup) => {
      const account = await setup.open();
      const { firewalls, firewallsOnCards } = account.reader.capabilities;
      if (firewalls) await (firewallsOnCards ? checkCards(setup, account) : checkFirewalls(setup, account));
    },
  },
  {
    name: "an address that was reserved is given back only by who reserved it, and not while it is used",
    check: async (setup) => {
      const account = await setup.open();
      const { reader, writer } = account;
      if (!reader.capabilities.balancerRules) return;
      await makeNetwork(setup, account);
      const facts = { name: "conformance-lb", mark };
      const places = await listed<{ readonly name: string; readonly region: string }>(setup, account, "locations");
      const region = places.find(({ name }) => name === setup.order.location)?.region ?? assert.fail("no location");
      const reserve = async () => {
        const made = await writer.reserveAddress?.({ ...facts, region }, signal);
        await setup.wait();
        return made?.id ?? assert.fail("balancerRules needs reserveAddress");
      };
      const id = await reserve();
      assert.equal(await reserve(), id, "one that is there already is not reserved again");
      const wanted = { ...facts, location: setup.order.location, network: "conformance-net", rules: [] };
      const made = await writer.createForwarder?.(wanted, signal).catch(unlessItGoesOn);
      await setup.wait();
      const [balancer] = await listed<CloudThing>(setup, account, "load-balancers");
      assert.ok(balancer !== undefined && (made === undefined || made.id === balancer.id));
      const release = async (as: typeof mark) => writer.releaseAddress?.({ id, mark: as }, signal);
      assert.equal((await refusal(release({ ...mark, resourceUid: "another" }))).code, "PRECONDITION_FAILED");
      assert.equal((await refusal(release(mark))).code, "DEPENDENCY_NOT_READY");
      await writer.deleteForwarder?.(balancer.id, signal).catch(unlessItGoesOn);
      await setup.wait();
      await writer.deleteForwarder?.(balancer.id, signal);
      await release(mark);
      await setup.wait();
      await release(mark);
      assert.equal(await reader.reservedAddress?.(id, signal), "absent");
    },
  },
  {
    name: "the account is known again, by its own number or by what is left in it",
    check: async (setup) => {
      const account = await setup.open();
      const first = await account.identity(signal);
      assert.deepEqual(await account.identity(signal), first, "asked twice, it is the same");
      if (account.claim === undefined) {
        assert.notEqual(account.knownBySentinel, true, "what is known by a sentinel can be claimed");
        return;
      }
      assert.equal(first.sentinel, undefined, "the account of the check is empty");
      await account.claim({ installationId: "installation", incarnation: 1 }, signal);
      await setup.wait();
      const claimed = await account.identity(signal);
      assert.deepEqual(claimed.sentinel, { installationId: "installation", incarnation: 1 });
      await account.claim({ installationId: "installation", incarnation: 2 }, signal);
      await setup.wait();
      const again = await account.identity(signal);
      assert.equal(again.fingerprint, claimed.fingerprint, "a claim that is renewed keeps the fingerprint");
      assert.deepEqual(again.sentinel, { installationId: "installation", incarnation: 2 });
    },
  },
  {
    name: "whether the credential may write is found out without writing",
    check: async (setup) => {
      const account = await setup.open();
      const before = await everything(setup, account);
      const rights = await account.rights?.(signal);
      if (rights !== undefined) assert.equal(rights.write, true, rights.reason);
      await setup.wait();
      assert.deepEqual(await everything(setup, account), before);
    },
  },
];

/** Every collection, read whole. */
async function everything(
  setup: ComputeConformance,
  account: ProviderAccount,
): Promise<Readonly<Record<string, readonly unknown[]>>> {
  const all: Record<string, readonly unknown[]> = {};
  for (const [name, lister] of Object.entries(account.collections)) {
    const { inventory } = await readInventory(setup.clock, lister, signal);
    assert.equal(inventory.completeness, "complete", `${name}: ${inventory.proof}`);
    all[name] = inventory.entries;
  }
  return all;
}
