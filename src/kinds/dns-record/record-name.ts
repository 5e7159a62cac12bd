import { absoluteIn, type Parsed } from "./domain-name.ts";
import type { RecordType } from "./record-value.ts";

/** Where Setpoint says in the zone itself whose it is; nobody declares it, and it is in no plan. */
export function markerNameOf(zone: string): string {
  return `_setpoint.${zone}`;
}

/** Why a type cannot stand at the zone itself. */
export function apexProblem(type: string): string | undefined {
  if (type === "NS") return "the name servers of the zone itself belong to the server and cannot be declared";
  if (type === "CNAME") return "a CNAME cannot stand at the zone itself, beside its SOA and NS (RFC 1034 3.6.2)";
  return undefined;
}

/** The absolute name of a record of this type in this zone, or the rule that forbids it there. */
export function recordNameIn(zone: string, recordName: string, type: RecordType): Parsed<string> {
  const name = absoluteIn(zone, recordName);
  if (!name.ok) return name;
  const problem = nameProblem(zone, name.value, type);
  return problem === undefined ? name : { ok: false, message: problem };
}

/** The rule that forbids a record of this type at an absolute name of the zone. */
export function nameProblem(zone: string, name: string, type: RecordType): string | undefined {
  return name === zone ? apexProblem(type) : ruleOfType(zone, name, type);
}

function ruleOfType(zone: string, name: string, type: RecordType): string | undefined {
  if (name === markerNameOf(zone)) return `${name} is where Setpoint marks the zone as its own: choose another name`;
  if (type !== "SRV" && type !== "TLSA" && type !== "NS") return undefined;
  const [first = "", second = ""] = name.split(".");
  const underscored = (label: string) => label.startsWith("_");
  if (type === "SRV" && !((underscored(first) || first === "*") && underscored(second)))
    return `the name of an SRV record begins with a service and a protocol, such as _sip._tcp, not with ${first}.${second} (RFC 2782)`;
  if (type === "TLSA" && !((/^_\d+$/.test(first) || first === "*") && underscored(second)))
    return `the name of a TLSA record begins with a port and a protocol, such as _443._tcp, not with ${first}.${second} (RFC 6698 3)`;
  if (type === "NS" && first === "*")
    return `${name}: a delegation of every name at once is not defined (RFC 4592 4.2)`;
  return undefined;
}
