import { z } from "zod";
import { parseCidr } from "./cidr.ts";

export const cidrSchema = z
  .string()
  .max(50)
  .superRefine((text, context) => {
    const parsed = parseCidr(text);
    if (!parsed.ok) context.addIssue({ code: "custom", message: parsed.message });
  })
  .meta({ description: "A block of IPv4 or IPv6 addresses, such as 10.0.0.0/16." });
