import type { AccountRecord } from "../ports/records.ts";
import type { Engine } from "./claim.ts";

/** So many of the things on record are looked for: a share of them tells as much as all. */
const COMPARED_MAX = 500;

/** How much of what is on record as ours at an account is there. */
export interface Overlap {
  readonly recorded: number;
  readonly visible: number;
}

/**
 * An account without an id of its own and without a sentinel is known again by what is on record there. Lists that are not complete
 * say nothing: then the answer is their proof.
 */
export async function overlapOf(
  { store, kinds, accounts }: Pick<Engine, "store" | "kinds" | "accounts">,
  account: AccountRecord,
  asked: { readonly notBeforeMonotonicMs: number; readonly signal: AbortSignal },
): Promise<Overlap | { readonly unknown: string }> {
  const things = await store.recordedThings({ accountId: account.id, atMost: COMPARED_MAX });
  const ids = Map.groupBy(things, ({ kind }) => kinds.get(kind)?.loop?.listedIn);
  let recorded = 0;
  let visible = 0;
  for (const [collection, ours] of ids) {
    if (collection === undefined) continue;
    const { completeness, proof, entries } = await accounts.inventory(account, collection, {
      ...asked,
      forPerson: true,
    });
    if (completeness !== "complete") return { unknown: `the list of ${collection} is ${completeness}: ${proof}` };
    const there = new Set(entries.map(idOf));
    const wanted = new Set(ours.map(({ externalId }) => externalId.split("/")[0]));
    recorded += wanted.size;
    visible += [...wanted].filter((id) => there.has(id)).length;
  }
  return { recorded, visible };
}

/** Under half of it: another account. */
export function isAnother({ recorded, visible }: Overlap): boolean {
  return visible * 2 < recorded;
}

function idOf(entry: unknown): string | undefined {
  if (typeof entry !== "object" || entry === null || !("id" in entry)) return undefined;
  return typeof entry.id === "string" ? entry.id : undefined;
}
