import { z } from "zod";
import { resourceNameSchema } from "../naming/resource-name-schema.ts";
import { parseRecordName } from "./domain-name.ts";
import { parseDeclaredValue, recordTypes } from "./record-value.ts";

const longestTtlSeconds = 2_147_483_647;

const fields = z.strictObject({
  zone: resourceNameSchema.describe("The DnsZone in the same scope that this record belongs to."),
  name: z
    .string()
    .min(1)
    .max(254)
    .describe("`@` for the zone itself, a name inside the zone such as `www`, or a full name with a trailing dot."),
  type: z.enum(recordTypes),
  values: z
    .array(z.string().min(1).max(4096))
    .min(1)
    .max(100)
    .describe("One entry per record. TXT is plain text: quotes and splitting are added when it is written."),
  ttlSeconds: z.int().min(1).max(longestTtlSeconds).default(300),
});

export const dnsRecordSchema = fields.superRefine((spec, context) => {
  const name = parseRecordName(spec.name);
  if (!name.ok) context.addIssue({ code: "custom", path: ["name"], message: name.message });
  if (spec.type === "NS" && spec.name === "@") {
    context.addIssue({
      code: "custom",
      path: ["type"],
      message: "the name servers of the zone itself belong to the server and cannot be declared",
    });
  }
  if (spec.type === "CNAME" && spec.name === "@") {
    context.addIssue({
      code: "custom",
      path: ["type"],
      message: "a CNAME cannot stand at the zone itself, beside its SOA and NS",
    });
  }
  if (spec.type === "CNAME" && spec.values.length > 1) {
    context.addIssue({ code: "custom", path: ["values"], message: "a CNAME has exactly one value" });
  }
  const seen = new Set<string>();
  for (const [index, value] of spec.values.entries()) {
    const parsed = parseDeclaredValue(spec.type, value);
    if (!parsed.ok) context.addIssue({ code: "custom", path: ["values", index], message: parsed.message });
    else if (seen.has(parsed.value))
      context.addIssue({ code: "custom", path: ["values", index], message: `"${value}" is there twice` });
    else seen.add(parsed.value);
  }
});

export type DnsRecordSpec = z.output<typeof dnsRecordSchema>;
