import { createHash } from "node:crypto";
import type { SecretRandom } from "../../ports/secret-random.ts";

/** 256 random bits behind a prefix by which people, programs and scanners of leaks know what it is. */
export function newOpaqueToken(random: SecretRandom, prefix: string): string {
  return `${prefix}${Buffer.from(random.bytes(32)).toString("base64url")}`;
}

/** What is kept of it. The token has so much entropy that a slow hash would add nothing. */
export function tokenHash(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}

export const sessionPrefix = "spt_ses_";

/** The prefix says which page a link leads to; what it may do is decided by its row alone. */
export const linkPrefixes = {
  "first-person": "spt_first_",
  "sign-in": "spt_link_",
  "verify-email": "spt_link_",
  "password-reset": "spt_reset_",
} as const;
