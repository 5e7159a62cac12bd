import type { Principal } from "./records.ts";

export type PlatformRole = "none" | "operator" | "administrator";
export type PersonState = "active" | "disabled";

export interface Person {
  readonly id: string;
  /** Normalised; the name of the principal. */
  readonly email: string;
  readonly name: string;
  readonly state: PersonState;
  readonly platformRole: PlatformRole;
  /** Whether the address is known to be theirs. */
  readonly verified: boolean;
  readonly createdAtMs: number;
}

/** A person as sign-in needs them. */
export interface PersonProofs {
  readonly person: Person;
  /** With its parameters; undefined: they never set a password. */
  readonly passwordHash: string | undefined;
  /** Whether a code is asked for after the password. */
  readonly hasTotp: boolean;
  readonly passkeys: number;
  readonly recoveryCodes: number;
}

export interface NewPerson {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly passwordHash: string | undefined;
  readonly platformRole: PlatformRole;
  readonly verified: boolean;
}

export interface NewSession {
  readonly id: string;
  /** SHA-256 of the token, in hex. The token itself is nowhere. */
  readonly tokenHash: string;
  readonly address: string;
  readonly userAgent: string;
  readonly lastsMs: number;
  /** A session that this one replaces: of the same browser, say. */
  readonly replaces: string | undefined;
}

export interface SessionRecord {
  readonly id: string;
  readonly person: Person;
  readonly createdAtMs: number;
  readonly lastSeenAtMs: number;
  readonly endsAtMs: number;
  /** By the store's clock, so that a skewed process neither asks again too early nor too late. */
  readonly provenForMs: number;
  readonly address: string;
  readonly userAgent: string;
}

export type LinkPurpose = "first-person" | "sign-in" | "verify-email" | "password-reset";

export interface Passkey {
  readonly id: string;
  readonly personId: string;
  readonly publicKey: string;
  readonly counter: number;
  readonly relyingParty: string;
  readonly transports: readonly string[];
  readonly label: string;
  readonly createdAtMs: number;
  readonly lastUsedAtMs: number | undefined;
}

/** A bucket of attempts: it holds `burst` and gets one back every `everyMs`. */
export interface AttemptLimit {
  readonly bucket: string;
  readonly everyMs: number;
  readonly burst: number;
}

export type PersonChange = "changed" | "not-found" | "last-administrator";

/** People and how they prove who they are. Each method is one transaction, with its log entry where something changed. */
export interface IdentityStore {
  hasPeople(): Promise<boolean>;
  personByEmail(email: string): Promise<PersonProofs | undefined>;
  personById(id: string): Promise<PersonProofs | undefined>;
  listPeople(request: { readonly afterEmail: string | undefined; readonly limit: number }): Promise<readonly Person[]>;
  /** Undefined: somebody has that e-mail. */
  createPerson(request: { readonly person: NewPerson; readonly author: Principal }): Promise<Person | undefined>;
  /** Whoever has not shown yet that the address is theirs may start over. */
  replaceUnverified(request: {
    readonly personId: string;
    readonly name: string;
    readonly passwordHash: string;
    readonly author: Principal;
  }): Promise<boolean>;
  /** Ends every session of a person who is disabled. */
  changePerson(request: {
    readonly id: string;
    readonly name?: string | undefined;
    readonly state?: PersonState | undefined;
    readonly platformRole?: PlatformRole | undefined;
    readonly author: Principal;
  }): Promise<PersonChange>;
  /** Ends all sessions but one. False: the old hash is no longer the one there. */
  setPassword(request: {
    readonly personId: string;
    readonly oldHash: string | undefined;
    readonly newHash: string;
    readonly keepSessionId: string | undefined;
    readonly author: Principal;
  }): Promise<boolean>;
  /** The same password under newer parameters. */
  rehash(request: { readonly personId: string; readonly oldHash: string; readonly newHash: string }): Promise<void>;

  /** Takes one out of each bucket, in order, and stops at the first that is empty. Answers with the wait; 0 lets it pass. */
  takeAttempts(limits: readonly AttemptLimit[]): Promise<number>;
  clearAttempts(buckets: readonly string[]): Promise<void>;

