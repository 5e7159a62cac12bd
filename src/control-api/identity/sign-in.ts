import type { PersonProofs, SessionRecord } from "../../ports/identity-store.ts";
import type { RequestOrigin } from "../route.ts";
import { forgivenBySignIn, signInLimits } from "./attempt-limits.ts";
import { claimedAuthor, type Identity, newSession, refused, takeAttempts } from "./identity.ts";
import { useCode } from "./second-factor.ts";

export interface SignedIn {
  readonly session: SessionRecord;
  readonly token: string;
}

/**
 * E-mail and password, then a code where the person has set that up. Every failure is answered alike and takes as long:
 * nothing tells whether there is such a person. Only a right password learns that a code is wanted.
 */
export async function signIn(
  identity: Identity,
  given: { readonly email: string; readonly password: string; readonly code: string | undefined },
  origin: RequestOrigin,
  replaces: string | undefined,
): Promise<SignedIn | "second factor required"> {
  const { email, password, code } = given;
  await takeAttempts(identity, signInLimits(email, origin.address));
  const found = await identity.store.personByEmail(email);
  const author = claimedAuthor(found === undefined ? "somebody" : email, "password", origin);
  const deny = async (why: string): Promise<never> => {
    await identity.store.noteRefused({ personId: found?.person.id, why, author });
    throw refused();
  };
  const matches = await identity.passwords.matches(password, found?.passwordHash);
  if (found === undefined || !matches) return deny("password");
  if (!maySignIn(identity, found)) return deny(found.person.state === "active" ? "not verified" : "disabled");
  if (found.hasTotp && code === undefined) return "second factor required";
  const second = code === undefined ? undefined : await useCode(identity, found, code, author);
  if (found.hasTotp && second === undefined) return deny("code");
  const passwordHash = await renewedHash(identity, found, password);
  const { session, token } = newSession(identity, origin, replaces);
  const how = ["password", ...(second === undefined ? [] : [second])].join(" and ");
  const opened = await identity.store.openSession({ personId: found.person.id, session, how, passwordHash, author });
  if (opened === undefined) return deny("changed meanwhile");
  await identity.store.clearAttempts(forgivenBySignIn(email, origin.address));
  if (session.replaces !== undefined) identity.sessions.forget();
  return { session: opened, token };
}

/** Where mail is sent, an address counts once its owner answered. */
export function maySignIn(identity: Identity, { person }: Pick<PersonProofs, "person">): boolean {
  return person.state === "active" && (person.verified || identity.mailer === undefined);
}

/** The moment of a right password is the only one at which it can be hashed with newer parameters. */
async function renewedHash(identity: Identity, found: PersonProofs, password: string): Promise<string | undefined> {
  const oldHash = found.passwordHash;
  if (oldHash === undefined || !identity.passwords.isOutdated(oldHash)) return oldHash;
  const newHash = await identity.passwords.hash(password);
  await identity.store.rehash({ personId: found.person.id, oldHash, newHash });
  return newHash;
}
