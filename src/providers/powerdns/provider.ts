import { TerminalError } from "../../kernel/errors.ts";
import type { Credentials } from "../../ports/credentials.ts";
import type { DnsQueries } from "../../ports/dns-queries.ts";
import type { DnsResolver } from "../../ports/dns-resolver.ts";
import type { DnsZoneReader, DnsZoneWriter } from "../../ports/dns.ts";
import type { Http } from "../../ports/http.ts";
import type { AccountIdentity, Provider, ProviderAccount } from "../../ports/provider.ts";
import type { AccountRecord } from "../../ports/records.ts";
import { PowerDnsClient } from "./client.ts";
import { readFingerprint, readSentinel, writeSentinel } from "./identity.ts";
import { type PowerDnsSettings, powerDnsSettingsSchema } from "./settings.ts";
import { zoneReader, zoneWriter } from "./zone-access.ts";

const callTimeoutMs = 10_000;

interface PowerDnsWorld {
  readonly http: Http;
  readonly credentials: Credentials;
  readonly resolver: DnsResolver;
  readonly queries?: DnsQueries | undefined;
}

export function createPowerDnsProvider(world: PowerDnsWorld): Provider<DnsZoneReader, DnsZoneWriter> {
  return Object.freeze({
    name: "powerdns",
    // The API answers from the database it wrote to; only answers to DNS queries are cached.
    settleMs: 0,
    callTimeoutMs,
    open: (account: AccountRecord) => openAccount(world, account),
  });
}

function openAccount(world: PowerDnsWorld, account: AccountRecord): ProviderAccount<DnsZoneReader, DnsZoneWriter> {
  const settings = parseSettings(account);
  const client = new PowerDnsClient({
    ...world,
    account,
    settings,
    timeoutMs: callTimeoutMs,
  });
  const asking = { resolver: world.resolver, queries: world.queries, server: settings.resolver };
  const shared = { collections: {}, reader: zoneReader(client, asking), writer: zoneWriter(client) };
  if (settings.sentinel === "none") {
    return { ...shared, identity: async (signal) => ({ fingerprint: await readFingerprint(client, signal) }) };
  }
  return {
    ...shared,
    identity: async (signal): Promise<AccountIdentity> => ({
      fingerprint: await readFingerprint(client, signal),
      sentinel: await readSentinel(client, signal),
    }),
    claim: (sentinel, signal) => writeSentinel(client, sentinel, signal),
  };
}

function parseSettings(account: AccountRecord): PowerDnsSettings {
  const parsed = powerDnsSettingsSchema.safeParse(account.settings);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => `settings.${issue.path.join(".")}: ${issue.message}`).join("; ");
  throw new TerminalError("SPEC_INVALID", `Account '${account.name}': ${problems}`);
}
