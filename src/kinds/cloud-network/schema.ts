import { z } from "zod";
import { covers, parseCidr } from "../cloud/cidr.ts";
import { cidrSchema } from "../cloud/cidr-schema.ts";
import { cloudLabelsSchema } from "../cloud/labels-schema.ts";
import { parseIpv4 } from "../dns-record/ip-address.ts";
import { usual } from "../naming/form-hints.ts";
import { resourceNameSchema } from "../naming/resource-name-schema.ts";

const fields = z.strictObject({
  account: resourceNameSchema.describe("The account at whose provider the network is."),
  range: cidrSchema
    .optional()
    .describe(
      "All private addresses of the network, such as 10.0.0.0/16. It can be widened in place. Needed where the provider does not give the addresses.",
    )
    .meta(usual),
  location: z
    .string()
    .min(1)
    .max(255)
    .optional()
    .describe("Where it is, in the provider's own name; needed where networks are in one place, and nowhere else."),
  subnets: z
    .array(
      z.strictObject({
        range: cidrSchema,
        zone: z.string().min(1).max(63).describe("The provider's network zone, such as eu-central."),
      }),
    )
    .max(50)
    .default([])
    .describe("Parts of the range that servers get their addresses from.")
    .meta(usual),
  routes: z
    .array(
      z.strictObject({
        destination: cidrSchema,
        gateway: z.string().describe("The address inside the network that it goes to."),
      }),
    )
    .max(100)
    .default([])
    .describe("Where traffic for other addresses goes: a gateway inside the network."),
  labels: cloudLabelsSchema,
  protect: z.boolean().default(false).describe("The provider's own protection against deletion."),
});

export const cloudNetworkSchema = fields.superRefine((spec, context) => {
  const refuse = (path: (string | number)[], message: string) => context.addIssue({ code: "custom", path, message });
  if (spec.range === undefined) {
    if (spec.subnets.length > 0) refuse(["subnets"], "need spec.range");
    if (spec.routes.length > 0) refuse(["routes"], "need spec.range");
    return;
  }
  const range = parseCidr(spec.range);
  if (!range.ok) return;
  if (range.cidr.family !== "ipv4") refuse(["range"], "must be IPv4: private networks of clouds have no other");
  const seen: NonNullable<ReturnType<typeof blockOf>>[] = [];
  for (const [index, subnet] of spec.subnets.entries()) {
    const block = blockOf(subnet.range);
    if (block === undefined) continue;
    if (!covers(range.cidr, block))
      refuse(["subnets", index, "range"], `is not inside the network's range ${range.cidr.text}`);
    const other = seen.find((one) => covers(one, block) || covers(block, one));
    if (other !== undefined) refuse(["subnets", index, "range"], `overlaps with ${other.text}`);
    seen.push(block);
  }
  for (const [index, route] of spec.routes.entries()) {
    const gateway = parseIpv4(route.gateway);
    if (!gateway.ok) refuse(["routes", index, "gateway"], gateway.message);
    const block = gateway.ok ? blockOf(`${gateway.value}/32`) : undefined;
    if (block !== undefined && !covers(range.cidr, block))
      refuse(["routes", index, "gateway"], `is not inside the network's range ${range.cidr.text}`);
  }
});

function blockOf(text: string) {
  const parsed = parseCidr(text);
  return parsed.ok ? parsed.cidr : undefined;
}

export type CloudNetworkSpec = z.output<typeof cloudNetworkSchema>;
