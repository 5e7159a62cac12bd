import type { IdentityStore, LinkPurpose, NewSession, SessionRecord } from "../ports/identity-store.ts";
import type { Principal } from "../ports/records.ts";
import type { Database, Transaction } from "./database.ts";
import { StoreError } from "./errors.ts";
import { passkeyOf, personOf, proofsOf, sessionOf } from "./identity-rows.ts";
import { type LogEntry, logCall } from "./log-entries.ts";
import * as people from "./sql/identity.ts";
import * as proofs from "./sql/identity-proofs.ts";
import { call } from "./statement.ts";

type Request<Method extends keyof IdentityStore> = Parameters<IdentityStore[Method]>[0];

/** A session is seen at most this much later than it is noted: a read need not write each time. */
const seenEveryMs = 60_000;

/** People on PostgreSQL. All of it runs as administration: who somebody is must be known before their tenant is. */
export class PostgresIdentityStore implements IdentityStore {
  readonly #administration: Database;
  readonly #logged: () => void;

  constructor(options: { readonly administration: Database; readonly logged?: () => void }) {
    this.#administration = options.administration;
    this.#logged = options.logged ?? (() => undefined);
  }

  hasPeople: IdentityStore["hasPeople"] = async () => {
    const [row] = await this.#administration.run("platform", call(people.hasPeople));
    return row?.found === true;
  };

  personByEmail: IdentityStore["personByEmail"] = async (email) => {
    const [row] = await this.#administration.run("platform", call(people.personByEmail, email));
    return row === undefined ? undefined : proofsOf(row);
  };

  personById: IdentityStore["personById"] = async (id) => {
    const [row] = await this.#administration.run("platform", call(people.personById, id));
    return row === undefined ? undefined : proofsOf(row);
  };

  listPeople: IdentityStore["listPeople"] = async ({ afterEmail, limit }) => {
    const rows = await this.#administration.run("platform", call(people.listPeople, afterEmail ?? "", limit));
    return rows.map(personOf);
  };

