import type { DnsRecordSet, DnsZoneFacts } from "../ports/dns.ts";

/** A zone as a whole, from everything that is in it. */
export function zoneFacts(zone: string, sets: readonly DnsRecordSet[], signed: boolean): DnsZoneFacts {
  const own = ({ name, type }: DnsRecordSet) =>
    type === "SOA" || (type === "NS" && name === zone) || (type === "TXT" && name === `_setpoint.${zone}`);
  const nameservers = sets.find(({ name, type }) => type === "NS" && name === zone)?.values ?? [];
  return {
    nameservers: nameservers.map((name) => name.toLowerCase()).sort(),
    signed,
    recordSets: sets.filter((set) => !own(set)).length,
  };
}
