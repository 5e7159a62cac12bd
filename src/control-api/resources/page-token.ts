import { digestOf } from "../../kernel/hash.ts";
import type { ListKey } from "../../ports/read-store.ts";
import { Problem } from "../problem.ts";

/** A token names where the last page ended, and the query it belongs to: with another query it would skip or repeat. */
export function pageToken(key: ListKey, query: unknown): string {
  return Buffer.from(JSON.stringify([fingerprint(query), key.name, key.ms, key.id]), "utf8").toString("base64url");
}

export function keyOfToken(token: string, query: unknown): ListKey {
  const [of, name, ms, id] = parsed(token);
  if (typeof name !== "string" || typeof id !== "string" || !Number.isSafeInteger(ms))
    throw refused("is not one of ours");
  if (of !== fingerprint(query)) throw refused("belongs to another query: scope, filters and sort must stay the same");
  return { name, ms: Number(ms), id };
}

function fingerprint(query: unknown): string {
  return digestOf(query).slice(0, 16);
}

function parsed(token: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(token, "base64url").toString("utf8"));
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

function refused(why: string): Problem {
  return new Problem("FIELDS_INVALID", `The pageToken ${why}. Begin again without one`, {
    errors: [{ pointer: "/pageToken", message: why }],
  });
}
