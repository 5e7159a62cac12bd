import { hash as digest } from "node:crypto";
import { canonical } from "../kernel/hash.ts";
import type { LogPoint, SealedEntry } from "../ports/read-store.ts";

/** The hash of an entry covers everything in it and the entry before: none can be changed, dropped or put in unseen. */
export function chainHash({ hash: _, previousHash, ...entry }: SealedEntry): string {
  return digest("sha256", `${previousHash}\n${canonical(entry)}`, "hex");
}

export type ChainCheck =
  | { readonly holds: true; readonly end: LogPoint }
  | { readonly holds: false; readonly position: number; readonly reason: string };

/** Follows the chain from a known point (the beginning, or where retention cut it) over the entries behind it. */
export function checkChain(from: LogPoint, entries: readonly SealedEntry[]): ChainCheck {
  let { position, hash } = from;
  for (const entry of entries) {
    if (entry.position !== position + 1) {
      return {
        holds: false,
        position: position + 1,
        reason: `entry ${position + 1} is missing before ${entry.position}`,
      };
    }
    if (entry.previousHash !== hash || entry.hash !== chainHash(entry)) {
      return {
        holds: false,
        position: entry.position,
        reason: `entry ${entry.position} or the one before was changed`,
      };
    }
    ({ position, hash } = entry);
  }
  return { holds: true, end: { position, hash } };
}
