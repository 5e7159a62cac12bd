import { z } from "zod";
import { isoTime } from "../../kernel/iso-time.ts";
import { requireRecentProof } from "../access/require-need.ts";
import type { ApiContext } from "../context.ts";
import { codeLimits, proofLimits } from "../identity/attempt-limits.ts";
import { takeAttempts } from "../identity/identity.ts";
import { passkeyDocument, personDocument } from "../identity/identity-documents.ts";
import { registeredPasskey, registrationOptions } from "../identity/passkeys.ts";
import { requireStrong } from "../identity/password-rules.ts";
import { newRecoveryCodes, recoveryCodeHash } from "../identity/recovery-codes.ts";
import { requirePerson } from "../identity/require-person.ts";
import { totpBinding } from "../identity/second-factor.ts";
import { base32, fromBase32, totpStepOf, totpUri } from "../identity/totp.ts";
import { Problem } from "../problem.ts";
import { defineRoute, type Route } from "../route.ts";
import {
  type MeDocument,
  meChangeSchema,
  meSchema,
  passkeyListSchema,
  passkeyOptionsSchema,
  passkeyRegistrationSchema,
  passkeySchema,
  passwordChangeSchema,
  personSchema,
  recoveryCodesSchema,
  totpConfirmationSchema,
  totpSchema,
} from "../schemas/identity.ts";

const nothing = z.strictObject({});
/** What concerns how somebody signs in is theirs alone, and no program's. */
const ownCredential = { need: { at: "self" }, onlyPeople: true, tag: "me", parameters: nothing } as const;

export function meRoutes(context: ApiContext): readonly Route[] {
  return [
    ...profile(context),
    changePassword(context),
    ...totp(context),
    ...recoveryCodes(context),
    ...passkeys(context),
  ];
}

function profile(context: ApiContext): readonly Route[] {
  const { identity } = context;
  return [
    defineRoute({
      method: "GET",
      path: "/v1/me",
      summary: "Who you are here, and what you proved it with",
      need: { at: "self" },
      tag: "me",
      parameters: nothing,
      answers: { 200: { description: "You", schema: meSchema } },
      handle: async ({ caller }) => {
        const found = caller.personId === undefined ? undefined : await identity.store.personById(caller.personId);
        const { principal, credential, provenAtMs } = caller;
        const body: MeDocument = {
          name: principal.name,
          type: principal.type,
          credential,
          provenAt: isoTime(provenAtMs),
        };
        if (found !== undefined) {
          const { hasTotp, recoveryCodes, passkeys, passwordHash } = found;
          body.person = personDocument(found.person);
          body.hasPassword = passwordHash !== undefined;
          body.secondFactor = { totp: hasTotp, recoveryCodes, passkeys };
        }
        return { status: 200, body };
      },
    }),
    defineRoute({
      ...ownCredential,
      method: "PUT",
      path: "/v1/me",
      summary: "Change your name",
      body: meChangeSchema,
      answers: { 200: { description: "You", schema: personSchema } },
      handle: async ({ caller, body }) => {
        const { person } = await requirePerson(identity, caller);
        await identity.store.changePerson({ id: person.id, name: body.name, author: caller.principal });
        return { status: 200, body: personDocument({ ...person, name: body.name }) };
      },
    }),
  ];
}

function changePassword(context: ApiContext): Route {
  const { identity } = context;
  return defineRoute({
    ...ownCredential,
    method: "PUT",
    path: "/v1/me/password",
    summary: "Change your password; every other session of yours ends",
    body: passwordChangeSchema,
    answers: { 204: { description: "Changed" } },
    handle: async ({ caller, body }) => {
      const found = await requirePerson(identity, caller);
      const { person, passwordHash: oldHash } = found;
      // Without an old password to show, somebody at an open screen could set one.
      if (oldHash === undefined) requireRecentProof(caller, context.clock);
      await takeAttempts(identity, proofLimits(person.id));
      const right = oldHash === undefined || (await identity.passwords.matches(body.oldPassword ?? "", oldHash));
      if (!right) throw new Problem("SIGN_IN_REFUSED", "The old password is not the one you have now");
      requireStrong(body.password, person);
      const newHash = await identity.passwords.hash(body.password);
      const keepSessionId = caller.credential.id;
      const author = caller.principal;
      const changed = await identity.store.setPassword({
        personId: person.id,
        oldHash,
        newHash,
        keepSessionId,
        author,
      });
      identity.sessions.forget();
      if (!changed) throw new Problem("REVISION_CONFLICT", "The password was changed at the same moment: try again");
      return { status: 204 };
    },
  });
}

