import type { ReadTable } from "../table.ts";
import type { Call } from "./call.ts";
import { invalid } from "./errors.ts";
import type { Element } from "./rows.ts";

/** What a list shows: the elements as they are, unless lists lag behind. */
export function viewOf(call: Call): ReadTable<Element> {
  const stale = call.faults.strike("stale-list");
  const lagMs = stale === undefined ? call.listLagMs : stale.ageSeconds * 1_000;
  return lagMs > 0 ? call.contract.elements.asOf(call.nowMs - lagMs) : call.contract.elements;
}

/** What a list has of everything, and how much it claims to have. */
export function keptOf<R>(call: Call, all: readonly R[]): { readonly kept: readonly R[]; readonly total: number } {
  const half = call.faults.strike("half-list");
  const kept = half === undefined ? all : all.slice(0, Math.ceil(all.length * half.share));
  return { kept, total: half?.total === "kept" ? all.length : kept.length };
}

export interface Page<R> {
  readonly rows: readonly R[];
  readonly facts: Readonly<Record<string, unknown>>;
}

/** How many entries a page has where nobody says, and how many it can have. */
const usualPages = { usual: 1_000, most: 10_000 };
export const shortPages = { usual: 100, most: 1_000 };

/** `offset` and `limit`, or `maxResults` as the provider's own clients say it, and where the neighbours are, with whatever the fault tray does to lists. */
export function pageOf<R>(call: Call, all: readonly R[], { usual, most } = usualPages): Page<R> {
  const asMany = Math.min(numberOf(call, "limit", usual, [1, most]), numberOf(call, "maxResults", most, [1, most]));
  const limit = Math.min(asMany, call.pageMax ?? most);
  const asked = numberOf(call, "offset", 0, [0, 999_999_999]);
  const { kept, total } = keptOf(call, all);
  const offset = asked > 0 && call.faults.strike("repeated-page") !== undefined ? 0 : asked;
  const shift = offset > 0 && call.faults.strike("duplicate-page") !== undefined ? 1 : 0;
  const inOrder = offset > 0 && call.faults.strike("reordered-list") !== undefined ? kept.toReversed() : kept;
  const link = (from: number) => `${call.base}${call.path}?offset=${from}&limit=${limit}`;
  const links = {
    self: link(offset),
    ...(offset > 0 ? { prev: link(Math.max(0, offset - limit)) } : {}),
    ...(offset + limit < total ? { next: link(offset + limit) } : {}),
  };
  return { rows: inOrder.slice(offset - shift, offset - shift + limit), facts: { offset, limit, _links: links } };
}

function numberOf(call: Call, name: string, usual: number, [least, most]: readonly [number, number]): number {
  const text = call.query.get(name);
  if (text === null) return usual;
  const number = Number(text);
  if (/^\d{1,9}$/.test(text) && number >= least && number <= most) return number;
  throw invalid(name, `must be a number from ${least} to ${most}`);
}
