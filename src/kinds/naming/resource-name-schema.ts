import { z } from "zod";

/** Names of resources, accounts and scopes: what fits into a path segment and a DNS label. */
export const resourceNameSchema = z
  .string()
  .regex(
    /^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$/,
    "must be 1 to 63 lower-case letters, digits, hyphens and dots, starting and ending with a letter or digit",
  )
  .meta({ description: "1 to 63 lower-case letters, digits, hyphens and dots." });
