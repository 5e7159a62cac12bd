import { Resolver } from "node:dns/promises";
import type { HostAddresses } from "../ports/dns-queries.ts";
import type { DnsResolver } from "../ports/dns-resolver.ts";

const timeoutMs = 3_000;
/** The name does not exist, or has no such records: an answer, and not a failure. */
const nothing = new Set(["ENOTFOUND", "ENODATA"]);

export function createDnsResolver(): DnsResolver {
  return Object.freeze({
    nameservers: (zone: string, server: string | undefined, signal: AbortSignal) =>
      asking(server, signal, (resolver) => resolver.resolveNs(zone.replace(/\.$/, ""))),
  });
}

/** The addresses of a host, those of IPv4 first. */
export const hostAddresses: HostAddresses = async (host, signal) => {
  const name = host.replace(/\.$/, "");
  const found = await Promise.all([
    asking(undefined, signal, (resolver) => resolver.resolve4(name)),
    asking(undefined, signal, (resolver) => resolver.resolve6(name)),
  ]);
  return found.flat();
};

async function asking(
  server: string | undefined,
  signal: AbortSignal,
  question: (resolver: Resolver) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const resolver = new Resolver({ timeout: timeoutMs, tries: 2 });
  if (server !== undefined) resolver.setServers([server]);
  const cancel = () => resolver.cancel();
  signal.addEventListener("abort", cancel, { once: true });
  try {
    return await question(resolver);
  } catch (thrown) {
    if (thrown instanceof Error && "code" in thrown && nothing.has(String(thrown.code))) return [];
    throw thrown;
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}
