import type { PersonProofs } from "../../ports/identity-store.ts";
import { Problem } from "../problem.ts";
import type { RequestOrigin } from "../route.ts";
import { mailLimits, signUpLimits } from "./attempt-limits.ts";
import { baseUrl, claimedAuthor, type Identity, sendInBackground, takeAttempts } from "./identity.ts";
import { makeLink } from "./links.ts";
import { requireStrong } from "./password-rules.ts";

interface SignUp {
  readonly email: string;
  readonly name: string;
  readonly password: string;
}

/**
 * Makes a new person. Whether the e-mail was known is told to its owner by mail, and to nobody else: the answer and the time
 * it takes are the same.
 */
export async function signUp(identity: Identity, given: SignUp, origin: RequestOrigin): Promise<void> {
  if (!identity.signUp)
    throw new Problem(
      "FORBIDDEN",
      "Sign-up is switched off here: ask an administrator to add you (setpoint people add)",
    );
  const { email, name, password } = given;
  await takeAttempts(identity, signUpLimits(email, origin.address));
  requireStrong(password, { email, name });
  const [passwordHash, found] = await Promise.all([
    identity.passwords.hash(password),
    identity.store.personByEmail(email),
  ]);
  const author = claimedAuthor(email, "sign-up", origin);
  if (found === undefined) {
    const person = {
      id: identity.ids.next(),
      email,
      name,
      passwordHash,
      platformRole: "none",
      verified: false,
    } as const;
    await identity.store.createPerson({ person, author });
  } else if (!found.person.verified && identity.mailer !== undefined) {
    await identity.store.replaceUnverified({ personId: found.person.id, name, passwordHash, author });
  }
  sendInBackground(identity, "sign-up", () => tell(identity, email));
}

async function tell(identity: Identity, email: string): Promise<void> {
  const { mailer } = identity;
  const found = await identity.store.personByEmail(email);
  if (mailer === undefined || found === undefined || found.person.state !== "active") return;
  const { person } = found;
  if (person.verified) {
    const text = `Somebody signed up at Setpoint with this address. You are there already: sign in at ${baseUrl(identity)}/sign-in, or ask for a new password there.\n\nIf it was not you, nothing has changed.\n`;
    await mailer.send(email, "You have signed up at Setpoint already", text);
    return;
  }
  const author = { name: email, type: "person" } as const;
  const { url } = await makeLink(identity, { purpose: "verify-email", person, author });
  const text = `Follow this link to show that this address is yours, and to sign in:\n\n  ${url}\n\nIt works once, within a day. If you did not sign up, ignore this mail.\n`;
  await mailer.send(email, "Your address at Setpoint", text);
}

/** Mails a link with which a new password can be set, if there is such a person. The answer does not say. */
export async function forgotPassword(identity: Identity, email: string, origin: RequestOrigin): Promise<void> {
  await takeAttempts(identity, mailLimits(email, origin.address));
  sendInBackground(identity, "password reset", async () => {
    const found = await identity.store.personByEmail(email);
    if (identity.mailer !== undefined && found?.person.state === "active") await mailReset(identity, found, origin);
  });
}

async function mailReset(identity: Identity, { person }: PersonProofs, origin: RequestOrigin): Promise<void> {
  const author = claimedAuthor(person.email, "forgotten password", origin);
  const { url } = await makeLink(identity, { purpose: "password-reset", person, author });
  const text = `Somebody, we hope you, asked for a new password at Setpoint. Set it here:\n\n  ${url}\n\nThe link works once, within an hour. If it was not you, ignore this mail: nothing has changed.\n`;
  await identity.mailer?.send(person.email, "A new password for Setpoint", text);
}
