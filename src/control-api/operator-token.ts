import { createHash, timingSafeEqual } from "node:crypto";
import { Problem } from "./problem.ts";

/** Hashes first, so that the comparison takes the same time whatever was sent, its length included. */
export function requireToken(authorization: string | undefined, token: string): void {
  const presented = /^Bearer ([\x21-\x7e]{1,512})$/i.exec(authorization ?? "")?.[1];
  if (presented !== undefined && timingSafeEqual(hashed(presented), hashed(token))) return;
  const what = authorization === undefined ? "This needs a token" : "This token is not the operator's";
  throw new Problem(
    "UNAUTHENTICATED",
    `${what}: send "Authorization: Bearer …" with what stands in operator.token in the data directory`,
  );
}

function hashed(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
