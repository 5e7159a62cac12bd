import { digestOf } from "../../kernel/hash.ts";
import type { SeenDeclaration } from "../../kernel/kind.ts";
import { parseAbsoluteName } from "../dns-record/domain-name.ts";
import { isRecordType, parseDeclaredValue, type RecordType } from "../dns-record/record-value.ts";
import { dnsRecordSchema } from "../dns-record/schema.ts";
import { presentationToText } from "../dns-record/text-value.ts";
import { type RecordSet, recordSetKey } from "./record-set.ts";

const longestName = 63;

/** The DnsRecord that declares a record set just as it is on the server. */
export function declarationOfRecordSet(
  zone: { readonly name: string; readonly zone: string },
  recordSet: RecordSet,
): SeenDeclaration {
  const { type, ttlSeconds, disabledValues = [] } = recordSet;
  if (!isRecordType(type)) return refused(`a DnsRecord cannot be of the type ${type}`);
  if (disabledValues.length > 0)
    return refused(`the server keeps ${disabledValues.length} of its values without serving them`);
  const apex = parseAbsoluteName(zone.zone);
  const name = relativeName(apex.ok ? apex.value : zone.zone, recordSet.name);
  if (name === undefined) return refused(`it lies outside the zone ${zone.zone}`);
  const values = recordSet.values.map((value) => declaredValue(type, value));
  const unreadable = recordSet.values.find((_value, index) => values[index] === undefined);
  if (unreadable !== undefined) return refused(`its value ${unreadable} cannot be written in a DnsRecord`);
  const parsed = dnsRecordSchema.safeParse({ zone: zone.name, name, type, values, ttlSeconds });
  if (!parsed.success) return refused(parsed.error.issues.map(({ message }) => message).join("; "));
  return {
    ok: true,
    kind: "DnsRecord",
    name: resourceName(zone.name, name, recordSet),
    spec: { zone: zone.name, name, type, values: parsed.data.values, ttlSeconds },
  };
}

function relativeName(zone: string, name: string): string | undefined {
  if (name === zone) return "@";
  return name.endsWith(`.${zone}`) ? name.slice(0, -zone.length - 1) : undefined;
}

/** Only what is read back as the very same value: a record set that is taken over must not change by that. */
function declaredValue(type: RecordType, seen: string): string | undefined {
  const text = type === "TXT" ? presentationToText(seen) : seen;
  if (text === undefined) return undefined;
  const parsed = parseDeclaredValue(type, text);
  return parsed.ok && parsed.value === seen ? text : undefined;
}

/** Readable, and the same each time; what a name cannot say is told apart by a digest. */
function resourceName(zone: string, name: string, recordSet: RecordSet): string {
  const parts = name === "@" ? [zone, recordSet.type] : [zone, name, recordSet.type];
  const plain = parts.join("-").toLowerCase();
  if (plain.length <= longestName && /^[a-z0-9.-]+$/.test(plain)) return plain;
  const digest = digestOf(recordSetKey(recordSet)).slice(0, 8);
  const safe = plain.replaceAll("*", "wildcard").replace(/[^a-z0-9.-]/g, "");
  return `${safe.slice(0, longestName - digest.length - 1).replace(/[^a-z0-9]+$/, "")}-${digest}`;
}

function refused(message: string): SeenDeclaration {
  return { ok: false, message };
}