  createPerson: IdentityStore["createPerson"] = ({ person, author }) =>
    this.#change(async (tx) => {
      const made = await insertPerson(tx, person);
      if (made === undefined) return undefined;
      const { email, platformRole } = made;
      await log(tx, { type: "person.created", uid: made.id, author, data: { email, platformRole } });
      return made;
    });

  replaceUnverified: IdentityStore["replaceUnverified"] = ({ personId, name, passwordHash, author }) =>
    this.#change(async (tx) => {
      const [row] = await tx.run(people.replaceUnverified, personId, name, passwordHash);
      if (row === undefined) return false;
      await log(tx, { type: "person.signed-up-again", uid: personId, author, data: { email: row.email } });
      return true;
    });

  changePerson: IdentityStore["changePerson"] = (request) =>
    this.#change(async (tx) => {
      const { id, name, state, platformRole, author } = request;
      // Locked before it is counted, so that two administrators cannot remove each other at once.
      const administrators = await tx.run(people.lockAdministrators);
      const steps = state === "disabled" || (platformRole !== undefined && platformRole !== "administrator");
      if (steps && administrators.length === 1 && administrators[0]?.id === id) return "last-administrator";
      const [row] = await tx.run(people.updatePerson, id, name ?? null, state ?? null, platformRole ?? null);
      if (row === undefined) return "not-found";
      const data = { email: row.email, name, state, platformRole };
      await log(tx, { type: "person.changed", uid: id, author, data });
      if (state === "disabled") {
        await tx.run(people.deleteOtherSessions, id, null);
        await tx.run(proofs.forgetLinks, id);
      }
      return "changed";
    });

  setPassword: IdentityStore["setPassword"] = ({ personId, oldHash, newHash, keepSessionId, author }) =>
    this.#change(async (tx) => {
      const [row] = await tx.run(people.updatePassword, personId, oldHash ?? null, newHash);
      if (row === undefined) return false;
      const ended = await tx.run(people.deleteOtherSessions, personId, keepSessionId ?? null);
      await tx.run(proofs.forgetLinks, personId);
      const data = { email: row.email, sessionsEnded: ended.length };
      await log(tx, { type: "person.password-changed", uid: personId, author, data });
      return true;
    });

  rehash: IdentityStore["rehash"] = async ({ personId, oldHash, newHash }) => {
    await this.#administration.run("platform", call(people.updatePassword, personId, oldHash, newHash));
  };

  takeAttempts: IdentityStore["takeAttempts"] = (limits) =>
    this.#administration.transaction("platform", async (tx) => {
      for (const { bucket, everyMs, burst } of limits) {
        const [row] = await tx.run(people.takeAttempt, bucket, everyMs, burst);
        if (row !== undefined && row.wait_ms > 0) return row.wait_ms;
      }
      return 0;
    });

  clearAttempts: IdentityStore["clearAttempts"] = async (buckets) => {
    await this.#administration.run("platform", call(people.clearAttempts, buckets));
  };

  openSession: IdentityStore["openSession"] = ({ personId, session, how, passwordHash, author }) =>
    this.#change((tx) => openSession(tx, { personId, session, how, passwordHash, author }));

  noteRefused: IdentityStore["noteRefused"] = ({ personId, why, author }) =>
    this.#change((tx) => log(tx, { type: "session.refused", uid: personId, author, data: { why } }));

  session: IdentityStore["session"] = async (request) => {
    const { idleMs } = request;
    const asked =
      "id" in request
        ? call(people.findSessionById, request.id, idleMs)
        : call(people.findSession, request.tokenHash, idleMs);
    const [row] = await this.#administration.run("platform", asked);
    if (row === undefined) return undefined;
    if ("tokenHash" in request && row.now_ms - row.last_seen_at_ms > seenEveryMs)
      await this.#administration.run("platform", call(people.touchSession, row.session_id));
    return sessionOf(row);
  };

  listSessions: IdentityStore["listSessions"] = async ({ personId, idleMs }) => {
    const rows = await this.#administration.run("platform", call(people.listSessions, personId, idleMs));
    return rows.map(sessionOf);
  };

  endSession: IdentityStore["endSession"] = ({ personId, id, author }) =>
    this.#change(async (tx) => {
      const [row] = await tx.run(people.deleteSession, id, personId);
      if (row === undefined) return false;
      await log(tx, { type: "session.ended", uid: personId, author, data: { session: id } });
      return true;
    });

  prove: IdentityStore["prove"] = ({ personId, sessionId, how, author }) =>
    this.#change(async (tx) => {
      await tx.run(people.proveSession, sessionId, personId);
      await log(tx, { type: "session.proven", uid: personId, author, data: { session: sessionId, how } });
    });

  startTotp: IdentityStore["startTotp"] = async ({ personId, sealedSecret }) => {
    const rows = await this.#administration.run("platform", call(proofs.startTotp, personId, sealedSecret));
    return rows.length > 0;
  };

  totp: IdentityStore["totp"] = async (personId) => {
    const [row] = await this.#administration.run("platform", call(proofs.readTotp, personId));
    return row === undefined ? undefined : { sealedSecret: row.sealed_secret, confirmed: row.confirmed };
  };

  confirmTotp: IdentityStore["confirmTotp"] = ({ personId, step, codeHashes, author }) =>
    this.#change(async (tx) => {
      const [row] = await tx.run(proofs.confirmTotp, personId, step);
      if (row === undefined) return false;
      await tx.run(proofs.deleteRecoveryCodes, personId);
      await tx.run(proofs.insertRecoveryCodes, personId, codeHashes);
      await log(tx, { type: "person.totp-enabled", uid: personId, author, data: { recoveryCodes: codeHashes.length } });
      return true;
    });

  useTotpStep: IdentityStore["useTotpStep"] = async ({ personId, step }) =>
    (await this.#administration.run("platform", call(proofs.useTotpStep, personId, step))).length > 0;

  removeTotp: IdentityStore["removeTotp"] = ({ personId, author }) =>
    this.#change(async (tx) => {
      const [row] = await tx.run(proofs.deleteTotp, personId);
      if (row === undefined) return false;
      await tx.run(proofs.deleteRecoveryCodes, personId);
      await log(tx, { type: "person.totp-disabled", uid: personId, author, data: {} });
      return true;
    });

  replaceRecoveryCodes: IdentityStore["replaceRecoveryCodes"] = ({ personId, codeHashes, author }) =>
    this.#change(async (tx) => {
      await tx.run(proofs.deleteRecoveryCodes, personId);
      const rows = await tx.run(proofs.insertRecoveryCodes, personId, codeHashes);
      if (rows.length === 0) return false;
      await log(tx, { type: "person.recovery-codes-made", uid: personId, author, data: { codes: rows.length } });
      return true;
    });

  useRecoveryCode: IdentityStore["useRecoveryCode"] = ({ personId, codeHash, author }) =>
    this.#change(async (tx) => {
      const [row] = await tx.run(proofs.useRecoveryCode, personId, codeHash);
      if (row === undefined) return false;
      await log(tx, { type: "person.recovery-code-used", uid: personId, author, data: {} });
      return true;
    });

  addChallenge: IdentityStore["addChallenge"] = async ({ challenge, purpose, personId, forMs }) => {
    const made = call(proofs.insertChallenge, challenge, purpose, personId ?? null, forMs);
    await this.#administration.transact("platform", [call(people.deleteOldChallenges), made]);
  };

  takeChallenge: IdentityStore["takeChallenge"] = async ({ challenge, purpose, personId }) => {
    const taken = call(proofs.takeChallenge, challenge, purpose, personId ?? null);
    return (await this.#administration.run("platform", taken)).length > 0;
  };

  addPasskey: IdentityStore["addPasskey"] = ({ passkey, author }) =>
    this.#change(async (tx) => {
      const { id, personId, publicKey, counter, relyingParty, transports, label } = passkey;
      const values = [id, personId, publicKey, counter, relyingParty, transports, label] as const;
      const [row] = await tx.run(proofs.insertPasskey, ...values);
      if (row === undefined) return false;
      await log(tx, { type: "person.passkey-added", uid: personId, author, data: { label, relyingParty } });
      return true;
    });

  listPasskeys: IdentityStore["listPasskeys"] = async (personId) =>
    (await this.#administration.run("platform", call(proofs.listPasskeys, personId))).map(passkeyOf);

  passkey: IdentityStore["passkey"] = async (id) => {
    const [row] = await this.#administration.run("platform", call(proofs.readPasskey, id));
    return row === undefined ? undefined : passkeyOf(row);
  };

  usePasskey: IdentityStore["usePasskey"] = async ({ id, counter }) =>
    (await this.#administration.run("platform", call(proofs.usePasskey, id, counter))).length > 0;

  removePasskey: IdentityStore["removePasskey"] = ({ personId, id, author }) =>
    this.#change(async (tx) => {
      const [row] = await tx.run(proofs.deletePasskey, id, personId);
      if (row === undefined) return false;
      await log(tx, { type: "person.passkey-removed", uid: personId, author, data: { label: row.label } });
      return true;
    });

  addLink: IdentityStore["addLink"] = ({ tokenHash, purpose, personId, forMs, author }) =>
    this.#change(async (tx) => {
      await tx.run(people.deleteOldAttempts);
      await tx.run(proofs.insertLink, tokenHash, purpose, personId ?? null, forMs);
      await log(tx, { type: "link.made", uid: personId, author, data: { purpose, forMs } });
    });

  link: IdentityStore["link"] = async (tokenHash) => {
    const [row] = await this.#administration.run("platform", call(proofs.readLink, tokenHash));
    if (row === undefined) return undefined;
    const { purpose, id, email, name, state, platform_role, verified, person_created_at_ms } = row;
    if (id === null || email === null || name === null || state === null || platform_role === null)
      return { purpose, person: undefined };
    const person = { id, email, name, state, platform_role, verified, person_created_at_ms: person_created_at_ms ?? 0 };
    return { purpose, person: personOf(person) };
  };

  openSessionByLink: IdentityStore["openSessionByLink"] = ({ tokenHash, session, author }) =>
    this.#change(async (tx) => {
      const used = await takeLink(tx, tokenHash, ["sign-in", "verify-email"]);
      if (used?.person_id === null || used === undefined) return undefined;
      if (used.purpose === "verify-email") await tx.run(people.markVerified, used.person_id);
      return openSession(tx, { personId: used.person_id, session, how: `${used.purpose} link`, author });
    });

  makeFirstPerson: IdentityStore["makeFirstPerson"] = ({ tokenHash, person, session, author }) =>
    this.#change(async (tx) => {
      if ((await takeLink(tx, tokenHash, ["first-person"])) === undefined) return undefined;
      const [before] = await tx.run(people.hasPeople);
      if (before?.found === true) return undefined;
      const made = await insertPerson(tx, person);
      if (made === undefined) return undefined;
      const data = { email: made.email, platformRole: made.platformRole, first: true };
      await log(tx, { type: "person.created", uid: made.id, author, data });
      return openSession(tx, { personId: made.id, session, how: "first-person link", author });
    });

  resetPassword: IdentityStore["resetPassword"] = ({ tokenHash, passwordHash, author }) =>
    this.#change(async (tx) => {
      const used = await takeLink(tx, tokenHash, ["password-reset"]);
      if (used === undefined || used.person_id === null) return undefined;
      const [row] = await tx.run(people.setPassword, used.person_id, passwordHash);
      if (row === undefined) return undefined;
      const ended = await tx.run(people.deleteOtherSessions, row.id, null);
      await tx.run(proofs.forgetLinks, row.id);
      const data = { email: row.email, sessionsEnded: ended.length };
      await log(tx, { type: "person.password-reset", uid: row.id, author, data });
      return personOf(row);
    });

  rootKeyCheck: IdentityStore["rootKeyCheck"] = async (sealed) => {
    const [row] = await this.#administration.run("platform", call(people.rootKeyCheck, sealed));
    if (row === undefined) throw new StoreError("INTERNAL", "The check of the root key could not be read");
    return row.sealed;
  };

  async #change<Result>(work: (tx: Transaction) => Promise<Result>): Promise<Result> {
    const result = await this.#administration.transaction("platform", work);
    this.#logged();
    return result;
  }
}

