import type { Clock } from "../ports/clock.ts";
import type { Lister, Page } from "../ports/provider.ts";
import { toEngineError } from "./errors.ts";
import type { Inventory } from "./loop.ts";

/** Bounds a listing that never ends; a collection larger than this is read as partial, never as short. */
const PAGES_MAX = 10_000;
/** A collection that keeps moving while it is paged is walked again this often before it counts as partial. */
const WALKS_MAX = 3;

interface Walk {
  readonly outcome: "complete" | "moved" | "partial" | "failed";
  readonly proof: string;
  readonly entries: readonly unknown[];
  /** What the listing failed with, so that a provider's Retry-After is not lost. */
  readonly error?: unknown;
}

export interface InventoryRead {
  readonly inventory: Inventory<unknown>;
  readonly error?: unknown;
}

/** Lists a whole collection and says how it knows that nothing is missing. */
export async function readInventory(clock: Clock, lister: Lister, signal: AbortSignal): Promise<InventoryRead> {
  const startedAtMonotonicMs = clock.monotonicMs();
  let walk: Walk = { outcome: "moved", proof: "", entries: [] };
  // The last walk's start would do for freshness; the first walk's start is the safer bound and costs nothing.
  for (let round = 1; round <= WALKS_MAX && walk.outcome === "moved"; round++) walk = await walkPages(lister, signal);
  const completeness = walk.outcome === "moved" ? "partial" : walk.outcome;
  const inventory = { completeness, proof: walk.proof, startedAtMonotonicMs, entries: walk.entries };
  return walk.error === undefined ? { inventory } : { inventory, error: walk.error };
}

async function walkPages(lister: Lister, signal: AbortSignal): Promise<Walk> {
  const entries: unknown[] = [];
  const tokens = new Set<string>();
  const ids = new Set<string>();
  let first: Page<unknown> | undefined;
  let token: string | undefined;
  for (let pages = 1; pages <= PAGES_MAX; pages++) {
    let page: Page<unknown>;
    try {
      page = await lister(token, signal);
    } catch (thrown) {
      const proof = `page ${pages} failed: ${toEngineError(thrown).message}`;
      return { outcome: pages === 1 ? "failed" : "partial", proof, entries, error: thrown };
    }
    first ??= page;
    for (const entry of page.entries) entries.push(entry);
    const twice = page.ids?.find((id) => ids.size === ids.add(id).size);
    // An entry that moved between pages, or a page that came twice: what stood in its place was not read.
    if (twice !== undefined) return { outcome: "moved", proof: `entry ${twice} was listed twice`, entries };
    if (page.total !== first.total || page.revision !== first.revision) {
      return { outcome: "moved", proof: "the collection changed while it was being paged", entries };
    }
    if (page.next === undefined) return finished(entries, pages, page.total);
    if (page.next === "" || tokens.has(page.next)) {
      return { outcome: "partial", proof: `page token '${page.next}' was given twice or is empty`, entries };
    }
    tokens.add(page.next);
    token = page.next;
  }
  return { outcome: "partial", proof: `gave up after ${PAGES_MAX} pages`, entries };
}

function finished(entries: readonly unknown[], pages: number, total: number | undefined): Walk {
  if (total !== undefined && total !== entries.length) {
    return { outcome: "moved", proof: `${entries.length} entries read, the provider counts ${total}`, entries };
  }
  const counted = total === undefined ? "no repeated token" : `${total} of ${total} entries`;
  return { outcome: "complete", proof: `${pages} page${pages === 1 ? "" : "s"} read to the end, ${counted}`, entries };
}
