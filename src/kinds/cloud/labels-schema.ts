import { z } from "zod";

const word = /^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;

/** Labels as clouds take them. Those that begin with `setpoint-` are Setpoint's own. */
export const cloudLabelsSchema = z
  .record(
    z
      .string()
      .regex(word, "must be 1 to 63 letters, digits, dots, underscores and hyphens")
      .refine(
        (key) => !key.toLowerCase().startsWith("setpoint-"),
        "labels that begin with setpoint- are Setpoint's own",
      ),
    z
      .string()
      .regex(
        /^$|^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/,
        "must be a label's value: at most 63 letters, digits, dots, underscores and hyphens",
      ),
  )
  .default({})
  .describe("Labels of the thing at the provider. Others that somebody put there are taken away.");
