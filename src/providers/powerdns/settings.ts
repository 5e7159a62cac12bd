import { z } from "zod";

/** What an account of provider `powerdns` says about itself. The API key is not here: `credentialRef` says where it is. */
export const powerDnsSettingsSchema = z.strictObject({
  url: z
    .url({ protocol: /^https?$/, error: "must be an http or https URL such as http://127.0.0.1:8081" })
    .describe("Where the server's HTTP API listens, without /api/v1."),
  server: z
    .string()
    .regex(/^[A-Za-z0-9._-]{1,64}$/)
    .default("localhost")
    .describe("The server's id in its own API."),
  sentinel: z
    .enum(["tsig-key", "none"])
    .default("tsig-key")
    .describe(
      "Where Setpoint leaves its mark: an unused TSIG key, or nowhere if the server's backend cannot store one.",
    ),
  resolver: z
    .string()
    .regex(/^[0-9A-Fa-f.:[\]]{2,60}$/, "must be an address, with or without a port, such as 192.0.2.53:53")
    .optional()
    .describe(
      "Whom to ask whether a zone is delegated to its name servers; the system's resolver unless said otherwise.",
    ),
});

export type PowerDnsSettings = z.output<typeof powerDnsSettingsSchema>;
