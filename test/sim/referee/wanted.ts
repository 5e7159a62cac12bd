import type { Content } from "../outside/sim-api.ts";
import type { ItemSpec, SetSpec } from "../sim-kind.ts";
import type { ResourceRow, SubjectRow } from "../store/rows.ts";
import type { Tables } from "../store/state.ts";

/** What the declared state asks of one subject, computed without any code of the engine. */
export interface WantedSet {
  /** False while the desired set cannot be known: nothing may be deleted on it. */
  readonly known: boolean;
  readonly leaving: boolean;
  readonly orphan: boolean;
  readonly zero: boolean;
  readonly items: ReadonlyMap<string, { readonly content: Content; readonly sources: readonly string[] }>;
  /** Keys of sources that stopped parsing or whose value went empty: their last good value must stand. */
  readonly kept: ReadonlySet<string>;
  /** Sources that stopped parsing: whatever key their last good value has, it may stand. */
  readonly broken: ReadonlySet<string>;
}

export function wantedOf(tables: Tables, subject: SubjectRow): WantedSet {
  const nothing = { zero: false, items: new Map(), kept: new Set<string>(), broken: new Set<string>() };
  const resource = tables.resources.get(subject.resourceUid);
  if (resource === undefined) return { ...nothing, known: false, leaving: false, orphan: false };
  const deletion = resource.deletion ?? subject.detached;
  if (deletion !== undefined) return { ...nothing, known: true, leaving: true, orphan: deletion.orphan };
  if (isBroken(resource)) return { ...nothing, known: false, leaving: false, orphan: false };
  const spec = resource.spec as unknown as SetSpec;
  const prefix = resource.kind === "SimZone" ? `${spec.group}/` : "";
  const items = new Map<string, { content: Content; sources: readonly string[] }>();
  for (const [key, content] of Object.entries(spec.items))
    items.set(prefix + key, { content, sources: [resource.uid] });
  const stand = addInputs(tables, resource, prefix, items);
  return { known: spec.unknown !== true, leaving: false, orphan: false, zero: spec.zero === true, items, ...stand };
}

/** Adds what linked resources declare; answers with the keys and sources whose last good value stands. */
function addInputs(
  tables: Tables,
  target: ResourceRow,
  prefix: string,
  items: Map<string, { content: Content; sources: readonly string[] }>,
): Pick<WantedSet, "kept" | "broken"> {
  const kept = new Set<string>();
  const broken = new Set<string>();
  const linked = new Map<string, { values: string[]; sources: string[] }>();
  for (const row of tables.resources.values()) {
    const names = row.links.some((link) => link.kind === target.kind && link.name === target.name);
    if (!names || row.scope !== target.scope || row.deletion !== undefined) continue;
    if (isBroken(row)) {
      kept.add(prefix + (row.spec as unknown as { broken: string }).broken);
      broken.add(row.uid);
      continue;
    }
    const spec = row.spec as unknown as ItemSpec;
    const entry = linked.get(prefix + spec.key) ?? { values: [], sources: [] };
    if (spec.value !== "") entry.values.push(spec.value);
    entry.sources.push(row.uid);
    linked.set(prefix + spec.key, entry);
  }
  for (const [key, { values, sources }] of linked) {
    if (values.length === 0) kept.add(key);
    else items.set(key, { content: { value: values.sort().join("+"), size: 1 }, sources });
  }
  return { kept, broken };
}

export function isBroken(resource: ResourceRow): boolean {
  return typeof resource.spec === "object" && resource.spec !== null && "broken" in resource.spec;
}

/** What was wanted of each subject over time, so that a slow actor is judged by what it could know. */
export class WantedHistory {
  readonly #entries = new Map<number, { readonly atMs: number; readonly set: WantedSet }[]>();

  /** Called after every commit that may have changed what is declared of some subjects. */
  record(tables: Tables, nowMs: number, isTouched: (subject: SubjectRow) => boolean): void {
    for (const subject of tables.subjects.values()) {
      if (!isTouched(subject)) continue;
      const entries = this.#entries.get(subject.id) ?? [];
      entries.push({ atMs: nowMs, set: wantedOf(tables, subject) });
      if (entries.length > 200) entries.splice(0, 100);
      this.#entries.set(subject.id, entries);
    }
  }

  /** A restored database knows nothing of what was declared after its backup. */
  forget(): void {
    this.#entries.clear();
  }

  current(subjectId: number): WantedSet | undefined {
    return this.#entries.get(subjectId)?.at(-1)?.set;
  }

  /** Every version that stood at some time since then. */
  since(subjectId: number, sinceMs: number): readonly WantedSet[] {
    const entries = this.#entries.get(subjectId) ?? [];
    let from = entries.length - 1;
    while (from > 0 && (entries[from]?.atMs ?? 0) > sinceMs) from -= 1;
    return entries.slice(Math.max(0, from)).map((entry) => entry.set);
  }

  /** When the key was last wanted, and by whom; undefined when it never was. */
  lastWanted(
    subjectId: number,
    key: string,
  ): { readonly untilMs: number; readonly sources: readonly string[] } | undefined {
    const entries = this.#entries.get(subjectId) ?? [];
    for (let at = entries.length - 1; at >= 0; at--) {
      const item = entries[at]?.set.items.get(key);
      if (item !== undefined)
        return { untilMs: entries[at + 1]?.atMs ?? Number.POSITIVE_INFINITY, sources: item.sources };
    }
    return undefined;
  }
}
