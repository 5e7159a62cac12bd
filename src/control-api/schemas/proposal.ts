import { z } from "zod";
import { nameSchema, timeSchema } from "./common.ts";
import { dryRunSchema } from "./dry-run.ts";
import { manifestSchema } from "./resource.ts";

const where = { project: nameSchema.optional(), workspace: nameSchema.optional() };

const proposedChangeSchema = z
  .union([
    z.strictObject({ manifest: manifestSchema, ...where }),
    z.strictObject({
      delete: z.strictObject({
        kind: z.string().min(1).max(63),
        name: nameSchema,
        orphan: z.boolean().default(false),
        confirm: z.int().min(0).optional(),
      }),
      ...where,
    }),
  ])
  .meta({
    id: "ProposedChange",
    description: "A manifest to declare, or a resource to delete, in the scope it names.",
  });
export type ProposedChange = z.output<typeof proposedChangeSchema>;

export const proposalBodySchema = z
  .strictObject({
    reason: z.string().trim().min(1, "say why").max(2_000),
    changes: z.array(proposedChangeSchema).min(1, "an empty set changes nothing").max(100),
  })
  .meta({ id: "NewProposal" });

export const proposalSchema = z
  .object({
    id: z.string(),
    state: z.enum(["open", "approved", "rejected", "applied", "withdrawn"]),
    author: z.string(),
    authorType: z.enum(["person", "machine", "assistant"]),
    reason: z.string(),
    changes: z.array(proposedChangeSchema),
    /** What the changes would lead to, all together. */
    plan: dryRunSchema,
    digest: z.string(),
    proposedAt: timeSchema,
    decidedBy: z.string().optional(),
    decidedAt: timeSchema.optional(),
    comment: z.string().optional(),
    appliedAt: timeSchema.optional(),
  })
  .meta({ id: "Proposal" });
export type ProposalDocument = z.output<typeof proposalSchema>;
export const proposalListSchema = z.object({ items: z.array(proposalSchema) }).meta({ id: "ProposalList" });
export const proposalListQuerySchema = z.strictObject({
  state: z.enum(["open", "approved", "rejected", "applied", "withdrawn", "all"]).default("open"),
  limit: z.coerce.number().int().min(1).max(500).default(100),
});
export const approveProposalSchema = z
  .strictObject({ digest: z.string().min(1).max(128) })
  .meta({ id: "ApproveProposal" });
export const rejectProposalSchema = z
  .strictObject({ digest: z.string().min(1).max(128), comment: z.string().trim().min(1, "say why").max(2_000) })
  .meta({ id: "RejectProposal" });
export const withdrawProposalSchema = z
  .strictObject({ comment: z.string().trim().min(1, "say why, or leave it out").max(2_000).optional() })
  .meta({ id: "WithdrawProposal" });
