import type { CycleInput, DeclaredResource, StoredWanted, Verdict } from "../ports/records.ts";
import { TerminalError } from "./errors.ts";
import { verdict } from "./facts.ts";
import { redacted } from "./hash.ts";
import { type KindRegistry, parseSpec } from "./kind.ts";
import type { Desired, DesiredContext, InputResource, Loop, Measured, Subject, Wanted } from "./loop.ts";
import { partsOf } from "./parts.ts";

/** What is wanted now, with what stands in where the truth is not known. */
export interface DesiredSet {
  readonly items: readonly Wanted<object>[];
  readonly known: boolean;
  /** False while a source cannot be read that never gave a good value: what nothing seems to want, it may declare. */
  readonly whole: boolean;
  readonly zeroDeclared: boolean;
  readonly verdicts: readonly Verdict[];
  /** Keys whose value nobody has, as a secret no longer kept or a status that was always empty: left as they are, never written. */
  readonly frozenKeys: ReadonlySet<string>;
  /** Items whose value is not known for now: the last good one stands. */
  readonly stale: readonly { readonly key: string; readonly reason: string }[];
  /** Keys that the declaration gives up by itself: their delete is declared. */
  readonly covered: ReadonlySet<string>;
  /** To be remembered as the last good set; undefined leaves the remembered one. */
  readonly remember: readonly StoredWanted[] | undefined;
}

/** Computes the desired set; what is unknown, stale or no longer parses keeps its last good value. */
export async function desiredSet(
  loop: Loop<unknown, object>,
  subject: Subject<unknown>,
  input: CycleInput,
  kinds: KindRegistry,
  measured: Measured = notMeasured,
): Promise<DesiredSet> {
  const lastGood = new Map((input.memory.lastDesired ?? []).map((stored) => [stored.key, stored]));
  if (input.resource.deletion !== undefined) return nothing;
  const { parsed, broken } = parseInputs(input.inputs, kinds);
  const answer = await loop.desired(contextOf(input, parsed, lastGood, measured), subject);
  if (!answer.known) {
    const said = verdict(
      "derived-emptiness",
      "wait",
      `what is wanted is not known (${answer.reason}): the last good set of ${lastGood.size} items stands`,
      { numbers: { items: lastGood.size } },
    );
    return {
      ...revived([...lastGood.values()], input),
      known: false,
      whole: false,
      zeroDeclared: false,
      stale: [],
      covered: new Set(),
      verdicts: [said],
      remember: undefined,
    };
  }
  refuseDuplicates(subject, answer.items);
  const kept = keptItems(answer, lastGood, broken);
  const verdicts = verdictsOf(answer, broken, kept);
  const own = [{ uid: subject.uid, generation: subject.generation }];
  const keptKeys = new Set(kept.map((stored) => stored.key));
  const stand = revived(kept, input);
  const items = answer.items
    .filter((item) => !keptKeys.has(item.key))
    .map((item): Wanted<object> => ({ ...item, sources: item.sources ?? own }))
    .concat(stand.items);
  const remember = items.map(({ key, item, sources = own }) => ({ key, item: redacted(item), sources }));
  return {
    items,
    known: true,
    whole: broken.every((resource) => hasLastGood(resource, lastGood)),
    zeroDeclared: answer.zero === true,
    verdicts,
    stale: answer.stale ?? [],
    frozenKeys: new Set([...stand.frozenKeys, ...staleWithoutValue(answer, lastGood)]),
    covered: new Set(answer.covered),
    remember: remember.sort(byKey),
  };
}

const nothing: DesiredSet = {
  items: [],
  known: true,
  whole: true,
  zeroDeclared: false,
  verdicts: [],
  stale: [],
  frozenKeys: new Set(),
  covered: new Set(),
  remember: undefined,
};

const notMeasured: Measured = { known: false, reason: "nothing is measured without a look" };

/** Wanted with a value that nobody knows or ever knew: what is there stays as it is. */
function staleWithoutValue(
  answer: Desired<object> & { known: true },
  lastGood: ReadonlyMap<string, StoredWanted>,
): readonly string[] {
  if (answer.stale === undefined) return [];
  const declared = new Set(answer.items.map((item) => item.key));
  return answer.stale.map(({ key }) => key).filter((key) => !lastGood.has(key) && !declared.has(key));
}

function hasLastGood(resource: DeclaredResource, lastGood: ReadonlyMap<string, StoredWanted>): boolean {
  return lastGood.values().some((stored) => stored.sources.some((source) => source.uid === resource.uid));
}

function parseInputs(inputs: readonly DeclaredResource[], kinds: KindRegistry) {
  const parsed: InputResource[] = [];
  const broken: DeclaredResource[] = [];
  for (const resource of inputs) {
    if (resource.deletion !== undefined) continue;
    const kind = kinds.get(resource.kind);
    const spec = kind === undefined ? undefined : parseSpec(kind, resource.spec);
    if (spec?.ok === true) parsed.push({ ...resource, spec: spec.spec });
    else broken.push(resource);
  }
  return { parsed, broken };
}

