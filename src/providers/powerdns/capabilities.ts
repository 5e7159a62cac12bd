import type { DnsCapabilities } from "../../ports/dns.ts";

/** PowerDNS 4.7 stores every TTL as it is given, 0 included. */
export const powerDnsCapabilities: DnsCapabilities = Object.freeze({
  types: ["A", "AAAA", "CAA", "CNAME", "HTTPS", "MX", "NS", "PTR", "SRV", "SVCB", "TLSA", "TXT"],
  leastTtlSeconds: 0,
  mostTtlSeconds: 2_147_483_647,
  changesTogether: true,
  makesZones: true,
  signsZones: true,
});
