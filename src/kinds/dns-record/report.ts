import type { Json } from "../../ports/json.ts";
import type { Condition } from "../../ports/records.ts";
import { propagationReportSchema } from "../dns-zone/propagation-report.ts";
import { recordSetKey } from "../dns-zone/record-set.ts";
import { dnsZoneSchema } from "../dns-zone/schema.ts";
import { absoluteIn, normalName } from "./domain-name.ts";
import type { DnsRecordSpec } from "./schema.ts";

/** The servers of the zone, and what each answers for this record where that was asked for. */
export function recordReport(
  { name, type }: DnsRecordSpec,
  whole: { readonly spec: unknown; readonly report: Json },
): { readonly report: Json; readonly conditions: readonly Condition[] } | undefined {
  const zone = dnsZoneSchema.safeParse(whole.spec).data;
  const report = propagationReportSchema.safeParse(whole.report).data;
  const place = zone === undefined ? undefined : absoluteIn(normalName(zone.zone), name);
  if (report === undefined || place?.ok !== true) return undefined;
  const key = recordSetKey({ name: place.value, type });
  const own = { servers: report.servers, sets: report.sets.filter((set) => set.key === key) };
  const old = own.sets.flatMap(({ answers }) => answers.filter(({ state }) => state === "old"));
  const [first] = old;
  const words = old.map(({ server, answer }) => `${server} answers ${answer}`).join("; ");
  const split = { type: "Report/Split", status: "True", reason: "ServersOld", message: words } as const;
  return {
    report: own as unknown as Json,
    conditions: first === undefined ? [] : [{ ...split, sinceMs: Math.min(...old.map(({ sinceMs }) => sinceMs)) }],
  };
}