function totp(context: ApiContext): readonly Route[] {
  const { identity } = context;
  return [
    defineRoute({
      ...ownCredential,
      method: "POST",
      path: "/v1/me/totp",
      summary: "A new secret for an authenticator app. It counts once you have confirmed a code of it",
      stepUp: true,
      answers: { 201: { description: "Shown once", schema: totpSchema } },
      handle: async ({ caller }) => {
        const { person } = await requirePerson(identity, caller);
        const secret = base32(identity.secretRandom.bytes(20));
        const sealedSecret = await identity.secretBox.seal(secret, totpBinding(person.id));
        if (!(await identity.store.startTotp({ personId: person.id, sealedSecret })))
          throw new Problem("ALREADY_EXISTS", "Codes are on already. Turn them off first: setpoint auth totp disable");
        return { status: 201, body: { secret, uri: totpUri(secret, person.email) } };
      },
    }),
    defineRoute({
      ...ownCredential,
      method: "POST",
      path: "/v1/me/totp/confirm",
      summary: "Turn codes on by showing one. Answers with recovery codes, for the day the app is gone",
      body: totpConfirmationSchema,
      answers: { 200: { description: "Codes are on", schema: recoveryCodesSchema } },
      handle: async ({ caller, body }) => {
        const { person } = await requirePerson(identity, caller);
        const personId = person.id;
        await takeAttempts(identity, codeLimits(personId));
        const kept = await identity.store.totp(personId);
        if (kept === undefined || kept.confirmed)
          throw new Problem("NOT_FOUND", "There is no secret to confirm. Make one first: setpoint auth totp enable");
        const secret = fromBase32(await identity.secretBox.open(kept.sealedSecret, totpBinding(personId)));
        const step = totpStepOf(secret, body.code, identity.clock.nowMs());
        const codes = newRecoveryCodes(identity.secretRandom);
        const codeHashes = codes.map(recoveryCodeHash);
        const author = caller.principal;
        if (step === undefined || !(await identity.store.confirmTotp({ personId, step, codeHashes, author })))
          throw new Problem(
            "SIGN_IN_REFUSED",
            "This is not the code of now. Check the clock of the device, and try again",
          );
        await identity.store.clearAttempts(codeLimits(personId).map(({ bucket }) => bucket));
        return { status: 200, body: { recoveryCodes: codes } };
      },
    }),
    defineRoute({
      ...ownCredential,
      method: "DELETE",
      path: "/v1/me/totp",
      summary: "Turn codes off; the recovery codes go with them",
      stepUp: true,
      answers: { 204: { description: "Off" } },
      handle: async ({ caller }) => {
        const { person } = await requirePerson(identity, caller);
        if (!(await identity.store.removeTotp({ personId: person.id, author: caller.principal })))
          throw new Problem("NOT_FOUND", "Codes are not on");
        return { status: 204 };
      },
    }),
  ];
}

function recoveryCodes(context: ApiContext): readonly Route[] {
  const { identity } = context;
  return [
    defineRoute({
      ...ownCredential,
      method: "POST",
      path: "/v1/me/recovery-codes",
      summary: "New recovery codes; the old ones stop working",
      stepUp: true,
      answers: { 201: { description: "Shown once", schema: recoveryCodesSchema } },
      handle: async ({ caller }) => {
        const { person } = await requirePerson(identity, caller);
        const codes = newRecoveryCodes(identity.secretRandom);
        const codeHashes = codes.map(recoveryCodeHash);
        const author = caller.principal;
        if (!(await identity.store.replaceRecoveryCodes({ personId: person.id, codeHashes, author })))
          throw new Problem("NOT_FOUND", "Codes are not on. Turn them on first: setpoint auth totp enable");
        return { status: 201, body: { recoveryCodes: codes } };
      },
    }),
  ];
}

function passkeys(context: ApiContext): readonly Route[] {
  const { identity } = context;
  return [
    defineRoute({
      ...ownCredential,
      method: "GET",
      path: "/v1/me/passkeys",
      summary: "Your passkeys",
      answers: { 200: { description: "Oldest first", schema: passkeyListSchema } },
      handle: async ({ caller }) => {
        const { person } = await requirePerson(identity, caller);
        const items = (await identity.store.listPasskeys(person.id)).map(passkeyDocument);
        return { status: 200, body: { items } };
      },
    }),
    defineRoute({
      ...ownCredential,
      method: "POST",
      path: "/v1/me/passkeys/options",
      summary: "What a browser needs to make a passkey",
      stepUp: true,
      answers: { 200: { description: "Options for navigator.credentials.create", schema: passkeyOptionsSchema } },
      handle: async ({ caller, headers }) => {
        const { person } = await requirePerson(identity, caller);
        return { status: 200, body: { publicKey: await registrationOptions(identity, person, headers) } };
      },
    }),
    defineRoute({
      ...ownCredential,
      method: "POST",
      path: "/v1/me/passkeys",
      summary: "Add a passkey",
      stepUp: true,
      body: passkeyRegistrationSchema,
      answers: { 201: { description: "Added", schema: passkeySchema } },
      handle: async ({ caller, body, headers }) => {
        const { person } = await requirePerson(identity, caller);
        const passkey = await registeredPasskey(identity, person, body, headers);
        if (!(await identity.store.addPasskey({ passkey, author: caller.principal })))
          throw new Problem("ALREADY_EXISTS", "This passkey is known already");
        const made = await identity.store.passkey(passkey.id);
        return { status: 201, body: made === undefined ? undefined : passkeyDocument(made) };
      },
    }),
    defineRoute({
      ...ownCredential,
      method: "DELETE",
      path: "/v1/me/passkeys/{id}",
      summary: "Remove a passkey",
      stepUp: true,
      parameters: z.strictObject({ id: z.string().min(1).max(2_048) }),
      answers: { 204: { description: "Removed" } },
      handle: async ({ caller, parameters }) => {
        const { person } = await requirePerson(identity, caller);
        const { id } = parameters;
        if (!(await identity.store.removePasskey({ personId: person.id, id, author: caller.principal })))
          throw new Problem("NOT_FOUND", "You have no such passkey");
        return { status: 204 };
      },
    }),
  ];
}
