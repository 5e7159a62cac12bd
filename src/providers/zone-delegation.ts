import { RetryableError, thrownMessage } from "../kernel/errors.ts";
import type { DnsQueries } from "../ports/dns-queries.ts";
import type { DnsResolver } from "../ports/dns-resolver.ts";

/** How the world is asked about zones. */
export interface Asking {
  readonly resolver: DnsResolver;
  readonly queries: DnsQueries | undefined;
  /** The resolver that is asked; the system's unless said otherwise. */
  readonly server: string | undefined;
}

/** The name servers that the world is sent to for this zone, by real queries. */
export async function delegationOf(
  { resolver, server }: Asking,
  zone: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const found = await resolver.nameservers(zone, server, signal).catch((cause: unknown) => {
    const message = thrownMessage(cause);
    const asked = server ?? "the system's resolver";
    throw new RetryableError("PROVIDER_UNAVAILABLE", `${asked} did not answer who serves ${zone}: ${message}`, {
      cause,
    });
  });
  return found.map((name) => `${name.toLowerCase().replace(/\.$/, "")}.`).sort();
}
