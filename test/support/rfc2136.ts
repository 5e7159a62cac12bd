import type { DnsReader, DnsWriter } from "../../src/ports/dns.ts";
import type { ProviderAccount } from "../../src/ports/provider.ts";
import type { AccountRecord } from "../../src/ports/records.ts";
import { createRfc2136Provider } from "../../src/providers/rfc2136/provider.ts";
import { createDnsTransport } from "../../src/runtime/dns-transport.ts";
import { systemClock } from "../../src/runtime/system-clock.ts";
import { systemRandom } from "../../src/runtime/system-random.ts";

/** The provider at a real name server, without the product around it. */
export function openRfc2136(
  at: { readonly port: number; readonly keyName: string; readonly secret: string },
  settings: object = {},
): ProviderAccount<DnsReader, DnsWriter> {
  const provider = createRfc2136Provider({
    transport: createDnsTransport(),
    clock: systemClock,
    random: systemRandom,
    credentials: { read: () => Promise.resolve({ found: true, value: at.secret }) },
  });
  const account: AccountRecord = {
    id: "account-1",
    organizationId: "organization-1",
    name: "lab",
    provider: "rfc2136",
    settings: { server: "127.0.0.1", port: at.port, keyName: at.keyName, ...settings },
    credentialRef: "env:SECRET",
    fingerprint: undefined,
    claimedIncarnation: undefined,
  };
  return provider.open(account);
}
