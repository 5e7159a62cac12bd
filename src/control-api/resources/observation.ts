import { isoTime } from "../../kernel/iso-time.ts";
import { parsedSubject } from "../../kernel/parsed-subject.ts";
import { desiredSet } from "../../kernel/desired-set.ts";
import type { Kind } from "../../kernel/kind.ts";
import type { PlannedSubject } from "../../ports/declaring-store.ts";
import type { ResourceView } from "../../ports/read-store.ts";
import type { ApiContext } from "../context.ts";
import { ResourceDocuments } from "../resource-document.ts";
import { apiVersion } from "../schemas/common.ts";
import type { ObservationDocument, SeenItemDocument } from "../schemas/resource.ts";
import type { ResolvedScope } from "../scope.ts";

type Named = SeenItemDocument["declaredBy"][number];

/** What was last seen outside, with who declares it and how what nobody declares would be declared. */
export async function observationOf(
  context: ApiContext,
  kind: Kind,
  about: ResolvedScope & { readonly view: ResourceView },
): Promise<ObservationDocument> {
  const { organization, organizationId, scope } = about;
  const { uid, name } = about.view.resource;
  const [standing, accounts] = await Promise.all([
    context.declaring.standing({ organizationId, uid }),
    new ResourceDocuments(context, organization).accountNames(),
  ]);
  const subjects: ObservationDocument["subjects"] = [];
  for (const subject of standing) {
    const { observation, confirmedAtMs } = subject;
    if (observation === undefined) continue;
    const { accountId } = subject.input.subject;
    subjects.push({
      ...(accountId === undefined ? {} : { account: accounts.get(accountId) ?? accountId }),
      completeness: observation.completeness,
      at: isoTime(Math.max(observation.observedAtMs, confirmedAtMs ?? 0)),
      truncated: observation.truncated,
      items: await withFreeNames(context, { organizationId, scope }, await itemsOf(context, kind, subject)),
    });
  }
  return { kind: kind.kind, name, subjects };
}

async function itemsOf(context: ApiContext, kind: Kind, subject: PlannedSubject): Promise<SeenItemDocument[]> {
  const { input, observation } = subject;
  const declared = await declaredKeys(context, kind, subject);
  const owned = new Set(input.memory.owned.map((item) => item.externalId));
  return (observation?.items ?? []).map(({ key, externalId, item }) => {
    const declaredBy = declared.get(key) ?? [];
    const seen = { key, externalId, item, owned: owned.has(externalId), declaredBy: [...declaredBy] };
    if (declaredBy.length > 0 || kind.declarationOf === undefined) return seen;
    const made = kind.declarationOf({ name: input.resource.name, spec: input.resource.spec }, item as object);
    if (!made.ok) return { ...seen, problem: made.message };
    return { ...seen, manifest: { apiVersion, kind: made.kind, metadata: { name: made.name }, spec: made.spec } };
  });
}

/** By the very code of the cycle. Where that cannot say what is wanted, the record of who declared what is ours stands in. */
async function declaredKeys(
  context: ApiContext,
  kind: Kind,
  { input }: PlannedSubject,
): Promise<ReadonlyMap<string, readonly Named[]>> {
  const names = new Map<string, Named>(
    [input.resource, ...input.inputs].map(({ uid, kind: of, name }) => [uid, { kind: of, name }]),
  );
  const named = (uids: readonly string[]) => uids.flatMap((uid) => names.get(uid) ?? []);
  const recorded = input.memory.owned.map(({ key, sources }) => [key, named(sources)] as const);
  if (kind.loop === undefined) return new Map(recorded);
  try {
    const { items } = await desiredSet(kind.loop, parsedSubject(kind, input), input, context.kinds);
    return new Map(items.map(({ key, sources = [] }) => [key, named(sources.map(({ uid }) => uid))]));
  } catch {
    return new Map(recorded);
  }
}

/** A name that something else has already cannot be proposed. */
async function withFreeNames(
  context: ApiContext,
  place: { readonly organizationId: string; readonly scope: string },
  items: readonly SeenItemDocument[],
): Promise<SeenItemDocument[]> {
  const names = items.flatMap(({ manifest }) =>
    manifest === undefined ? [] : [{ scope: place.scope, kind: manifest.kind, name: manifest.metadata.name }],
  );
  if (names.length === 0) return [...items];
  const standing = await context.reads.getResources({ organizationId: place.organizationId, names });
  const taken = new Set(standing.map(({ resource }) => `${resource.kind}/${resource.name}`));
  return items.map((item) => {
    const { manifest, ...seen } = item;
    const name = manifest === undefined ? "" : `${manifest.kind}/${manifest.metadata.name}`;
    if (manifest === undefined || !taken.has(name)) return item;
    return { ...seen, problem: `there is a ${name} already, and it declares something else: declare this one by hand` };
  });
}
