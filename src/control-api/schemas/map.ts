import { z } from "zod";
import { nameSchema } from "./common.ts";
import { figuresSchema } from "./overview.ts";
import { resourceSchema } from "./resource.ts";

/** More cards than this nobody can read, and no browser draws with ease. */
export const cardsAtMost = 300;

export const mapQuerySchema = z.strictObject({
  kind: z.string().max(63).optional().meta({ description: "Of this kind alone." }),
  project: nameSchema.optional().meta({ description: "In this project and its workspaces." }),
  workspace: nameSchema.optional().meta({ description: "In this workspace of the project." }),
  focus: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .meta({ description: "The uid of a resource: it and its neighbourhood alone, whatever their kind and scope." }),
  hops: z.coerce
    .number()
    .int()
    .min(1)
    .max(4)
    .default(2)
    .meta({ description: "How far around the focus: 1 is what it relates to itself." }),
});
export type MapQuery = z.output<typeof mapQuerySchema>;

export const mapSchema = z
  .object({
    /** Resources that are drawn, without their spec. */
    cards: z.array(resourceSchema.omit({ spec: true })),
    /** Lists that are too long to be drawn one by one. */
    groups: z.array(figuresSchema.shape.items.element.extend({ id: z.string() })),
    edges: z.array(z.object({ from: z.string(), to: z.string() })).meta({
      description: "From what refers to, or is a part of, to what it names: uids of cards and ids of groups.",
    }),
    leftOut: z
      .object({ resources: z.int(), groups: z.int() })
      .meta({ description: "What fits the query and is neither drawn nor counted in a group; 0 where all is there." }),
    /** Around a focus: more relates to it than is drawn. */
    truncated: z.boolean(),
  })
  .meta({
    id: "Map",
    description: `What relates to what: at most ${cardsAtMost} cards and groups. Relations of a group are those of its first members.`,
  });
export type MapDocument = z.output<typeof mapSchema>;
