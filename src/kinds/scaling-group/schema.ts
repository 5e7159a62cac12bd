import { z } from "zod";
import { cloudLabelsSchema } from "../cloud/labels-schema.ts";
import { typeFields, typeIssue } from "../compute-profile/naming-one.ts";
import {
  hostNamed,
  memberBootstrapSchema,
  pooledFamilySchema,
  providersName,
  publicAddressFields,
  sshKeysSchema,
  userDataSchema,
} from "../host/schema.ts";
import { usual } from "../naming/form-hints.ts";
import { resourceNameSchema } from "../naming/resource-name-schema.ts";

const days = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"] as const;
const clockTime = z.string().regex(/^([01][0-9]|2[0-3]):[0-5][0-9]$/, "must be a time of day such as 08:00");

const template = z
  .strictObject({
    ...typeFields,
    image: providersName.describe("What members are made from."),
    location: providersName.describe("Where members are made, in the provider's own name."),
    labels: cloudLabelsSchema,
    networks: z.array(z.strictObject(hostNamed)).max(10).default([]).describe("The CloudNetworks that members are in."),
    firewalls: z.array(z.strictObject(hostNamed)).max(10).default([]).describe("Firewalls for members by name."),
    publicAddresses: z
      .strictObject(publicAddressFields)
      .default({ ipv4: true, ipv6: true })
      .describe("Which public addresses members are born with."),
    sshKeys: sshKeysSchema,
    userData: userDataSchema,
    bootstrap: memberBootstrapSchema,
  })
  .superRefine((said, context) => {
    const issue = typeIssue(said);
    if (issue !== undefined) context.addIssue({ code: "custom", ...issue });
  })
  .describe("What every member is declared as.");

/** The share that members of one group may have of an account's calls has a bound, and each is asked for its load. */
const measuredMembersMax = 50;

const threshold = (unit: string, most: number) =>
  z
    .strictObject({
      upAbove: z
        .number()
        .positive()
        .max(most)
        .describe(`One more is declared where the mean is above this, in ${unit}.`),
      downBelow: z
        .number()
        .min(0)
        .max(most)
        .describe(`One less where the mean of every metric is below its own, in ${unit}.`),
    })
    .refine(({ upAbove, downBelow }) => downBelow < upAbove, {
      path: ["downBelow"],
      message: "must be below upAbove: else the group would grow and shrink in turns",
    })
    .optional();

export const scalingGroupSchema = z
  .strictObject({
    account: resourceNameSchema.describe("The account at whose provider the members are."),
    family: pooledFamilySchema,
    mode: z
      .enum(["static", "manual", "metric"])
      .default("static")
      .describe("static: as many as desired says. manual: people add and remove members. metric: by their load.")
      .meta(usual),
    min: z.int().min(0).max(1_000).describe("Never fewer members than this."),
    max: z.int().min(1).max(1_000).describe("Never more members than this."),
    desired: z
      .int()
      .min(0)
      .max(1_000)
      .optional()
      .describe("static: how many. metric: how many to begin with.")
      .meta(usual),
    template,
    metrics: z
      .strictObject({
        cpuPercent: threshold("percent of all cores", 100).describe("How busy members are."),
        networkMegabits: threshold("megabits per second, both ways together", 100_000).describe(
          "How much members send and receive.",
        ),
      })
      .default({})
      .describe("metric: what the size follows. Up where one of them asks for it, down only where all allow it."),
    windowSeconds: z.int().min(60).max(3_600).default(300).describe("Over how long the load of a member is averaged."),
    stepUp: z.int().min(1).max(100).default(1).describe("How many are added at a time."),
    maxStepDown: z
      .int()
      .min(1)
      .max(100)
      .optional()
      .describe("How many may go at a time without anybody's approval; the larger of 1 and a tenth unless given."),
    cooldownSeconds: z
      .int()
      .min(60)
      .max(86_400)
      .default(300)
      .describe("How long after a change nothing is changed again."),
    keepWindows: z
      .array(
        z.strictObject({
          days: z.array(z.enum(days)).min(1).max(7).describe("On which days."),
          from: clockTime.describe("From when, such as 08:00."),
          to: clockTime.describe("Until when, such as 18:00."),
        }),
      )
      .max(20)
      .default([])
      .describe("Times of the week, in UTC, in which metrics never make the group smaller."),
    victims: z.enum(["newest", "oldest"]).default("newest").describe("Who goes first."),
    drainSeconds: z
      .int()
      .min(0)
      .max(3_600)
      .default(30)
      .describe("How long a member is out of the load balancers before its server goes."),
  })
  .superRefine(({ mode, min, max, desired, metrics }, context) => {
    const issue = (path: string, message: string) => context.addIssue({ code: "custom", path: [path], message });
    if (max < min) issue("max", "must not be below min");
    if (desired !== undefined && (desired < min || desired > max)) issue("desired", "must be within min and max");
    if (mode === "static" && desired === undefined) issue("desired", "is needed in mode static");
    if (mode === "manual" && desired !== undefined)
      issue("desired", "is nobody's in mode manual: people add and remove members");
    const measured = Object.values(metrics).some((metric) => metric !== undefined);
    if (mode === "metric" && !measured) issue("metrics", "must name at least one metric in mode metric");
    if (mode !== "metric" && measured) issue("metrics", "is of mode metric alone");
    if (mode === "metric" && max > measuredMembersMax)
      issue("max", `must be at most ${measuredMembersMax} in mode metric: every member is asked for its load`);
    if (mode === "metric" && min < 1) issue("min", "must be at least 1 in mode metric: nobody measures an empty group");
  });

export type ScalingGroupSpec = z.output<typeof scalingGroupSchema>;

/** The days of a keep window as numbers; 0 is Sunday. */
export function dayNumber(day: (typeof days)[number]): number {
  return days.indexOf(day);
}
