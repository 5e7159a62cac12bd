import { isoTime } from "../../kernel/iso-time.ts";
import type { Passkey, Person, SessionRecord } from "../../ports/identity-store.ts";
import { endedCookie, sessionCookie } from "../authentication/session-cookie.ts";
import { sessionLastsMs } from "../authentication/session-reader.ts";
import type { RequestOrigin, RouteAnswer } from "../route.ts";
import type { PersonDocument, SessionDocument, SignedInDocument } from "../schemas/identity.ts";
import { type Identity, isSecure } from "./identity.ts";
import type { SignedIn } from "./sign-in.ts";

export function personDocument(person: Person): PersonDocument {
  const { id, email, name, state, platformRole, verified, createdAtMs } = person;
  return { id, email, name, state, platformRole, verified, createdAt: isoTime(createdAtMs) };
}

export function sessionDocument(session: SessionRecord, currentId: string | undefined): SessionDocument {
  const { id, createdAtMs, lastSeenAtMs, endsAtMs, address, userAgent } = session;
  return {
    id,
    createdAt: isoTime(createdAtMs),
    lastSeenAt: isoTime(lastSeenAtMs),
    endsAt: isoTime(endsAtMs),
    address,
    userAgent,
    current: id === currentId,
  };
}

export function passkeyDocument({ id, label, relyingParty, createdAtMs, lastUsedAtMs }: Passkey) {
  return {
    id,
    label,
    relyingParty,
    createdAt: isoTime(createdAtMs),
    ...(lastUsedAtMs === undefined ? {} : { lastUsedAt: isoTime(lastUsedAtMs) }),
  };
}

/** A browser gets the token in a cookie that no script can read; a program gets it in the answer, and no cookie. */
export function signedInAnswer(
  identity: Identity,
  { session, token }: SignedIn,
  as: "cookie" | "token",
  origin: RequestOrigin,
): RouteAnswer {
  const body: SignedInDocument = {
    person: personDocument(session.person),
    session: sessionDocument(session, session.id),
    ...(as === "token" ? { token } : {}),
  };
  if (as === "token") return { status: 201, body };
  const cookie = sessionCookie(token, { secure: isSecure(identity, origin), lastsMs: sessionLastsMs });
  return { status: 201, body, headers: { "set-cookie": cookie } };
}

export function signedOutHeaders(identity: Identity, origin: RequestOrigin): Readonly<Record<string, string>> {
  return { "set-cookie": endedCookie(isSecure(identity, origin)) };
}
