import type { Kind } from "../../kernel/kind.ts";
import { Problem } from "../problem.ts";

type Headers = Readonly<Record<string, string | undefined>>;

/**
 * What the caller says about the revision it means: one it has read, whatever stands there (`If-Match: *`), nothing at all
 * (`If-None-Match: *`), or nothing about it.
 */
export type Precondition = { readonly revision: number } | "any" | "none" | "unsaid";

export function preconditionOf(headers: Headers): Precondition {
  const { "if-match": match, "if-none-match": noneMatch } = headers;
  if (match !== undefined && noneMatch !== undefined)
    throw new Problem("BODY_INVALID", "If-Match and If-None-Match contradict each other: send one of them");
  if (noneMatch !== undefined) {
    if (noneMatch === "*") return "none";
    throw new Problem("BODY_INVALID", `If-None-Match can only be *; it was ${noneMatch.slice(0, 80)}`);
  }
  if (match === undefined) return "unsaid";
  if (match === "*") return "any";
  const revision = /^"(\d{1,15})"$/.exec(match)?.[1];
  if (revision !== undefined) return { revision: Number(revision) };
  throw new Problem(
    "BODY_INVALID",
    `If-Match must be an ETag of this resource, such as "3"; it was ${match.slice(0, 80)}`,
  );
}

/** As the store takes it: 0 is "must not exist", undefined whatever stands there. */
export function revisionOf(precondition: Precondition): number | undefined {
  if (precondition === "any") return undefined;
  return typeof precondition === "object" ? precondition.revision : 0;
}

export function preconditionRequired(kind: Kind, name: string, what: string): Problem {
  return new Problem(
    "PRECONDITION_REQUIRED",
    `${kind.kind}/${name} exists: to ${what} it, send If-Match with the ETag you read, or "If-Match: *" for whatever stands there now`,
  );
}
