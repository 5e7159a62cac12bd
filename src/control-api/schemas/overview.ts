import { z } from "zod";
import { nameSchema, timeSchema } from "./common.ts";
import { resourceListQuerySchema } from "./resource-query.ts";

/** What the list over every kind takes: what a list takes, and which kinds and scopes. */
export const overviewQuerySchema = resourceListQuerySchema.omit({ sort: true, watch: true, cursor: true }).extend({
  kind: z.string().max(63).optional().meta({ description: "Of this kind alone." }),
  project: nameSchema.optional().meta({ description: "In this project and its workspaces." }),
  workspace: nameSchema.optional().meta({ description: "In this workspace of the project." }),
  paths: z.string().min(1, "an empty list never means all: leave it out").max(8_000).optional().meta({
    description:
      "These alone, by their routes below the organization, such as `projects/p/dnszones/z`, separated by commas, at most 100; with no other filter. What is not there, or not yours to read, is left out.",
  }),
});
export type OverviewQuery = z.output<typeof overviewQuerySchema>;

export const figuresSchema = z
  .object({
    items: z.array(
      z.object({
        kind: z.string(),
        scope: z.string().meta({ description: "The project and workspace; empty: the organization itself." }),
        total: z.int(),
        deleting: z.int(),
        notReady: z.int(),
        unknown: z.int(),
        drifted: z.int(),
        held: z.int(),
      }),
    ),
  })
  .meta({
    id: "Figures",
    description: "How many resources there are, by kind and scope, of what the caller may read.",
  });
export type FiguresDocument = z.output<typeof figuresSchema>;

export const changesQuerySchema = z.strictObject({
  cursor: z.string().max(64).optional().meta({ description: "Where to go on, as Last-Event-ID says it." }),
});

/** One event of the stream: only that something changed. Whoever shows it reads it. */
export const changesSchema = z
  .object({
    at: timeSchema,
    resources: z.array(z.object({ kind: z.string(), name: z.string(), link: z.string(), removed: z.boolean() })),
    /** Other records that changed: `held-change`, `pause`, `policy`, `operation`… */
    records: z.array(z.string()),
    /** More changed than is named here: read everything again. */
    truncated: z.boolean(),
  })
  .meta({ id: "Changes" });
export type ChangesDocument = z.output<typeof changesSchema>;
