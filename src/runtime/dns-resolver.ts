import { Resolver } from "node:dns/promises";
import type { DnsResolver } from "../ports/dns-resolver.ts";

const timeoutMs = 3_000;
/** The name does not exist, or has no such records: an answer, and not a failure. */
const nothing = new Set(["ENOTFOUND", "ENODATA"]);

export function createDnsResolver(): DnsResolver {
  return Object.freeze({
    nameservers: async (zone: string, server: string | undefined, signal: AbortSignal) => {
      const resolver = new Resolver({ timeout: timeoutMs, tries: 2 });
      if (server !== undefined) resolver.setServers([server]);
      const cancel = () => resolver.cancel();
      signal.addEventListener("abort", cancel, { once: true });
      try {
        return await resolver.resolveNs(zone.replace(/\.$/, ""));
      } catch (thrown) {
        if (thrown instanceof Error && "code" in thrown && nothing.has(String(thrown.code))) return [];
        throw thrown;
      } finally {
        signal.removeEventListener("abort", cancel);
      }
    },
  });
}
