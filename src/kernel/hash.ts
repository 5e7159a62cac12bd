import { hash } from "node:crypto";
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
  let mixed = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    mixed ^= text.charCodeAt(index);
    mixed = Math.imul(mixed, 0x01000193);
  }
  return mixed >>> 0;
}

/** JSON with sorted keys and without undefined: equal values give equal text, whatever order their keys were set in. */
export function canonical(value: unknown): string {
  if (value === undefined || value === null) return "null";
  if (typeof value === "string") return quoted(value);
  if (typeof value !== "object") return JSON.stringify(value) ?? "null";
  if (value instanceof Secret) return `{"$secret":"${value.hash}"}`;
  let text = "";
  if (Array.isArray(value)) {
    for (const entry of value) text += text === "" ? canonical(entry) : `,${canonical(entry)}`;
    return `[${text}]`;
  }
  const fields = value as Readonly<Record<string, unknown>>;
  for (const key of Object.keys(fields).sort()) {
    const field = fields[key];
    if (field !== undefined) text += `${text === "" ? "" : ","}${quoted(key)}:${canonical(field)}`;
  }
  return `{${text}}`;
}

/** As JSON writes it. Most text needs no escaping, and finding that out is quicker than a call of JSON. */
function quoted(text: string): string {
  return PLAIN_TEXT.test(text) ? `"${text}"` : JSON.stringify(text);
}

const PLAIN_TEXT = /^[ !#-[\]-~]*$/;

/** A digest of a value's canonical form, for comparing and for approvals. */
export function digestOf(value: unknown): string {
  return hash("sha256", canonical(value), "hex").slice(0, 32);
}

/** Whether two values have the same canonical form, without making it. */
export function sameJson(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (left === undefined || left === null || right === undefined || right === null)
    return (left ?? null) === (right ?? null);
  if (typeof left !== "object" || typeof right !== "object") return false;
  if (Array.isArray(left) || Array.isArray(right)) {
    if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false;
    for (let index = 0; index < left.length; index++) if (!sameJson(left[index], right[index])) return false;
    return true;
  }
  if (left instanceof Secret || right instanceof Secret) return canonical(left) === canonical(right);
  return sameFields(left as Readonly<Record<string, unknown>>, right as Readonly<Record<string, unknown>>);
}

/** Most of what is compared is the same, and is so for every look: no lists of keys are made for it. */
function sameFields(left: Readonly<Record<string, unknown>>, right: Readonly<Record<string, unknown>>): boolean {
  let more = 0;
  for (const key in left) {
    if (!Object.hasOwn(left, key) || left[key] === undefined) continue;
    if (!Object.hasOwn(right, key) || right[key] === undefined || !sameJson(left[key], right[key])) return false;
    more++;
  }
  for (const key in right) if (Object.hasOwn(right, key) && right[key] !== undefined) more--;
  return more === 0;
}

/** The value as it may be stored and shown: secrets become their hash prefix. */
export function redacted(value: unknown): Json {
  if (value === undefined || value === null) return null;
  if (typeof value !== "object") return typeof value === "number" && !Number.isFinite(value) ? null : (value as Json);
  if (value instanceof Secret) return value.toJSON();
  if (Array.isArray(value)) return value.map(redacted);
  const fields: [string, Json][] = [];
  for (const [key, field] of Object.entries(value)) if (field !== undefined) fields.push([key, redacted(field)]);
  // Unlike an assignment, this also makes a field of the name "__proto__".
  return Object.fromEntries(fields);
}
