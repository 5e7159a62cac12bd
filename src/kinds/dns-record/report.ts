import type { z } from "zod";
import type { Kind } from "../../kernel/kind.ts";
import type { Json } from "../../ports/json.ts";
import type { Condition, SubjectStatus } from "../../ports/records.ts";
import { propagationReportSchema } from "../dns-zone/propagation-report.ts";
import { recordSetKey } from "../dns-zone/record-set.ts";
import { dnsZoneSchema } from "../dns-zone/schema.ts";
import { absoluteIn, normalName } from "./domain-name.ts";
import type { DnsRecordSpec } from "./schema.ts";

type Reported = ReturnType<NonNullable<Kind["reportOf"]>>;

/** What speaks of this record alone: a value that is held, and what each server of the zone answers where that was asked for. */
export function recordReport(
  { name, type }: DnsRecordSpec,
  whole: { readonly spec: unknown; readonly report: Json | undefined; readonly stale: SubjectStatus["stale"] },
): Reported {
  const zone = dnsZoneSchema.safeParse(whole.spec).data;
  const place = zone === undefined ? undefined : absoluteIn(normalName(zone.zone), name);
  if (place?.ok !== true) return undefined;
  const key = recordSetKey({ name: place.value, type });
  const held = (whole.stale ?? []).filter((entry) => entry.key === key).map(staleCondition);
  const report = propagationReportSchema.safeParse(whole.report).data;
  if (report === undefined) return held.length === 0 ? undefined : { report: undefined, conditions: held };
  const own = { servers: report.servers, sets: report.sets.filter((set) => set.key === key) };
  return { report: own as unknown as Json, conditions: [...held, ...splitConditions(own.sets)] };
}

function staleCondition({ reason, sinceMs }: NonNullable<SubjectStatus["stale"]>[number]): Condition {
  const message = `the last good value stands: ${reason}`;
  return { type: "Stale", status: "True", reason: "ValueUnknown", message, sinceMs };
}

function splitConditions(sets: z.output<typeof propagationReportSchema>["sets"]): readonly Condition[] {
  const old = sets.flatMap(({ answers }) => answers.filter(({ state }) => state === "old"));
  if (old.length === 0) return [];
  const words = old.map(({ server, answer }) => `${server} answers ${answer}`).join("; ");
  const split = { type: "Report/Split", status: "True", reason: "ServersOld", message: words } as const;
  return [{ ...split, sinceMs: Math.min(...old.map(({ sinceMs }) => sinceMs)) }];
}
