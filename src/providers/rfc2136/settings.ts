import { z } from "zod";
import { tsigAlgorithms } from "./tsig.ts";

const keyName = /^[A-Za-z0-9_]([A-Za-z0-9._-]{0,250}[A-Za-z0-9_])?\.?$/;

/** What an account of provider `rfc2136` says about itself. The secret of the key is not here: `credentialRef` says where it is. */
export const rfc2136SettingsSchema = z.strictObject({
  server: z
    .string()
    .regex(/^[A-Za-z0-9.:_-]{1,253}$/, "must be an address or a host name, such as 192.0.2.53 or ns1.example.com")
    .describe("The primary name server: the one that takes updates and gives transfers."),
  port: z.coerce.number().int().min(1).max(65_535).default(53),
  keyName: z
    .string()
    .regex(keyName, "must be the name of a TSIG key, such as setpoint-key")
    .describe("The name of the TSIG key, as the server's configuration has it."),
  algorithm: z.enum(tsigAlgorithms).default("hmac-sha256"),
  sentinelZone: z
    .string()
    .regex(/^[A-Za-z0-9_]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?\.?$/, "must be a zone such as example.com")
    .optional()
    .describe(
      "A zone on this server in which Setpoint leaves its mark as a TXT record, so that a copy of it cannot act here too.",
    ),
});

export type Rfc2136Settings = z.output<typeof rfc2136SettingsSchema>;
