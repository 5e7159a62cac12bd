import type { DnsCapabilities } from "../../ports/dns.ts";

/** Zones of the Hetzner Cloud API. It has no call that changes several record sets, and does not sign zones. */
export const hetznerDnsCapabilities: DnsCapabilities = Object.freeze({
  types: ["A", "AAAA", "CAA", "CNAME", "HTTPS", "MX", "NS", "PTR", "SRV", "SVCB", "TLSA", "TXT"],
  leastTtlSeconds: 60,
  mostTtlSeconds: 2_147_483_647,
  mostSetValues: 50,
  changesTogether: false,
  makesZones: true,
  signsZones: false,
});