async function insertPerson(tx: Transaction, person: Request<"createPerson">["person"]) {
  const { id, email, name, passwordHash, platformRole, verified } = person;
  const [row] = await tx.run(people.insertPerson, id, email, name, passwordHash ?? null, platformRole, verified);
  return row === undefined ? undefined : personOf(row);
}

async function openSession(
  tx: Transaction,
  request: {
    readonly personId: string;
    readonly session: NewSession;
    readonly how: string;
    readonly passwordHash?: string | undefined;
    readonly author: Principal;
  },
): Promise<SessionRecord | undefined> {
  const { personId, session, how, passwordHash = null, author } = request;
  const { id, tokenHash, lastsMs, address, userAgent, replaces } = session;
  await tx.run(people.deleteOldSessions);
  await tx.run(people.deleteOldLinks);
  await tx.run(people.deleteOldAttempts);
  if (replaces !== undefined) await tx.run(people.deleteSessionByHash, replaces);
  const values = [personId, id, tokenHash, lastsMs, address, userAgent, passwordHash] as const;
  const [made] = await tx.run(people.insertSession, ...values);
  if (made === undefined) return undefined;
  const data = { session: id, how, address, userAgent };
  await log(tx, { type: "session.opened", uid: personId, author, data });
  const [row] = await tx.run(people.readSession, id);
  return row === undefined ? undefined : sessionOf(row);
}

async function takeLink(tx: Transaction, tokenHash: string, purposes: readonly LinkPurpose[]) {
  const [row] = await tx.run(proofs.useLink, tokenHash, purposes);
  return row;
}

/** People concern the whole platform, and no tenant reads what happens to them. */
async function log(
  tx: Transaction,
  entry: Pick<LogEntry, "type" | "uid" | "data"> & { readonly author: Principal },
): Promise<void> {
  const { statement, values } = logCall({ organizationId: undefined, ...entry });
  await tx.run(statement, ...values);
}
