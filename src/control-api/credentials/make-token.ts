import type { NewCredential } from "../../ports/credential-store.ts";
import type { Caller } from "../access/caller.ts";
import { newTokenText, tokenHash } from "../authentication/token-text.ts";
import type { ApiContext } from "../context.ts";
import type { RouteAnswer } from "../route.ts";
import { tokenDocument } from "./token-document.ts";

export const dayMs = 86_400_000;
export const minuteMs = 60_000;

/** Makes a token and answers with it. Nobody can read it again: only its hash is kept. */
export async function makeToken(
  context: ApiContext,
  caller: Caller,
  about: Pick<NewCredential, "organizationId" | "type" | "name" | "scope" | "bindings" | "forMs">,
): Promise<RouteAnswer> {
  const token = newTokenText(about.type, context.secretRandom);
  const { principal, personId } = caller;
  const record = await context.credentials.create({
    ...about,
    id: context.ids.next(),
    hash: tokenHash(token),
    personId,
    author: principal,
  });
  return { status: 201, body: { ...tokenDocument(record), token } };
}
