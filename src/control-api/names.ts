import { createHash } from "node:crypto";

/**
 * Ids that follow from names: then the database's own primary key keeps names unique, also when two requests race, and a
 * route needs no lookup. A UUID of version 8 (RFC 9562) made of a hash.
 */
function idOf(...names: readonly string[]): string {
  const key = names.join("\0");
  const known = kept.get(key);
  if (known !== undefined) return known;
  const made = hashedId(key);
  if (kept.size >= keptAtMost) kept.clear();
  kept.set(key, made);
  return made;
}

/** A request asks for the same few ids again and again. */
const kept = new Map<string, string>();
const keptAtMost = 10_000;

function hashedId(key: string): string {
  const hash = createHash("sha256").update(key).digest("hex");
  const variant = ((Number.parseInt(hash.slice(16, 18), 16) & 0x3f) | 0x80).toString(16);
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-${variant}${hash.slice(18, 20)}-${hash.slice(20, 32)}`;
}

export function organizationIdOf(organization: string): string {
  return idOf("organization", organization);
}

export function accountIdOf(organization: string, account: string): string {
  return idOf("account", organization, account);
}

/** Scopes are named across all organizations, so their ids carry the whole path. A colon cannot be part of a name. */
export function projectScopeOf(organization: string, project: string): string {
  return `project/${organization}:${project}`;
}

export function workspaceScopeOf(organization: string, project: string, workspace: string): string {
  return `workspace/${organization}:${project}:${workspace}`;
}
