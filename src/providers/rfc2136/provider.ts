import { TerminalError } from "../../kernel/errors.ts";
import type { DnsReader, DnsWriter } from "../../ports/dns.ts";
import type { AccountIdentity, Provider, ProviderAccount } from "../../ports/provider.ts";
import type { AccountRecord } from "../../ports/records.ts";
import { Rfc2136Client, type Rfc2136World } from "./client.ts";
import { fingerprintOf, readSentinel, writeSentinel } from "./identity.ts";
import { type Rfc2136Settings, rfc2136SettingsSchema } from "./settings.ts";
import { zoneReader, zoneWriter } from "./zone-access.ts";

const callTimeoutMs = 10_000;

/** Name servers that take dynamic updates (RFC 2136) and give transfers, both signed: BIND, Knot and their like. */
export function createRfc2136Provider(world: Rfc2136World): Provider<DnsReader, DnsWriter> {
  return Object.freeze({
    name: "rfc2136",
    // A server answers and transfers what it has just been told; only its secondaries are later.
    settleMs: 0,
    callTimeoutMs,
    open: (account: AccountRecord) => openAccount(world, account),
  });
}

function openAccount(world: Rfc2136World, account: AccountRecord): ProviderAccount<DnsReader, DnsWriter> {
  const settings = parseSettings(account);
  const client = new Rfc2136Client(world, account, settings, callTimeoutMs);
  const shared = { collections: {}, reader: zoneReader(client, world.queries), writer: zoneWriter(client) };
  const fingerprint = fingerprintOf(settings);
  const zone = settings.sentinelZone === undefined ? undefined : absolute(settings.sentinelZone);
  if (zone === undefined) return { ...shared, identity: () => Promise.resolve({ fingerprint }) };
  return {
    ...shared,
    identity: async (signal): Promise<AccountIdentity> => ({
      fingerprint,
      sentinel: await readSentinel(client, zone, signal),
    }),
    claim: (sentinel, signal) => writeSentinel(client, zone, sentinel, signal),
  };
}

function absolute(name: string): string {
  return `${name.toLowerCase().replace(/\.$/, "")}.`;
}

function parseSettings(account: AccountRecord): Rfc2136Settings {
  const parsed = rfc2136SettingsSchema.safeParse(account.settings);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => `settings.${issue.path.join(".")}: ${issue.message}`).join("; ");
  throw new TerminalError("SPEC_INVALID", `Account '${account.name}': ${problems}`);
}
