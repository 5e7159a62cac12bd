import { hash } from "node:crypto";
import { crc32 } from "node:zlib";
import type { TokenType } from "../../ports/credential-store.ts";
import type { SecretRandom } from "../../ports/secret-random.ts";

/** By its first letters a person, a program and a scanner of leaked secrets know what a token is for. */
export const tokenPrefixes: Readonly<Record<TokenType, string>> = {
  "personal-token": "spt_pat_",
  "service-token": "spt_svc_",
  "workspace-key": "spt_wsk_",
  "agent-enrolment": "spt_enr_",
  "assistant-token": "spt_ai_",
};

/** As a sentence says it. */
export const tokenWords: Readonly<Record<TokenType, string>> = {
  "personal-token": "a personal token",
  "service-token": "a service token",
  "workspace-key": "a workspace key",
  "agent-enrolment": "an agent enrolment token",
  "assistant-token": "an assistant token",
};

const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const secretBytes = 32;
/** 62^43 is more than 2^256, and 62^6 more than 2^32. */
const secretLength = 43;
const checksumLength = 6;
const form = new RegExp(`^[0-9A-Za-z]{${secretLength + checksumLength}}$`);

export function newTokenText(type: TokenType, random: SecretRandom): string {
  const secret = base62(BigInt(`0x${Buffer.from(random.bytes(secretBytes)).toString("hex")}`), secretLength);
  const text = tokenPrefixes[type] + secret;
  return text + checksumOf(text);
}

export type TokenText =
  | { readonly is: "token"; readonly type: TokenType; readonly hash: string }
  /** It has the prefix of a token and is none: mistyped, cut or made up. */
  | { readonly is: "broken"; readonly type: TokenType | undefined }
  | { readonly is: "something-else" };

export function hasTokenPrefix(text: string): boolean {
  return text.startsWith("spt_");
}

/** What a text is, judged without a lookup. */
export function readTokenText(text: string): TokenText {
  if (!hasTokenPrefix(text)) return { is: "something-else" };
  const [type, prefix] = Object.entries(tokenPrefixes).find(([, start]) => text.startsWith(start)) ?? [];
  if (type === undefined || prefix === undefined) return { is: "broken", type: undefined };
  const body = text.slice(0, -checksumLength);
  const isWhole = form.test(text.slice(prefix.length)) && checksumOf(body) === text.slice(-checksumLength);
  return isWhole
    ? { is: "token", type: type as TokenType, hash: tokenHash(text) }
    : { is: "broken", type: type as TokenType };
}

export function tokenHash(text: string): string {
  return hash("sha256", text, "hex");
}

/** Over the prefix too, so that a token whose prefix was changed is broken. Every request has one: without BigInt. */
function checksumOf(text: string): string {
  let checksum = "";
  for (let rest = crc32(text); checksum.length < checksumLength; rest = Math.floor(rest / 62))
    checksum = (digits[rest % 62] ?? "0") + checksum;
  return checksum;
}

function base62(value: bigint, length: number): string {
  let rest = value;
  let text = "";
  for (let index = 0; index < length; index++) {
    text = (digits[Number(rest % 62n)] ?? "0") + text;
    rest /= 62n;
  }
  return text;
}
