import { z } from "zod";

/** Whom a fault meets. What is left out meets everybody; what is named must be met in full. */
const aim = {
  cloud: z.enum(["hetzner-cloud", "ionos"]).optional(),
  /** A project of Hetzner Cloud, a contract of IONOS. */
  account: z.string().min(1).optional(),
  method: z.enum(["GET", "POST", "PUT", "PATCH", "DELETE"]).optional(),
  /** A regular expression over the path behind the base path, such as "^/servers". */
  path: z.string().min(1).refine(isExpression, "must be a regular expression").optional(),
  /** How often it strikes; left out: until it is taken away. */
  times: z.int().min(1).optional(),
  /** How likely it strikes each time. */
  chance: z.number().gt(0).max(1).optional(),
  /** For how long it is in force. */
  forSeconds: z.number().gt(0).optional(),
};

const when = z.enum(["before", "after"]).default("before");
const text = z.string().min(1).max(200);

/** Before: nothing happened. After: the effect happened, and the caller does not learn of it. */
export const faultSchema = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("latency"), ms: z.number().min(0).max(600_000), ...aim }),
  z.strictObject({ kind: z.literal("timeout"), when, ...aim }),
  z.strictObject({ kind: z.literal("cut"), when, ...aim }),
  z.strictObject({
    kind: z.literal("error"),
    when,
    status: z.int().min(400).max(599).default(503),
    code: text.optional(),
    message: text.optional(),
    ...aim,
  }),
  z.strictObject({ kind: z.literal("rate-limit"), retryAfterSeconds: z.int().min(0).optional(), ...aim }),
  z.strictObject({
    kind: z.literal("half-list"),
    share: z.number().min(0).lt(1).default(0.5),
    /** Whether the total that the list states still counts what is missing. */
    total: z.enum(["kept", "shrunk"]).default("shrunk"),
    ...aim,
  }),
  z.strictObject({ kind: z.literal("stale-list"), ageSeconds: z.number().gt(0).max(900), ...aim }),
  z.strictObject({ kind: z.literal("duplicate-page"), ...aim }),
  z.strictObject({ kind: z.literal("repeated-page"), ...aim }),
  /** Every page but the first is cut from the list in the opposite order: as many entries as there are, and not the same. */
  z.strictObject({ kind: z.literal("reordered-list"), ...aim }),
  z.strictObject({ kind: z.literal("suspended-account"), ...aim }),
  z.strictObject({ kind: z.literal("expired-token"), ...aim }),
  z.strictObject({ kind: z.literal("other-account"), as: z.string().min(1), ...aim }),
  z.strictObject({
    kind: z.literal("no-capacity"),
    location: text.optional(),
    type: text.optional(),
    ...aim,
  }),
  z.strictObject({ kind: z.literal("region-outage"), location: text, ...aim }),
  z.strictObject({ kind: z.literal("slow-actions"), factor: z.number().gt(0).max(100_000), ...aim }),
  z.strictObject({
    kind: z.literal("failed-actions"),
    command: text.optional(),
    code: text.default("action_failed"),
    message: text.default("Action failed"),
    ...aim,
  }),
]);

export type Fault = z.output<typeof faultSchema>;
export type FaultKind = Fault["kind"];
export type FaultOf<K extends FaultKind> = Extract<Fault, { readonly kind: K }>;

function isExpression(pattern: string): boolean {
  try {
    return new RegExp(pattern, "u").source !== "";
  } catch {
    return false;
  }
}
