import { defineKind } from "../../kernel/kind.ts";
import { declarationOfRecordSet } from "./declaration-of.ts";
import { zoneFits } from "./fits.ts";
import { dnsZoneLoop } from "./loop.ts";
import { dnsZoneCreate, dnsZoneDelete } from "./pipelines.ts";
import type { RecordSet } from "./record-set.ts";
import { type DnsZoneSpec, dnsZoneSchema } from "./schema.ts";

export const dnsZoneKind = defineKind<DnsZoneSpec>({
  kind: "DnsZone",
  plural: "dnszones",
  schema: dnsZoneSchema,
  permission: "project.dns_zone",
  scopes: ["organization", "project", "workspace"],
  modeRequired: true,
  accounts: (spec) => [spec.account],
  links: () => [],
  fits: zoneFits,
  declarationOf: ({ name, spec }, item) => declarationOfRecordSet({ name, zone: spec.zone }, item as RecordSet),
  loop: dnsZoneLoop,
  pipelines: [dnsZoneCreate, dnsZoneDelete],
});
