import type { HeldChangeDocument } from "../../api/types.ts";
import { type KnownItem, knownItem } from "./changed-items.ts";

/** What this browser's person last saw of a held change. */
export interface SeenChange {
  readonly id: string;
  readonly digest: string;
  readonly at: string;
  readonly items: readonly KnownItem[];
}

const storageKey = "setpoint.seen-held-changes";
/** The newest that are remembered, and how much of each: a browser keeps a few megabytes for all of us. */
const kept = 30;
const keptItems = 500;

/** Nothing where the browser keeps nothing, or something else stands there. */
function readAll(): readonly SeenChange[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(storageKey) ?? "[]");
    return Array.isArray(stored) ? (stored as readonly SeenChange[]) : [];
  } catch {
    return [];
  }
}

export function seenBefore(id: string): SeenChange | undefined {
  return readAll().find((seen) => seen.id === id);
}

export function rememberSeen(change: HeldChangeDocument, nowMs: number): SeenChange {
  const seen: SeenChange = {
    id: change.id,
    digest: change.digest,
    at: new Date(nowMs).toISOString(),
    items: change.items.slice(0, keptItems).map(knownItem),
  };
  const others = readAll().filter(({ id }) => id !== change.id);
  try {
    localStorage.setItem(storageKey, JSON.stringify([seen, ...others].slice(0, kept)));
  } catch {
    // A full or forbidden store: then the page says nothing about what was seen before.
  }
  return seen;
}
