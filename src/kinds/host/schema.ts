import { z } from "zod";
import { cloudLabelsSchema } from "../cloud/labels-schema.ts";
import { cloudFamilySchema } from "../compute-provider/schema.ts";
import { parseIpv4 } from "../dns-record/ip-address.ts";
import { typeFields, typeIssue } from "../compute-profile/naming-one.ts";
import { usual } from "../naming/form-hints.ts";
import { resourceNameSchema } from "../naming/resource-name-schema.ts";

export const hostNamed = {
  name: resourceNameSchema,
  scope: z
    .literal("organization")
    .optional()
    .describe("It is declared in the organization, and not in the scope of the host itself."),
};
export const providersName = z.string().min(1).max(255);

/** Which public addresses a server is born with. */
export const publicAddressFields = {
  ipv4: z.boolean().default(true).describe("It has a public IPv4 address."),
  ipv6: z.boolean().default(true).describe("It has a public IPv6 address."),
};

export const sshKeysSchema = z
  .array(providersName)
  .max(50)
  .default([])
  .describe("Keys of the project that may sign in, by name. They count at birth alone.");

export const userDataSchema = z
  .string()
  .max(32_768)
  .optional()
  .describe("What cloud-init is told at birth. Everybody who may see the host can read it: no secrets.");

const signedInto = "Who signs in, how, and what is run then.";
const ssh = z.strictObject({
  account: resourceNameSchema.describe("The account of provider ssh whose private key signs in."),
  user: z
    .string()
    .regex(/^[a-z_][a-z0-9_-]{0,31}$/, "must be the name of a user, such as root")
    .default("root")
    .describe("Who signs in."),
  port: z.int().min(1).max(65_535).default(22).describe("Where its SSH server listens."),
  script: z
    .string()
    .min(1)
    .max(65_536)
    .optional()
    .describe("What is run once on the new server. Everybody who may see the host can read it: no secrets."),
});

/** Of members of a group: each has a host key of its own, which nobody knows before. */
export const memberBootstrapSchema = z
  .strictObject({ ssh: ssh.describe(signedInto) })
  .optional()
  .describe("What is done by SSH on a new server before it counts as active. It counts at birth alone.");

const bootstrap = z
  .strictObject({
    ssh: ssh
      .extend({
        hostKey: z
          .string()
          .regex(/^SHA256:[A-Za-z0-9+/]{43}$/, "must be a fingerprint as ssh-keygen -l prints it: SHA256:…")
          .optional()
          .describe(
            "The fingerprint of its host key. Without it, the one that the server shows first is taken and kept to.",
          ),
      })
      .describe(signedInto),
  })
  .optional()
  .describe("What is done by SSH on the new server before it counts as active. It counts at birth alone.");

export const pooledFamilySchema = cloudFamilySchema
  .optional()
  .describe("Where there is no account of that name, one of this provider is claimed for it from the operator's pool.");

export const hostSchema = z
  .strictObject({
    account: resourceNameSchema.describe("The account at whose provider the server is."),
    family: pooledFamilySchema,
    ...typeFields,
    image: providersName.describe(
      "What it is made from: the provider's name of an image, or the id of a snapshot. Another one is another server.",
    ),
    location: providersName.describe("Where it is made, in the provider's own name, such as fsn1."),
    power: z.enum(["on", "off"]).default("on").describe("Whether the server is to run."),
    labels: cloudLabelsSchema,
    networks: z
      .array(
        z.strictObject({
          ...hostNamed,
          ip: z.string().optional().describe("Its address there; the provider chooses one unless given."),
        }),
      )
      .max(10)
      .default([])
      .describe("The CloudNetworks it is in.")
      .meta(usual),
    firewalls: z
      .array(z.strictObject(hostNamed))
      .max(10)
      .default([])
      .describe("The Firewalls that are for this host by name.")
      .meta(usual),
    volumes: z.array(providersName).max(16).default([]).describe("Volumes of the project that are attached, by name."),
    reverseDns: z.string().min(1).max(253).optional().describe("The name that the server's IPv4 address resolves to."),
    publicAddresses: z
      .strictObject(publicAddressFields)
      .default({ ipv4: true, ipv6: true })
      .describe("Which public addresses it is born with."),
    sshKeys: sshKeysSchema,
    userData: userDataSchema,
    bootstrap,
    group: resourceNameSchema
      .optional()
      .describe("The ScalingGroup of the same scope that it is a member of, and that may take it away."),
    drainSeconds: z
      .int()
      .min(0)
      .max(3_600)
      .default(0)
      .describe("How long it is out of the load balancers before its server goes; 0: it is not taken out first."),
    protect: z.boolean().default(false).describe("The provider's own protection against deletion."),
    adopt: z.boolean().default(false).describe("A server of this name that is there already becomes Setpoint's own."),
  })
  .superRefine(
    ({ networks, firewalls, reverseDns, publicAddresses, bootstrap: { ssh: told } = {}, adopt, ...said }, context) => {
      const issue = typeIssue(said);
      if (issue !== undefined) context.addIssue({ code: "custom", ...issue });
      for (const [index, { ip }] of networks.entries()) {
        const parsed = ip === undefined ? undefined : parseIpv4(ip);
        if (parsed?.ok === false)
          context.addIssue({ code: "custom", path: ["networks", index, "ip"], message: parsed.message });
      }
      for (const [field, list] of Object.entries({ networks, firewalls })) {
        const names = list.map(({ name }) => name);
        const twice = names.findIndex((name, index) => names.indexOf(name) !== index);
        if (twice >= 0) context.addIssue({ code: "custom", path: [field, twice, "name"], message: "is there twice" });
      }
      if (reverseDns !== undefined && !publicAddresses.ipv4)
        context.addIssue({ code: "custom", path: ["reverseDns"], message: "needs a public IPv4 address" });
      if (told !== undefined && adopt)
        context.addIssue({
          code: "custom",
          path: ["bootstrap"],
          message: "is for a new server: one that is adopted is taken just as it is",
        });
    },
  );

export type HostSpec = z.output<typeof hostSchema>;