function contextOf(
  { inputs, inputVersion, storeNowMs, memory, published = [] }: CycleInput,
  parsed: readonly InputResource[],
  lastGood: ReadonlyMap<string, StoredWanted>,
  measured: Measured,
): DesiredContext {
  return {
    measured,
    stopped: new Set((memory.stops ?? []).filter((stop) => stop.inputVersion === inputVersion).map(({ key }) => key)),
    nowMs: storeNowMs,
    lastWriteAtMs: memory.lastWriteAtMs,
    parts: (kind) => partsOf(inputs, kind),
    inputs: <Spec>(kind: string) =>
      parsed.filter((resource) => resource.kind === kind) as readonly InputResource<Spec>[],
    lastGood: (key) => lastGood.get(key)?.item,
    lastKeys: () => [...lastGood.keys()],
    published,
  };
}

/** Two resources that declare one outside thing would take turns: neither wins, both are named. */
function refuseDuplicates(subject: Subject<unknown>, items: readonly Wanted<object>[]): void {
  const seen = new Set<string>();
  for (const { key } of items) {
    if (key === "")
      throw new TerminalError(
        "WILDCARD_REFUSED",
        `${subject.name}: an item without a key is wanted; an empty key never means "all"`,
      );
    if (seen.has(key))
      throw new TerminalError(
        "SPEC_INVALID",
        `${subject.name}: the item '${key}' is declared twice; remove one of its declarations`,
      );
    seen.add(key);
  }
}

/**
 * Last good values of what went stale, unless something else declares that item now, and of what stopped parsing. The
 * latter stand even where other resources declare the same item: without the broken one's part it would lose a value.
 */
function keptItems(
  answer: Desired<object> & { known: true },
  lastGood: ReadonlyMap<string, StoredWanted>,
  broken: readonly DeclaredResource[],
): readonly StoredWanted[] {
  if (answer.stale === undefined && broken.length === 0) return [];
  const declared = new Set(answer.items.map((item) => item.key));
  const stale = new Set((answer.stale ?? []).map((entry) => entry.key));
  const isBroken = isOf(broken);
  return [...lastGood.values()].filter(
    (stored) => (stale.has(stored.key) && !declared.has(stored.key)) || isBroken(stored),
  );
}

function isOf(resources: readonly DeclaredResource[]): (stored: StoredWanted) => boolean {
  const uids = new Set(resources.map((resource) => resource.uid));
  return (stored) => stored.sources.some((source) => uids.has(source.uid));
}

function verdictsOf(
  answer: Desired<object> & { known: true },
  broken: readonly DeclaredResource[],
  kept: readonly StoredWanted[],
): readonly Verdict[] {
  const verdicts: Verdict[] = [];
  const stale = answer.stale ?? [];
  if (stale.length > 0) {
    const reasons = [...new Set(stale.map((entry) => entry.reason))].join("; ");
    verdicts.push(
      verdict("derived-emptiness", "wait", `values are not known, the last good ones stand: ${reasons}`, {
        numbers: { items: stale.length, kept: kept.length },
        keys: stale.map((entry) => entry.key),
      }),
    );
  }
  if (broken.length > 0) {
    const names = broken.map((resource) => `${resource.kind}/${resource.name}`).join(", ");
    verdicts.push(
      verdict("derived-emptiness", "wait", `no longer parses, its last good value stands: ${names}`, {
        numbers: { resources: broken.length, kept: kept.length },
        keys: kept.filter(isOf(broken)).map((stored) => stored.key),
      }),
    );
  }
  return verdicts;
}

/** A last good value in force again: it stands for its sources as they are now, so that a permit is not refused for their age. */
function revived(
  stored: readonly StoredWanted[],
  input: CycleInput,
): { readonly items: readonly Wanted<object>[]; readonly frozenKeys: ReadonlySet<string> } {
  if (stored.length === 0) return nothing;
  const generations = new Map([input.resource, ...input.inputs].map((resource) => [resource.uid, resource.generation]));
  const items = stored.map((entry) => ({
    key: entry.key,
    item: entry.item as object,
    sources: entry.sources.map((source) => ({
      uid: source.uid,
      generation: generations.get(source.uid) ?? source.generation,
    })),
  }));
  return {
    items,
    frozenKeys: new Set(
      stored.filter((entry) => JSON.stringify(entry.item).includes('"$secret"')).map((entry) => entry.key),
    ),
  };
}

function byKey(left: StoredWanted, right: StoredWanted): number {
  return left.key < right.key ? -1 : left.key > right.key ? 1 : 0;
}
