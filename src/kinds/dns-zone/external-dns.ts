import { presentationToText, textToPresentation } from "../dns-record/text-value.ts";
import { type RecordSet, recordSetKey } from "./record-set.ts";

/**
 * external-dns leaves a TXT record beside each record set it made: at the same name (its old form), or at the name with the
 * type before it, such as `cname-www` (its new one). They are always read, and written only where the spec asks for it.
 */
const heritage = /^heritage=external-dns,external-dns\/owner=([^,]*)(?:,external-dns\/resource=(.*))?$/;
const typed = /^(a|aaaa|caa|cname|https|mx|ns|ptr|srv|svcb|tlsa|txt)-(.+)$/;
/** What its old form stands for: it knew no other types. */
const oldTypes = ["A", "AAAA", "CNAME"];
const ttlSeconds = 300;

/** Owners of record sets by key, as the registry in the zone says; ours are left out. */
export function registeredOwners(seen: readonly RecordSet[], ours: string | undefined): ReadonlyMap<string, string> {
  const owners = new Map<string, string>();
  for (const recordSet of seen) {
    if (recordSet.type !== "TXT" || !recordSet.values.some((value) => value.includes("heritage=external-dns")))
      continue;
    for (const value of recordSet.values) {
      const [, owner, resource] = heritage.exec(presentationToText(value) ?? "") ?? [];
      if (owner === undefined || owner === ours) continue;
      const said = `external-dns owner "${owner}"${resource === undefined ? "" : ` (${resource})`}`;
      for (const key of [recordSetKey(recordSet), ...coveredBy(recordSet.name)]) owners.set(key, said);
    }
  }
  return owners;
}

function coveredBy(name: string): readonly string[] {
  const old = oldTypes.map((type) => recordSetKey({ name, type }));
  const [, type = "", rest = ""] = typed.exec(name) ?? [];
  return type === "" ? old : [...old, recordSetKey({ name: rest, type: type.toUpperCase() })];
}

/** The marker that says that a record set is ours, in the words of external-dns. */
export function registryEntry(recordSet: RecordSet, owner: string, zoneName: string): RecordSet {
  const text = `heritage=external-dns,external-dns/owner=${owner},external-dns/resource=dnszone/${zoneName}`;
  return {
    name: `${recordSet.type.toLowerCase()}-${recordSet.name}`,
    type: "TXT",
    ttlSeconds,
    values: [textToPresentation(text)],
  };
}
