import { createHash } from "node:crypto";
import type { Json } from "../ports/json.ts";
import { Secret } from "./secret.ts";

/** Number of shards, fixed at install. */
export const SHARDS = 64;

/** Subjects of one account (else of one organization) live in one shard, so that one process shares their inventories. */
export function shardOf(accountOrOrganizationId: string): number {
  return fnv1a(accountOrOrganizationId) % SHARDS;
}

/** FNV-1a over UTF-16 code units: small, fast, and the same in every process. Not for secrets or digests. */
export function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash ^= text.charCodeAt(index);
    hash = Math.imul(hash, 0x01000193);
  }
  return hash >>> 0;
}

/** JSON with sorted keys and without undefined: equal values give equal text, whatever order their keys were set in. */
export function canonical(value: unknown): string {
  if (value === undefined || value === null) return "null";
  if (typeof value !== "object") return JSON.stringify(value) ?? "null";
  if (value instanceof Secret) return `{"$secret":"${value.hash}"}`;
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  const fields = value as Readonly<Record<string, unknown>>;
  const parts: string[] = [];
  for (const key of Object.keys(fields).sort()) {
    const field = fields[key];
    if (field !== undefined) parts.push(`${JSON.stringify(key)}:${canonical(field)}`);
  }
  return `{${parts.join(",")}}`;
}

/** A digest of a value's canonical form, for comparing and for approvals. */
export function digestOf(value: unknown): string {
  return createHash("sha256").update(canonical(value)).digest("hex").slice(0, 32);
}

/** The value as it may be stored and shown: secrets become their hash prefix. */
export function redacted(value: unknown): Json {
  return JSON.parse(canonical(value), (_key, field: unknown) =>
    isStoredSecret(field) ? { $secret: field.$secret.slice(0, 16) } : field,
  ) as Json;
}

function isStoredSecret(value: unknown): value is { $secret: string } {
  return typeof value === "object" && value !== null && "$secret" in value && typeof value.$secret === "string";
}
