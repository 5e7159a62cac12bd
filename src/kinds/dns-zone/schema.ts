import { z } from "zod";
import { parseAbsoluteName } from "../dns-record/domain-name.ts";
import { resourceNameSchema } from "../naming/resource-name-schema.ts";
import { type Delegation, ownerWords, parsePattern, patternsOverlap } from "./delegation.ts";

const domainName = z
  .string()
  .max(254)
  .superRefine((text, context) => {
    const parsed = parseAbsoluteName(text);
    if (!parsed.ok) context.addIssue({ code: "custom", message: parsed.message });
  });

const serverAddress = z
  .string()
  .regex(
    /^(?:\[[0-9A-Fa-f:.]{2,45}\](?::\d{1,5})?|[0-9A-Fa-f]*:[0-9A-Fa-f:.]+|[0-9.]{7,15}(?::\d{1,5})?)$/,
    "must be an address, with or without a port, such as 192.0.2.53:53 or [2001:db8::53]:53",
  );

const fields = z.strictObject({
  account: resourceNameSchema.describe("The account at whose DNS server the zone is."),
  zone: domainName.describe(
    "The zone's domain name, such as example.com. It must exist on the server, unless makesZone says otherwise.",
  ),
  nameservers: z
    .array(domainName)
    .min(1)
    .max(20)
    .optional()
    .describe("When given, nothing is written unless the zone's own NS records are exactly these."),
  ownership: z
    .enum(["records", "zone", "registry"])
    .default("records")
    .describe(
      "What is ours: the record sets that Setpoint made or took over; everything in the zone; or the former, each with an entry in external-dns's registry.",
    ),
  registryOwner: z
    .string()
    .regex(/^[A-Za-z0-9._-]{1,63}$/, "must be 1 to 63 letters, digits, dots, hyphens and underscores")
    .default("setpoint")
    .describe("With ownership registry: the owner that the entries name."),
  delegations: z
    .array(
      z.strictObject({
        pattern: z
          .string()
          .min(1)
          .max(254)
          .describe(
            "Names in the zone, such as `*.web`. A `*` stands for exactly one label, and there is at most one.",
          ),
        project: resourceNameSchema.optional().describe("The project that declares records there."),
        workspace: resourceNameSchema.optional().describe("The workspace of it, if not all of the project."),
      }),
    )
    .max(1_000)
    .optional()
    .describe("Names whose records other scopes declare. Nobody else does, the scope of the zone included."),
  propagation: z
    .strictObject({
      servers: z
        .array(serverAddress)
        .min(1)
        .max(13)
        .optional()
        .describe("The zone's servers by address, such as 192.0.2.53:53, where its NS records do not say."),
      resolvers: z.array(serverAddress).max(10).default([]).describe("Resolvers to look through, by address."),
    })
    .optional()
    .describe("Asks every server of the zone and these resolvers by real queries, and reports who is behind."),
  makesZone: z
    .boolean()
    .optional()
    .describe("Setpoint makes the zone itself, by the operation dns-zone.create, and deletes it with this resource."),
  adopt: z.boolean().optional().describe("With makesZone: a zone that is there already becomes Setpoint's own."),
  dnssec: z.boolean().optional().describe("With makesZone: the zone is signed."),
});

export const dnsZoneSchema = fields.superRefine(({ makesZone, nameservers, adopt, dnssec, delegations }, context) => {
  if (makesZone === true && nameservers === undefined)
    context.addIssue({ code: "custom", path: ["nameservers"], message: "must be named for a zone that is to be made" });
  for (const issue of delegationIssues(delegations ?? [])) context.addIssue({ code: "custom", ...issue });
  for (const [name, value] of Object.entries({ adopt, dnssec }))
    if (makesZone !== true && value === true)
      context.addIssue({ code: "custom", path: [name], message: "is only for a zone that Setpoint makes (makesZone)" });
});

export type DnsZoneSpec = z.output<typeof dnsZoneSchema>;

/** Each pattern by itself, and none that shares a name with another one. */
function delegationIssues(delegations: readonly Delegation[]) {
  const issues: { readonly path: (string | number)[]; readonly message: string }[] = [];
  const read: { readonly labels: readonly string[]; readonly delegation: Delegation }[] = [];
  for (const [index, delegation] of delegations.entries()) {
    const path = ["delegations", index, "pattern"];
    const parsed = parsePattern(delegation.pattern);
    if (!parsed.ok) {
      issues.push({ path, message: parsed.message });
      continue;
    }
    if (delegation.project === undefined && delegation.workspace === undefined)
      issues.push({ path: ["delegations", index], message: "must name the project or the workspace it is for" });
    const other = read.find(({ labels }) => patternsOverlap(labels, parsed.value))?.delegation;
    if (other !== undefined)
      issues.push({
        path,
        message: `"${delegation.pattern}" of ${ownerWords(delegation)} overlaps "${other.pattern}" of ${ownerWords(other)}: some names would be both's`,
      });
    read.push({ labels: parsed.value, delegation });
  }
  return issues;
}
