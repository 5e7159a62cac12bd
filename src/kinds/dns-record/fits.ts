import type { FieldProblem, Surroundings } from "../../kernel/kind.ts";
import type { DnsCapabilities } from "../../ports/dns.ts";
import { delegationProblem } from "../dns-zone/delegation.ts";
import { dnsZoneSchema } from "../dns-zone/schema.ts";
import { parseAbsoluteName } from "./domain-name.ts";
import { recordNameIn } from "./record-name.ts";
import { parseDeclaredValue } from "./record-value.ts";
import type { DnsRecordSpec } from "./schema.ts";

/** Whether a record can stand in its zone, and whether the zone's provider can hold it. */
export function recordFits(spec: DnsRecordSpec, around: Surroundings): readonly FieldProblem[] {
  const linked = around.linked("DnsZone", spec.zone);
  const zone = dnsZoneSchema.safeParse(linked?.spec);
  const problems: FieldProblem[] = [...sourceProblems(spec, around)];
  if (linked === undefined || !zone.success) return problems;
  const apex = parseAbsoluteName(zone.data.zone);
  if (!apex.ok) return problems;
  const name = recordNameIn(apex.value, spec.name, spec.type);
  const place = { scope: linked.scope, delegations: zone.data.delegations ?? [] };
  const delegated = name.ok
    ? delegationProblem({ ...place, zone: apex.value }, name.value, around.scope)
    : name.message;
  if (delegated !== undefined) problems.push({ pointer: "/spec/name", message: delegated });
  const can = asDnsCapabilities(linked.capabilities);
  if (can !== undefined) problems.push(...beyondProvider(spec, can, zone.data.account));
  return problems;
}

/** Whether there is such a thing to take, and whether it can stand in a record of this type. */
function sourceProblems({ type, valuesFrom = [] }: DnsRecordSpec, around: Surroundings): readonly FieldProblem[] {
  return valuesFrom.flatMap(({ kind, field }, index): readonly FieldProblem[] => {
    const pointer = `/spec/valuesFrom/${index}`;
    const published = around.publishes(kind);
    if (published === undefined)
      return [{ pointer: `${pointer}/kind`, message: `"${kind}" is no kind that shows values to others` }];
    const found = published[field];
    const fields = Object.keys(published).join(", ");
    if (found === undefined)
      return [{ pointer: `${pointer}/field`, message: `a ${kind} shows no "${field}", only ${fields}` }];
    const needed = type === "A" ? "ipv4" : "ipv6";
    return found === needed
      ? []
      : [{ pointer: `${pointer}/field`, message: `${field} is an ${found} address, and ${type} holds ${needed}` }];
  });
}

function beyondProvider(spec: DnsRecordSpec, can: DnsCapabilities, account: string): readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  const refuse = (pointer: string, message: string) =>
    problems.push({ pointer, message: `the provider of account "${account}" ${message}` });
  if (!can.types.includes(spec.type)) refuse("/spec/type", `cannot hold ${spec.type} records: ${can.types.join(", ")}`);
  if (spec.ttlSeconds < can.leastTtlSeconds) refuse("/spec/ttlSeconds", `keeps no TTL below ${can.leastTtlSeconds}`);
  if (spec.ttlSeconds > can.mostTtlSeconds) refuse("/spec/ttlSeconds", `keeps no TTL above ${can.mostTtlSeconds}`);
  const count = spec.values.length + (spec.valuesFrom?.length ?? 0);
  if (can.mostSetValues !== undefined && count > can.mostSetValues)
    refuse("/spec/values", `takes ${can.mostSetValues} values in one record set, and these are ${count}`);
  if (can.mostSetCharacters !== undefined) {
    const size = spec.values.reduce((sum, value) => sum + lengthOf(spec, value), 0);
    if (size > can.mostSetCharacters)
      refuse("/spec/values", `takes ${can.mostSetCharacters} characters in one record set, and these are ${size}`);
  }
  return problems;
}

function lengthOf(spec: DnsRecordSpec, value: string): number {
  const parsed = parseDeclaredValue(spec.type, value);
  return parsed.ok ? parsed.value.length : value.length;
}

/** It came through shared code that does not know what it is. */
export function asDnsCapabilities(value: unknown): DnsCapabilities | undefined {
  return typeof value === "object" && value !== null && "types" in value && Array.isArray(value.types)
    ? (value as unknown as DnsCapabilities)
    : undefined;
}
