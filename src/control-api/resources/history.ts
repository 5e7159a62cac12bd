import { isoTime } from "../../kernel/iso-time.ts";
import type { Kind } from "../../kernel/kind.ts";
import type { ResourceView } from "../../ports/read-store.ts";
import type { ApiContext } from "../context.ts";
import { historyDocument } from "../history-words.ts";
import { Problem } from "../problem.ts";
import { ResourceDocuments } from "../resource-document.ts";
import type { HistoryDocument } from "../schemas/resource.ts";
import type { ResolvedScope } from "../scope.ts";
import { declarationDocuments, declarationsOf, type PastDeclaration } from "./declarations.ts";

/** What was declared, decided and done, newest first. */
export async function historyOf(
  context: ApiContext,
  kind: Kind,
  about: ResolvedScope & { readonly view: ResourceView },
  limit: number,
): Promise<readonly HistoryDocument[]> {
  const { organizationId, view } = about;
  const [done, declared] = await Promise.all([
    doneFor(context, kind, about, limit),
    declarationsOf(context, organizationId, view, limit),
  ]);
  const entries = [...done, ...declarationDocuments(declared, limit).map(declarationEntry)];
  return entries.sort((left, right) => (left.at < right.at ? 1 : left.at > right.at ? -1 : 0)).slice(0, limit);
}

/** A kind without a loop has in its history what was done for it by what it is part of. */
async function doneFor(
  context: ApiContext,
  kind: Kind,
  { organization, organizationId, view }: ResolvedScope & { readonly view: ResourceView },
  limit: number,
): Promise<readonly HistoryDocument[]> {
  const { uid } = view.resource;
  if (kind.loop !== undefined)
    return (await context.reads.history({ organizationId, uid, limit })).map(historyDocument);
  const documents = new ResourceDocuments(context, organization);
  const whole = await Promise.all(documents.linksOf(kind, view).map((link) => documents.linked(link)));
  const entries = await Promise.all(
    whole.flatMap((target) =>
      target === undefined ? [] : [context.reads.history({ organizationId, uid: target.resource.uid, limit })],
    ),
  );
  return entries
    .flat()
    .filter((entry) => entry.type === "change" && entry.declaredBy.some((source) => source.uid === uid))
    .map(historyDocument);
}

function declarationEntry(declared: ReturnType<typeof declarationDocuments>[number]): HistoryDocument {
  const { revision, by, at, changes, generation } = declared;
  const fields = changes === undefined ? "" : `: ${changes.map(({ pointer }) => pointer).join(", ")}`;
  const words = `${by} ${revision === 1 ? "declared it" : "changed what is declared"} (generation ${generation})${fields}`;
  return { type: "declaration", at, words, verdicts: [], revision, by, ...(changes === undefined ? {} : { changes }) };
}

/** An earlier declaration, by its generation (its last revision) or by its very revision. */
export async function earlierDeclaration(
  context: ApiContext,
  organizationId: string,
  view: ResourceView,
  wanted: { readonly toGeneration?: number | undefined; readonly toRevision?: number | undefined },
): Promise<PastDeclaration> {
  const known = await declarationsOf(context, organizationId, view);
  const found = known.find(({ generation, revision }) =>
    wanted.toRevision === undefined ? generation === wanted.toGeneration : revision === wanted.toRevision,
  );
  if (found !== undefined) return found;
  const what = wanted.toRevision === undefined ? `generation ${wanted.toGeneration}` : `revision ${wanted.toRevision}`;
  const { kind, name } = view.resource;
  const kept = known.map(
    ({ revision, generation, atMs }) => `${revision} (generation ${generation}, ${isoTime(atMs)})`,
  );
  throw new Problem(
    "NOT_FOUND",
    `${what} of ${kind}/${name} is not kept or was never declared. Revisions that are: ${kept.slice(0, 10).join(", ")}`,
  );
}
