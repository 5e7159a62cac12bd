import assert from "node:assert/strict";
import { EngineError } from "../../src/kernel/errors.ts";
import { readInventory } from "../../src/kernel/inventory.ts";
import type { Clock } from "../../src/ports/clock.ts";
import type { CloudServer, ComputeEngine, ComputeReader, ServerIntent } from "../../src/ports/compute.ts";
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

async function listed(setup: ComputeConformance, account: ProviderAccount): Promise<readonly CloudServer[]> {
  const lister = account.collections["servers"] ?? assert.fail("the account has no collection 'servers'");
  const { inventory } = await readInventory(setup.clock, lister, signal);
  assert.equal(inventory.completeness, "complete", inventory.proof);
  return inventory.entries as readonly CloudServer[];
}

async function refusal(work: Promise<unknown>): Promise<EngineError> {
  const thrown: unknown = await work.then(
    () => assert.fail("it was not refused"),
    (error: unknown) => error,
  );
  assert.ok(thrown instanceof EngineError, `throw TerminalError or RetryableError, and not ${String(thrown)}`);
  return thrown;
}

/** Whoever passes these can be trusted with servers. Each is given an account of its own. */
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
