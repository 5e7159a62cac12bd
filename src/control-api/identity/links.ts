import type { LinkPurpose, Person } from "../../ports/identity-store.ts";
import type { Principal } from "../../ports/records.ts";
import type { SecretRandom } from "../../ports/secret-random.ts";
import type { RequestOrigin } from "../route.ts";
import { openLimits } from "./attempt-limits.ts";
import { baseUrl, claimedAuthor, type Identity, newSession, refused, takeAttempts } from "./identity.ts";
import { linkPrefixes, newOpaqueToken, tokenHash } from "./opaque-token.ts";
import { requireStrong } from "./password-rules.ts";
import type { SignedIn } from "./sign-in.ts";

const minuteMs = 60_000;
export const linkLastsMs: Readonly<Record<LinkPurpose, number>> = {
  "first-person": 24 * 60 * minuteMs,
  "sign-in": 15 * minuteMs,
  "verify-email": 24 * 60 * minuteMs,
  "password-reset": 60 * minuteMs,
};

export interface MadeLink {
  readonly url: string;
  readonly lastsMs: number;
}

/** The token stands behind the #, which browsers send to nobody: no log, no proxy and no other site gets to see it. */
export async function makeLink(
  identity: Pick<Identity, "store" | "publicUrl" | "port"> & { readonly secretRandom: SecretRandom },
  about: { readonly purpose: LinkPurpose; readonly person: Person | undefined; readonly author: Principal },
): Promise<MadeLink> {
  const { purpose, person, author } = about;
  const token = newOpaqueToken(identity.secretRandom, linkPrefixes[purpose]);
  const lastsMs = linkLastsMs[purpose];
  const made = { tokenHash: tokenHash(token), purpose, personId: person?.id, forMs: lastsMs, author };
  await identity.store.addLink(made);
  return { url: `${baseUrl(identity)}/sign-in#${token}`, lastsMs };
}

/** Signs in with a link that was sent, or that the operator of this machine made. */
export async function signInByLink(
  identity: Identity,
  token: string,
  origin: RequestOrigin,
  replaces: string | undefined,
): Promise<SignedIn> {
  await takeAttempts(identity, openLimits("link from", origin.address));
  const found = await identity.store.link(tokenHash(token));
  if (found?.person === undefined) throw refused();
  const author = claimedAuthor(found.person.email, "link", origin);
  const made = newSession(identity, origin, replaces);
  const opened = await identity.store.openSessionByLink({
    tokenHash: tokenHash(token),
    session: made.session,
    author,
  });
  if (opened === undefined) throw refused();
  if (made.session.replaces !== undefined) identity.sessions.forget();
  return { session: opened, token: made.token };
}

/** Whoever holds the link of the first start becomes the first person here. */
export async function signInAsFirst(
  identity: Identity,
  given: { readonly token: string; readonly email: string; readonly name: string; readonly password: string },
  origin: RequestOrigin,
): Promise<SignedIn> {
  const { email, name, password } = given;
  await takeAttempts(identity, openLimits("link from", origin.address));
  const hash = tokenHash(given.token);
  if ((await identity.store.link(hash))?.purpose !== "first-person") throw refused();
  requireStrong(password, { email, name });
  const passwordHash = await identity.passwords.hash(password);
  const person = {
    id: identity.ids.next(),
    email,
    name,
    passwordHash,
    platformRole: "administrator" as const,
    verified: true,
  };
  const made = newSession(identity, origin, undefined);
  const author = claimedAuthor(email, "link", origin);
  const opened = await identity.store.makeFirstPerson({ tokenHash: hash, person, session: made.session, author });
  if (opened === undefined) throw refused();
  return { session: opened, token: made.token };
}

export async function resetPassword(
  identity: Identity,
  given: { readonly token: string; readonly password: string },
  origin: RequestOrigin,
): Promise<void> {
  await takeAttempts(identity, openLimits("link from", origin.address));
  const hash = tokenHash(given.token);
  const found = await identity.store.link(hash);
  if (found?.purpose !== "password-reset" || found.person === undefined) throw refused();
  requireStrong(given.password, found.person);
  const passwordHash = await identity.passwords.hash(given.password);
  const author = claimedAuthor(found.person.email, "link", origin);
  const changed = await identity.store.resetPassword({ tokenHash: hash, passwordHash, author });
  if (changed === undefined) throw refused();
  identity.sessions.forget();
}
