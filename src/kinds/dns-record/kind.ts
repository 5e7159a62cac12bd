import { sameField, specAsSeen } from "../adoption/spec-as-seen.ts";
import { defineKind } from "../../kernel/kind.ts";
import { recordFits } from "./fits.ts";
import { recordReport } from "./report.ts";
import { type DnsRecordSpec, dnsRecordSchema } from "./schema.ts";

export const dnsRecordKind = defineKind<DnsRecordSpec>({
  kind: "DnsRecord",
  plural: "dnsrecords",
  schema: dnsRecordSchema,
  permission: "project.dns_record",
  scopes: ["organization", "project", "workspace"],
  modeRequired: false,
  accounts: () => [],
  links: (spec) => [{ kind: "DnsZone", name: spec.zone, pointer: "/spec/zone", scope: spec.zoneScope }],
  references: ({ valuesFrom = [] }) =>
    valuesFrom.map(({ kind, name, scope }, index) => ({
      kind,
      name,
      scope,
      pointer: `/spec/valuesFrom/${index}/name`,
    })),
  fits: recordFits,
  asSeen: (spec, { item }, fields) =>
    specAsSeen(item, fields, {
      values: spec["valuesFrom"] === undefined ? sameField("values") : () => "its values come from other resources",
      ttlSeconds: sameField("ttlSeconds"),
    }),
  reportOf: recordReport,
  withoutLoop: "The loop of its DnsZone writes the record sets of the whole zone in one call.",
});
