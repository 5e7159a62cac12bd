import { thrownMessage } from "../../kernel/errors.ts";
import type { Clock } from "../../ports/clock.ts";
import type { AttemptLimit, IdentityStore, NewSession } from "../../ports/identity-store.ts";
import type { Ids } from "../../ports/ids.ts";
import type { Log } from "../../ports/log.ts";
import type { Mailer } from "../../ports/mailer.ts";
import type { Principal } from "../../ports/records.ts";
import type { SecretBox } from "../../ports/secret-box.ts";
import type { SecretRandom } from "../../ports/secret-random.ts";
import type { SessionReader } from "../authentication/session-reader.ts";
import { sessionLastsMs } from "../authentication/session-reader.ts";
import { Problem } from "../problem.ts";
import type { RequestOrigin } from "../route.ts";
import { newOpaqueToken, sessionPrefix, tokenHash } from "./opaque-token.ts";
import type { Passwords } from "./passwords.ts";

/** What sign-in and everything about people needs. */
export interface Identity {
  readonly store: IdentityStore;
  readonly passwords: Passwords;
  readonly sessions: SessionReader;
  readonly secretBox: SecretBox;
  readonly secretRandom: SecretRandom;
  readonly mailer: Mailer | undefined;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** Whether strangers may make themselves a person here. */
  readonly signUp: boolean;
  /** The address people reach this server under; undefined: only on this machine. */
  readonly publicUrl: string | undefined;
  readonly port: number;
}

/** Where links lead. Never taken from a request: whoever asks for somebody's reset must not choose where it goes. */
export function baseUrl(identity: Pick<Identity, "publicUrl" | "port">): string {
  return identity.publicUrl ?? `http://127.0.0.1:${identity.port}`;
}

export function isSecure(identity: Identity, origin: RequestOrigin): boolean {
  return origin.secure || identity.publicUrl?.startsWith("https:") === true;
}

/** A session's token, and what is kept of it. */
export function newSession(
  identity: Identity,
  origin: RequestOrigin,
  replaces: string | undefined,
): { readonly token: string; readonly session: NewSession } {
  const token = newOpaqueToken(identity.secretRandom, sessionPrefix);
  const session = {
    id: identity.ids.next(),
    tokenHash: tokenHash(token),
    address: origin.address,
    userAgent: origin.userAgent ?? "",
    lastsMs: sessionLastsMs,
    replaces: replaces === undefined ? undefined : tokenHash(replaces),
  };
  return { token, session };
}

/** The author of what somebody does who has not signed in yet: named by what they claim, and by what they showed for it. */
export function claimedAuthor(name: string, credential: string, origin: RequestOrigin): Principal {
  const { address, requestId } = origin;
  return { name, type: "person", via: { credential, address, requestId } };
}

export async function takeAttempts(identity: Identity, limits: readonly AttemptLimit[]): Promise<void> {
  const waitMs = await identity.store.takeAttempts(limits);
  if (waitMs <= 0) return;
  const seconds = Math.ceil(waitMs / 1_000);
  throw new Problem("RATE_LIMITED", `Too many attempts: wait ${seconds} s before the next one`, {
    retryAfterSeconds: seconds,
  });
}

/** The one answer to every sign-in that fails, whatever the reason is. */
export function refused(): Problem {
  return new Problem(
    "SIGN_IN_REFUSED",
    "This did not sign you in: the e-mail, password, code or link is wrong, was used before, or has expired. Try again, or ask for a new link",
  );
}

/** Sends without letting whoever asked wait, so that the time of the answer says nothing about who exists. */
export function sendInBackground(identity: Identity, what: string, work: () => Promise<void>): void {
  work().catch((thrown: unknown) => {
    const message = thrownMessage(thrown);
    identity.log.warn("identity.mail-failed", { what, message });
  });
}
