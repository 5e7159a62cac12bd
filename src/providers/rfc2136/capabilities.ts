import type { DnsCapabilities } from "../../ports/dns.ts";

/** What fits into one message of RFC 2136 with room for the rest of it, whatever the server is. */
export const rfc2136Capabilities: DnsCapabilities = Object.freeze({
  types: ["A", "AAAA", "CAA", "CNAME", "HTTPS", "MX", "NS", "PTR", "SRV", "SVCB", "TLSA", "TXT"],
  leastTtlSeconds: 0,
  mostTtlSeconds: 2_147_483_647,
  mostSetCharacters: 20_000,
  changesTogether: true,
  makesZones: false,
  signsZones: false,
});
