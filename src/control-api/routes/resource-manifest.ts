import { z } from "zod";
import type { Kind } from "../../kernel/kind.ts";
import { nameSchema, scopeParametersSchema } from "../schemas/common.ts";
import { manifestSchema } from "../schemas/resource.ts";

export const namedParameters = scopeParametersSchema.extend({ name: nameSchema });

const manifests = new WeakMap<Kind, z.ZodType>();

/** What the document says about the manifests of one kind. Made once per kind, because it has a name. */
export function manifestOf(kind: Kind): z.ZodType {
  const known = manifests.get(kind);
  if (known !== undefined) return known;
  const { metadata } = manifestSchema.shape;
  const named = kind.modeRequired ? metadata.required({ mode: true }) : metadata;
  const made = manifestSchema
    .extend({
      kind: z.literal(kind.kind).meta({ description: "What it is." }),
      metadata: named.meta({ description: metadata.description ?? "" }),
      spec: kind.schema,
    })
    .meta({ id: `${kind.kind}Manifest` });
  manifests.set(kind, made);
  return made;
}
