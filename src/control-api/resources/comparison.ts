import { type ComparedItem, compared } from "../../kernel/comparison.ts";
import { toEngineError } from "../../kernel/errors.ts";
import type { IgnoreRuleFrom } from "../../kernel/ignored.ts";
import { isoTime } from "../../kernel/iso-time.ts";
import type { Kind } from "../../kernel/kind.ts";
import type { JsonObject } from "../../ports/json.ts";
import type { PlannedSubject } from "../../ports/declaring-store.ts";
import type { ResourceView } from "../../ports/read-store.ts";
import type { DeclaredResource } from "../../ports/records.ts";
import type { ApiContext } from "../context.ts";
import { ResourceDocuments } from "../resource-document.ts";
import { resourceLink } from "../resource-link.ts";
import type { ComparisonDocument } from "../schemas/comparison.ts";
import type { ResolvedScope } from "../scope.ts";

type SubjectDocument = ComparisonDocument["subjects"][number];
type ItemDocument = SubjectDocument["items"][number];
type Looping = Kind & { readonly loop: NonNullable<Kind["loop"]> };

/** Beyond this many items the answer says that it is cut; what differs comes first. */
const shownItems = 500;

/** What is declared, what was last wanted and what was last seen, item by item and field by field. */
export async function comparisonOf(
  context: ApiContext,
  kind: Looping,
  about: ResolvedScope & { readonly view: ResourceView },
): Promise<ComparisonDocument> {
  const { organization, organizationId, view } = about;
  const { uid, name } = view.resource;
  const [standing, accounts] = await Promise.all([
    context.declaring.standing({ organizationId, uid }),
    new ResourceDocuments(context, organization).accountNames(),
  ]);
  const subjects: SubjectDocument[] = [];
  for (const subject of standing) {
    const { accountId } = subject.input.subject;
    const account = accountId === undefined ? {} : { account: accounts.get(accountId) ?? accountId };
    subjects.push({ ...account, ...(await subjectDocument(context, kind, subject, organization)) });
  }
  return { kind: kind.kind, name, subjects };
}

async function subjectDocument(
  context: ApiContext,
  kind: Looping,
  subject: PlannedSubject,
  organization: string,
): Promise<Omit<SubjectDocument, "account">> {
  const { input, observation, confirmedAtMs } = subject;
  if (observation === undefined) return { truncated: false, same: 0, items: [] };
  const { completeness, truncated } = observation;
  const about = { completeness, at: isoTime(Math.max(observation.observedAtMs, confirmedAtMs ?? 0)) };
  try {
    const items = await compared(context.kinds, kind, input, observation);
    const documents = items
      .map((item) => itemDocument({ context, kind, input, organization }, item))
      .sort((left, right) => order.indexOf(left.state) - order.indexOf(right.state));
    return {
      ...about,
      truncated: truncated || documents.length > shownItems,
      same: documents.filter(({ state }) => state === "same").length,
      items: documents.slice(0, shownItems),
    };
  } catch (thrown) {
    const { code, message } = toEngineError(thrown);
    return { ...about, truncated, same: 0, items: [], problem: { code, message } };
  }
}

const order: readonly ItemDocument["state"][] = ["extra", "differs", "missing", "ignored", "same", "stranger"];

interface About {
  readonly context: ApiContext;
  readonly kind: Looping;
  readonly input: PlannedSubject["input"];
  readonly organization: string;
}

function itemDocument(about: About, item: ComparedItem): ItemDocument {
  const { key, externalId, owned, declared, last, seen, written, fields } = item;
  const resources = new Map([about.input.resource, ...about.input.inputs].map((one) => [one.uid, one]));
  const declaring = item.sources.flatMap((uid) => resources.get(uid) ?? []);
  const state = stateOf(item);
  const writtenAtMs = owned?.writtenAtMs;
  return {
    key,
    ...(externalId === undefined ? {} : { externalId }),
    owned: owned?.state === "owned",
    state,
    declaredBy: declaring.map(({ kind, name }) => ({ kind, name })),
    ...(declared === undefined ? {} : { declared }),
    ...(last === undefined ? {} : { last: { item: last, written, ...lastAt(written, writtenAtMs) } }),
    ...(seen === undefined ? {} : { seen }),
    fields: fields.map(({ field, wanted, last: lastValue, seen: seenValue, rule }) => ({
      field,
      ...(wanted === undefined ? {} : { declared: wanted }),
      ...(lastValue === undefined ? {} : { last: lastValue }),
      ...(seenValue === undefined ? {} : { seen: seenValue }),
      ...(rule === undefined ? {} : { ignored: ruleDocument(rule) }),
    })),
    ...(state === "differs" || state === "ignored" ? asSeen(about, item, declaring) : {}),
  };
}

function ruleDocument({ reason, from, until }: IgnoreRuleFrom) {
  return { reason, from, ...(until === undefined ? {} : { until }) };
}

function lastAt(written: boolean, writtenAtMs: number | undefined): { at?: string } {
  return written && writtenAtMs !== undefined ? { at: isoTime(writtenAtMs) } : {};
}

function stateOf({ declared, seen, owned, fields }: ComparedItem): ItemDocument["state"] {
  if (declared === undefined) return owned === undefined ? "stranger" : "extra";
  if (seen === undefined) return "missing";
  if (fields.length === 0) return "same";
  return fields.every(({ rule }) => rule !== undefined) ? "ignored" : "differs";
}

/** What would declare it as it was seen, for whoever wants to keep what somebody did outside. */
function asSeen(
  { context, kind, input, organization }: About,
  { key, seen, fields }: ComparedItem,
  declaring: readonly DeclaredResource[],
): Pick<ItemDocument, "asSeen"> {
  const [by, ...others] = declaring;
  const no = (problem: string) => ({ asSeen: { ok: false as const, problem } });
  if (by === undefined) return no("nothing that can be edited declares it");
  if (others.length > 0) return no(`${declaring.length} resources declare it together: edit them by hand`);
  const differing = [...new Set(fields.map(({ field }) => field.split("/")[1] ?? ""))];
  // What one resource declares in another one's loop is said in the declaring one's own words first.
  const own = by.uid === input.resource.uid;
  const { name, spec } = input.resource;
  const said = own
    ? { ok: true as const, spec: seen as JsonObject }
    : kind.declarationOf?.({ name, spec }, seen as object);
  if (said?.ok === false) return no(said.message);
  const item = said?.spec ?? {};
  const answer = context.kinds.get(by.kind)?.asSeen?.(by.spec as JsonObject, { key, item }, differing);
  if (answer === undefined) return no(`what is seen of a ${kind.kind} cannot be put into its spec by itself`);
  if (!answer.ok) return no(answer.message);
  const link = resourceLink(context.kinds, organization, by);
  return { asSeen: { ok: true, kind: by.kind, name: by.name, link, spec: { ...answer.spec } } };
}
