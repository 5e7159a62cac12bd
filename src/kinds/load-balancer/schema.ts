import { z } from "zod";
import { parseCidr } from "../cloud/cidr.ts";
import { cidrSchema } from "../cloud/cidr-schema.ts";
import { cloudLabelsSchema } from "../cloud/labels-schema.ts";
import { parseIpv4 } from "../dns-record/ip-address.ts";
import { usual } from "../naming/form-hints.ts";
import { resourceNameSchema } from "../naming/resource-name-schema.ts";

const providersName = z.string().min(1).max(255);
const portSchema = z.int().min(1).max(65_535);
const scope = z
  .literal("organization")
  .optional()
  .describe("It is declared in the organization, and not in the scope of the load balancer itself.");
const ipv4 = z.string().superRefine((text, context) => {
  const parsed = parseIpv4(text);
  if (!parsed.ok) context.addIssue({ code: "custom", message: parsed.message });
});
const origins = z.array(cidrSchema).max(100).default([]);

const checkSchema = z
  .strictObject({
    protocol: z.enum(["tcp", "http"]).optional().describe("http for services that speak it, else tcp."),
    port: portSchema.optional().describe("Where it is asked; the service's targetPort unless given."),
    everySeconds: z.int().min(3).max(60).default(15).describe("How often each target is asked."),
    timeoutSeconds: z.int().min(1).max(60).default(10).describe("How long an answer may take."),
    retries: z.int().min(1).max(5).default(3).describe("How often it may fail before a target gets nothing any more."),
    domain: z.string().max(253).default("").describe("The host name that an HTTP check asks for."),
    path: z.string().max(255).regex(/^\//, "must begin with /").default("/").describe("What an HTTP check asks for."),
    response: z.string().max(255).default("").describe("What an answer must contain."),
    statuses: z
      .array(z.string().regex(/^[1-5][0-9?]{2}$/, "must be a status such as 200, or 2?? for all that begin so"))
      .min(1)
      .max(20)
      .default(["2??", "3??"])
      .describe("Which statuses are good, such as 200, or 2?? for all that begin so."),
    tls: z.boolean().default(false).describe("An HTTP check is made over TLS."),
  })
  .superRefine(({ everySeconds, timeoutSeconds }, context) => {
    if (timeoutSeconds > everySeconds)
      context.addIssue({ code: "custom", path: ["timeoutSeconds"], message: "must not be more than everySeconds" });
  });

const serviceSchema = z
  .strictObject({
    protocol: z.enum(["tcp", "http", "https"]).describe("What visitors speak; https needs a certificate."),
    listenPort: portSchema.describe("Where visitors come."),
    targetPort: portSchema.describe("Where targets listen."),
    proxyProtocol: z.boolean().default(false).describe("Targets are told who asks, by PROXY protocol."),
    redirectHttp: z.boolean().default(false).describe("Visitors of port 80 are sent to this service, which is https."),
    sticky: z
      .strictObject({
        cookie: z
          .string()
          .regex(/^[A-Za-z0-9_-]{1,64}$/, "must be 1 to 64 letters, digits, underscores and hyphens")
          .default("HCLBSTICKY")
          .describe("What the cookie is called."),
        lifetimeSeconds: z.int().min(30).max(86_400).default(300).describe("How long it is kept."),
      })
      .optional()
      .describe("A visitor stays with one target, by a cookie."),
    certificates: z
      .array(providersName)
      .max(10)
      .default([])
      .describe("Certificates at the provider, by name; of https alone. Setpoint never holds a private key."),
    check: checkSchema.prefault({}).describe("How it is found out whether a target answers."),
    allowedOrigins: origins.describe("Who may visit; empty: everybody. Not every provider can."),
    blockedOrigins: origins.describe("Who may not. Not every provider can."),
  })
  .superRefine((service, context) => {
    const refuse = (path: string, message: string) => context.addIssue({ code: "custom", path: [path], message });
    const { protocol, certificates } = service;
    if (protocol === "https" && certificates.length === 0) refuse("certificates", "https needs at least one");
    if (protocol !== "https" && certificates.length > 0) refuse("certificates", `${protocol} has none: use https`);
    if (protocol !== "https" && service.redirectHttp) refuse("redirectHttp", "is for https alone");
    if (protocol === "tcp" && service.sticky !== undefined) refuse("sticky", "is for http and https alone");
    const allowed = service.allowedOrigins.map(textOf);
    const both = service.blockedOrigins.find((cidr) => allowed.includes(textOf(cidr)));
    if (both !== undefined) refuse("blockedOrigins", `${both} is allowed and blocked at once`);
  });

function textOf(cidr: string): string {
  const parsed = parseCidr(cidr);
  return parsed.ok ? parsed.cidr.text : cidr;
}

const privately = z
  .boolean()
  .default(false)
  .describe("It is reached by its address in the load balancer's network, and not by its public one.");
const targetSchema = z.union([
  z
    .strictObject({ host: resourceNameSchema.describe("The name of a Host."), scope, private: privately })
    .meta({ title: "one host" }),
  z
    .strictObject({
      labels: cloudLabelsSchema
        .describe("Every Host of the load balancer's scope or below with these labels.")
        .meta(usual),
      private: privately,
    })
    .meta({ title: "hosts with labels" }),
  z
    .strictObject({ ip: ipv4.describe("An address outside, such as one of a dedicated server.") })
    .meta({ title: "an address" }),
]);

export const loadBalancerSchema = z
  .strictObject({
    account: resourceNameSchema.describe("The account at whose provider the load balancer is."),
    type: providersName.describe("The provider's name of the type, such as lb11. It can be changed in place."),
    location: providersName.describe("Where it is, in the provider's own name, such as fsn1."),
    algorithm: z
      .enum(["round-robin", "least-connections"])
      .default("round-robin")
      .describe("Who gets the next visitor."),
    network: z
      .strictObject({
        name: resourceNameSchema,
        scope,
        ip: ipv4.optional().describe("Its address there; the provider chooses one unless given."),
      })
      .optional()
      .describe("The CloudNetwork it is in."),
    public: z.boolean().default(true).describe("It has public addresses."),
    services: z.array(serviceSchema).max(100).default([]).describe("What it listens to.").meta(usual),
    targets: z.array(targetSchema).max(200).default([]).describe("Where that goes.").meta(usual),
    labels: cloudLabelsSchema,
    protect: z.boolean().default(false).describe("The provider's own protection against deletion."),
  })
  .superRefine((spec, context) => {
    const refuse = (path: (string | number)[], message: string) => context.addIssue({ code: "custom", path, message });
    const ports = spec.services.flatMap(({ listenPort, redirectHttp }) =>
      redirectHttp ? [listenPort, 80] : listenPort,
    );
    const twice = ports.find((port, index) => ports.indexOf(port) !== index);
    if (twice !== undefined) refuse(["services"], `port ${twice} is listened to twice`);
    const keys = spec.targets.map((target) => JSON.stringify({ ...target, private: undefined }));
    const again = keys.findIndex((key, index) => keys.indexOf(key) !== index);
    if (again >= 0) refuse(["targets", again], "is there twice");
    if (spec.network === undefined) {
      if (!spec.public) refuse(["public"], "a load balancer that is in no network needs public addresses");
      const alone = spec.targets.findIndex((target) => "private" in target && target.private);
      if (alone >= 0) refuse(["targets", alone, "private"], "needs spec.network");
    }
    const open = spec.targets.findIndex((target) => "private" in target && !target.private);
    if (!spec.public && open >= 0)
      refuse(["targets", open, "private"], "must be true: the load balancer has no public addresses");
  });

export type LoadBalancerSpec = z.output<typeof loadBalancerSchema>;
