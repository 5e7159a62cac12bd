import { z } from "zod";
import { parseAbsoluteName } from "../dns-record/domain-name.ts";
import { resourceNameSchema } from "../naming/resource-name-schema.ts";

const domainName = z
  .string()
  .max(254)
  .superRefine((text, context) => {
    const parsed = parseAbsoluteName(text);
    if (!parsed.ok) context.addIssue({ code: "custom", message: parsed.message });
  });

export const dnsZoneSchema = z.strictObject({
  account: resourceNameSchema.describe("The account at whose DNS server the zone is."),
  zone: domainName.describe("The zone's domain name, such as example.com. It must exist on the server."),
  nameservers: z
    .array(domainName)
    .min(1)
    .max(20)
    .optional()
    .describe("When given, nothing is written unless the zone's own NS records are exactly these."),
});

export type DnsZoneSpec = z.output<typeof dnsZoneSchema>;
