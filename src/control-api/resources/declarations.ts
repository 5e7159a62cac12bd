import { isoTime } from "../../kernel/iso-time.ts";
import type { Json } from "../../ports/json.ts";
import type { ResourceEntry, ResourceView } from "../../ports/read-store.ts";
import type { Mode } from "../../ports/records.ts";
import type { ApiContext } from "../context.ts";
import type { DeclarationDocument } from "../schemas/resource.ts";
import { changesBetween, type Declaration, fieldsOf } from "./fields.ts";

/** A declaration of the past, or the one that stands. */
export interface PastDeclaration extends Declaration {
  readonly revision: number;
  readonly generation: number;
  readonly by: string;
  readonly atMs: number;
}

const declaringTypes = ["resource.created", "resource.changed"];
const keptDeclarations = 200;

/**
 * The declarations of a resource, newest first: the one that stands, and from the log those before it, as many as it keeps.
 * The log is sealed a moment late, the resource itself is not: what stands is always there.
 */
export async function declarationsOf(
  context: ApiContext,
  organizationId: string,
  view: ResourceView,
  limit: number = keptDeclarations,
): Promise<readonly PastDeclaration[]> {
  const { uid, generation, author, declaredAtMs, spec, labels, deletion } = view.resource;
  const entries = await context.reads.resourceEntries({
    organizationId,
    uid,
    types: declaringTypes,
    beforePosition: undefined,
    limit: limit + 1,
  });
  const past = entries.flatMap(pastDeclaration);
  // A tombstone raises the revision and declares nothing: what is declared is then the last that was.
  const revision = deletion === undefined ? view.revision : (past[0]?.revision ?? view.revision - 1);
  const standing: PastDeclaration = {
    revision,
    generation: deletion === undefined ? generation : (past[0]?.generation ?? generation - 1),
    by: author.name,
    atMs: declaredAtMs,
    spec,
    labels,
    mode: view.mode,
    protect: view.protect ? true : undefined,
  };
  return [standing, ...past.filter((one) => one.revision < revision)].slice(0, limit + 1);
}

function pastDeclaration({ revision, actor, data, atMs }: ResourceEntry): readonly PastDeclaration[] {
  const { spec, labels, mode, protect, generation } = data;
  if (revision === undefined || spec === undefined || typeof generation !== "number") return [];
  return [
    {
      revision,
      generation,
      by: actor,
      atMs,
      spec,
      labels: (labels ?? {}) as Readonly<Record<string, string>>,
      mode: (mode ?? undefined) as Mode | undefined,
      protect: protect === true ? true : undefined,
    },
  ];
}

/** Each with what it changed against the one before it. */
export function declarationDocuments(past: readonly PastDeclaration[], limit: number): readonly DeclarationDocument[] {
  return past.slice(0, limit).map((one, index) => {
    const before = past[index + 1];
    const isFirst = one.revision === 1;
    const changes =
      before === undefined && !isFirst
        ? undefined
        : changesBetween(before === undefined ? new Map<string, Json>() : fieldsOf(before), fieldsOf(one));
    return {
      revision: one.revision,
      generation: one.generation,
      by: one.by,
      at: isoTime(one.atMs),
      spec: one.spec,
      labels: { ...one.labels },
      ...(one.mode === undefined ? {} : { mode: one.mode }),
      protect: one.protect === true,
      ...(changes === undefined ? {} : { changes: changes.map((field) => ({ ...field })) }),
    };
  });
}
