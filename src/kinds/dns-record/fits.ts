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
  if (linked === undefined || !zone.success) return [];
  const apex = parseAbsoluteName(zone.data.zone);
  if (!apex.ok) return [];
  const problems: FieldProblem[] = [];
  const name = recordNameIn(apex.value, spec.name, spec.type);
  const place = { scope: linked.scope, delegations: zone.data.delegations ?? [] };
  const delegated = name.ok
    ? delegationProblem({ ...place, zone: apex.value }, name.value, around.scope)
    : name.message;
  if (delegated !== undefined) problems.push({ pointer: "/spec/name", message: delegated });
  if (isCapabilities(linked.capabilities))
    problems.push(...beyondProvider(spec, linked.capabilities, zone.data.account));
  return problems;
}

function beyondProvider(spec: DnsRecordSpec, can: DnsCapabilities, account: string): readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  const refuse = (pointer: string, message: string) =>
    problems.push({ pointer, message: `the provider of account "${account}" ${message}` });
  if (!can.types.includes(spec.type)) refuse("/spec/type", `cannot hold ${spec.type} records: ${can.types.join(", ")}`);
  if (spec.ttlSeconds < can.leastTtlSeconds) refuse("/spec/ttlSeconds", `keeps no TTL below ${can.leastTtlSeconds}`);
  if (spec.ttlSeconds > can.mostTtlSeconds) refuse("/spec/ttlSeconds", `keeps no TTL above ${can.mostTtlSeconds}`);
  if (can.mostSetValues !== undefined && spec.values.length > can.mostSetValues)
    refuse("/spec/values", `takes ${can.mostSetValues} values in one record set, and these are ${spec.values.length}`);
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
function isCapabilities(value: unknown): value is DnsCapabilities {
  return typeof value === "object" && value !== null && "types" in value && Array.isArray(value.types);
}