  /** Undefined: the person is not active, or the proof it rests on is no longer theirs. */
  openSession(request: {
    readonly personId: string;
    readonly session: NewSession;
    readonly how: string;
    /** The password hash that was verified; another one now means that it was changed meanwhile. */
    readonly passwordHash?: string | undefined;
    readonly author: Principal;
  }): Promise<SessionRecord | undefined>;
  noteRefused(request: {
    readonly personId: string | undefined;
    readonly why: string;
    readonly author: Principal;
  }): Promise<void>;
  /** A session that neither idled nor lasted too long, of an active person. Asked by its token it counts as used. */
  session(
    request: { readonly idleMs: number } & ({ readonly tokenHash: string } | { readonly id: string }),
  ): Promise<SessionRecord | undefined>;
  listSessions(request: { readonly personId: string; readonly idleMs: number }): Promise<readonly SessionRecord[]>;
  endSession(request: { readonly personId: string; readonly id: string; readonly author: Principal }): Promise<boolean>;
  prove(request: {
    readonly personId: string;
    readonly sessionId: string;
    readonly how: string;
    readonly author: Principal;
  }): Promise<void>;

  startTotp(request: { readonly personId: string; readonly sealedSecret: string }): Promise<boolean>;
  totp(personId: string): Promise<{ readonly sealedSecret: string; readonly confirmed: boolean } | undefined>;
  /** Uses up a step and turns codes on, with fresh recovery codes. */
  confirmTotp(request: {
    readonly personId: string;
    readonly step: number;
    readonly codeHashes: readonly string[];
    readonly author: Principal;
  }): Promise<boolean>;
  /** False: a code of this step or of a later one was used before. */
  useTotpStep(request: { readonly personId: string; readonly step: number }): Promise<boolean>;
  removeTotp(request: { readonly personId: string; readonly author: Principal }): Promise<boolean>;
  replaceRecoveryCodes(request: {
    readonly personId: string;
    readonly codeHashes: readonly string[];
    readonly author: Principal;
  }): Promise<boolean>;
  useRecoveryCode(request: {
    readonly personId: string;
    readonly codeHash: string;
    readonly author: Principal;
  }): Promise<boolean>;

  addChallenge(request: {
    readonly challenge: string;
    readonly purpose: "register" | "sign-in" | "prove";
    readonly personId: string | undefined;
    readonly forMs: number;
  }): Promise<void>;
  /** Of any number of attempts one gets it. */
  takeChallenge(request: {
    readonly challenge: string;
    readonly purpose: "register" | "sign-in" | "prove";
    readonly personId: string | undefined;
  }): Promise<boolean>;
  addPasskey(request: {
    readonly passkey: Omit<Passkey, "createdAtMs" | "lastUsedAtMs">;
    readonly author: Principal;
  }): Promise<boolean>;
  listPasskeys(personId: string): Promise<readonly Passkey[]>;
  passkey(id: string): Promise<Passkey | undefined>;
  /** False: a copy of the key has been used meanwhile. */
  usePasskey(request: { readonly id: string; readonly counter: number }): Promise<boolean>;
  removePasskey(request: {
    readonly personId: string;
    readonly id: string;
    readonly author: Principal;
  }): Promise<boolean>;

  addLink(request: {
    readonly tokenHash: string;
    readonly purpose: LinkPurpose;
    readonly personId: string | undefined;
    readonly forMs: number;
    readonly author: Principal;
  }): Promise<void>;
  /** What a link is for, as long as it can be used. It stays usable. */
  link(tokenHash: string): Promise<{ readonly purpose: LinkPurpose; readonly person: Person | undefined } | undefined>;
  /** Uses up a link and opens a session with it. Undefined: it was used, expired or its person is not active. */
  openSessionByLink(request: {
    readonly tokenHash: string;
    readonly session: NewSession;
    readonly author: Principal;
  }): Promise<SessionRecord | undefined>;
  /** Uses up a link of the first start: whoever has it becomes the first person, an administrator. */
  makeFirstPerson(request: {
    readonly tokenHash: string;
    readonly person: NewPerson;
    readonly session: NewSession;
    readonly author: Principal;
  }): Promise<SessionRecord | undefined>;
  /** Uses up a link, sets the password and ends every session. */
  resetPassword(request: {
    readonly tokenHash: string;
    readonly passwordHash: string;
    readonly author: Principal;
  }): Promise<Person | undefined>;

  /** The text that shows which root key is in use; the given one is kept if there is none yet. */
  rootKeyCheck(sealed: string): Promise<string>;
}
