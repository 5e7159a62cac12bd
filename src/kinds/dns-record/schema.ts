import { z } from "zod";
import { usual } from "../naming/form-hints.ts";
import { resourceNameSchema } from "../naming/resource-name-schema.ts";
import { parseRecordName } from "./domain-name.ts";
import { apexProblem } from "./record-name.ts";
import { parseDeclaredValue, recordTypes, valuesProblem } from "./record-value.ts";

/** RFC 2181 8: 31 bits. */
const longestTtlSeconds = 2_147_483_647;

const fields = z.strictObject({
  zone: resourceNameSchema.describe("The DnsZone that this record belongs to."),
  zoneScope: z
    .enum(["organization", "project"])
    .optional()
    .describe(
      "The zone is that of the organization or the project around: it must delegate the name here. Without it the zone is in the same scope.",
    ),
  name: z
    .string()
    .min(1)
    .max(254)
    .describe(
      "`@` for the zone itself, a name inside the zone such as `www`, or a full name with a trailing dot. Names may be written in any letters.",
    ),
  type: z.enum(recordTypes).describe("What kind of record it is: A and AAAA are addresses, CNAME is another name."),
  values: z
    .array(z.string().min(1).max(4096))
    .max(100)
    .default([])
    .describe("One entry per record. TXT is plain text: quotes and splitting are added when it is written.")
    .meta(usual),
  valuesFrom: z
    .array(
      z.strictObject({
        kind: z.string().min(1).max(63).describe("The kind of the resource whose status is used, such as Host."),
        name: resourceNameSchema.describe("Its name."),
        scope: z
          .literal("organization")
          .optional()
          .describe("It is declared in the organization, and not in the scope of the record itself."),
        field: z.string().min(1).max(63).describe("What of it is used, such as ipv4."),
      }),
    )
    .min(1)
    .max(20)
    .optional()
    .describe(
      "Values that other resources show, beside those that are written here. While one of them shows none, the last good ones stand.",
    ),
  ttlSeconds: z
    .int()
    .min(0, "a TTL is 0 or more seconds (RFC 2181 8)")
    .max(longestTtlSeconds, `a TTL is at most ${longestTtlSeconds} seconds (RFC 2181 8)`)
    .default(300)
    .describe("How long resolvers may keep it; 0: not at all.")
    .meta(usual),
});

export const dnsRecordSchema = fields.superRefine((spec, context) => {
  const name = parseRecordName(spec.name);
  if (!name.ok) context.addIssue({ code: "custom", path: ["name"], message: name.message });
  const apex = spec.name === "@" ? apexProblem(spec.type) : undefined;
  if (apex !== undefined) context.addIssue({ code: "custom", path: ["type"], message: apex });
  const seen: string[] = [];
  for (const [index, value] of spec.values.entries()) {
    const parsed = parseDeclaredValue(spec.type, value);
    if (!parsed.ok) context.addIssue({ code: "custom", path: ["values", index], message: parsed.message });
    else if (seen.includes(parsed.value))
      context.addIssue({ code: "custom", path: ["values", index], message: `"${value}" is there twice (RFC 2181 5)` });
    else seen.push(parsed.value);
  }
  if (spec.values.length === 0 && spec.valuesFrom === undefined)
    context.addIssue({
      code: "custom",
      path: ["values"],
      message: "a record has at least one value, or takes one from another resource by valuesFrom (RFC 2181 5)",
    });
  if (spec.valuesFrom !== undefined && spec.type !== "A" && spec.type !== "AAAA")
    context.addIssue({
      code: "custom",
      path: ["valuesFrom"],
      message: `only A and AAAA records take the addresses of other resources, and this is ${spec.type}`,
    });
  const together = valuesProblem(spec.type, seen);
  if (together !== undefined) context.addIssue({ code: "custom", path: ["values"], message: together });
});

export type DnsRecordSpec = z.output<typeof dnsRecordSchema>;
