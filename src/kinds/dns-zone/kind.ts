import { defineKind } from "../../kernel/kind.ts";
import { dnsZoneLoop } from "./loop.ts";
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
  loop: dnsZoneLoop,
});
