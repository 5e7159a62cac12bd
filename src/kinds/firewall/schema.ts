import { z } from "zod";
import { cidrSchema } from "../cloud/cidr-schema.ts";
import { cloudLabelsSchema } from "../cloud/labels-schema.ts";
import { usual } from "../naming/form-hints.ts";
import { resourceNameSchema } from "../naming/resource-name-schema.ts";

const highestPort = 65_535;

const portSchema = z
  .string()
  .max(11)
  .superRefine((text, context) => {
    const match = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text);
    const from = Number(match?.[1]);
    const to = Number(match?.[2] ?? match?.[1]);
    if (match === null || from < 1 || to > highestPort || from > to)
      context.addIssue({
        code: "custom",
        message: `must be a port or a range, such as 443 or 8000-8100, within 1 to ${highestPort}`,
      });
  });

const ruleSchema = z
  .strictObject({
    direction: z.enum(["in", "out"]).default("in").describe("Whether it is about what comes in or what goes out."),
    protocol: z.enum(["tcp", "udp", "icmp", "esp", "gre"]).describe("What is spoken."),
    port: portSchema.optional().describe("One port or a range; of TCP and UDP, which need one.").meta(usual),
    cidrs: z
      .array(cidrSchema)
      .min(1)
      .max(100)
      .describe("Where what comes in may come from, or where what goes out may go. 0.0.0.0/0 and ::/0 are everybody."),
    description: z.string().min(1).max(255).optional().describe("What it is for, for people."),
  })
  .superRefine(({ protocol, port }, context) => {
    const ported = protocol === "tcp" || protocol === "udp";
    if (ported && port === undefined)
      context.addIssue({
        code: "custom",
        path: ["port"],
        message: `a rule of ${protocol} needs a port; every port is 1-${highestPort}`,
      });
    if (!ported && port !== undefined)
      context.addIssue({ code: "custom", path: ["port"], message: `${protocol} has no ports` });
  });

export const firewallSchema = z.strictObject({
  account: resourceNameSchema.describe("The account at whose provider the firewall is."),
  applies: z
    .enum(["named", "scope"])
    .default("named")
    .describe(
      "named: to the hosts whose spec names it. scope: to every Host that was declared in this firewall's scope or below, at this account.",
    )
    .meta(usual),
  rules: z
    .array(ruleSchema)
    .max(50)
    .describe(
      "What is let through. What no firewall of a host lets in stays out; see the page of this kind for how layers combine.",
    ),
  labels: cloudLabelsSchema,
});

export type FirewallSpec = z.output<typeof firewallSchema>;
