import { z } from "zod";
import { refuseOtherSites } from "../authentication/same-origin.ts";
import { idleMs } from "../authentication/session-reader.ts";
import type { ApiContext } from "../context.ts";
import { openLimits, proofLimits } from "../identity/attempt-limits.ts";
import { claimedAuthor, type Identity, newSession, refused, takeAttempts } from "../identity/identity.ts";
import { sessionDocument, signedInAnswer, signedOutHeaders } from "../identity/identity-documents.ts";
import { signInAsFirst, signInByLink } from "../identity/links.ts";
import { authenticationOptions, provenPasskey } from "../identity/passkeys.ts";
import { requirePerson } from "../identity/require-person.ts";
import { useCode } from "../identity/second-factor.ts";
import { maySignIn, signIn, type SignedIn } from "../identity/sign-in.ts";
import { Problem } from "../problem.ts";
import { defineOpenRoute, defineRoute, type OpenRouteCall, type Route, type RouteCall } from "../route.ts";
import {
  linkSignInSchema,
  type PasskeyAnswer,
  passkeyOptionsSchema,
  passkeySignInSchema,
  proofSchema,
  sessionListSchema,
  signedInSchema,
  signInSchema,
} from "../schemas/identity.ts";

const nothing = z.strictObject({});
const tag = "sign-in";
type OpenCall = Omit<OpenRouteCall<unknown, unknown, unknown>, "body">;

export function sessionRoutes(context: ApiContext): readonly Route[] {
  return [...signInRoutes(context), ...passkeySignIn(context), ...ownSessions(context), ...proving(context)];
}

function signInRoutes(context: ApiContext): readonly Route[] {
  return [
    defineOpenRoute({
      method: "POST",
      path: "/v1/session",
      summary: "Sign in with e-mail and password, and a code where the person has set that up",
      tag,
      parameters: nothing,
      body: signInSchema,
      answers: {
        200: { description: "The password is right; repeat it with a code", schema: signedInSchema },
        201: { description: "Signed in", schema: signedInSchema },
      },
      handle: async (call) => {
        refuseOtherSites(call.headers);
        const { email, password, code, as } = call.body;
        const given = { email, password, code };
        const signed = await signIn(context.identity, given, call.origin, presented(context.identity, call));
        if (signed === "second factor required") return { status: 200, body: { secondFactor: "required" } };
        return signedInAnswer(context.identity, signed, as, call.origin);
      },
    }),
    defineOpenRoute({
      method: "POST",
      path: "/v1/session/link",
      summary: "Sign in with a one-time link; with that of the first start, say who you are",
      tag,
      parameters: nothing,
      body: linkSignInSchema,
      answers: { 201: { description: "Signed in", schema: signedInSchema } },
      handle: async (call) => {
        refuseOtherSites(call.headers);
        const { token, as, person } = call.body;
        const signed =
          person === undefined
            ? await signInByLink(context.identity, token, call.origin, presented(context.identity, call))
            : await signInAsFirst(context.identity, { token, ...person }, call.origin);
        return signedInAnswer(context.identity, signed, as, call.origin);
      },
    }),
  ];
}

/** The session that the same browser had before: signing in gives it a new one. */
function presented(identity: Identity, { headers }: OpenCall): string | undefined {
  const { authorization, cookie } = headers;
  return identity.sessions.tokenOf({ authorization, cookie });
}

function passkeySignIn(context: ApiContext): readonly Route[] {
  return [
    defineOpenRoute({
      method: "POST",
      path: "/v1/session/passkey-options",
      summary: "What a browser asks a passkey to sign, to sign in",
      tag,
      parameters: nothing,
      answers: { 200: { description: "Options for navigator.credentials.get", schema: passkeyOptionsSchema } },
      handle: async ({ origin, headers }) => {
        await takeAttempts(context.identity, openLimits("passkey from", origin.address));
        const publicKey = await authenticationOptions(context.identity, "sign-in", undefined, headers);
        return { status: 200, body: { publicKey } };
      },
    }),
    defineOpenRoute({
      method: "POST",
      path: "/v1/session/passkey",
      summary: "Sign in with a passkey",
      tag,
      parameters: nothing,
      body: passkeySignInSchema,
      answers: { 201: { description: "Signed in", schema: signedInSchema } },
      handle: async (call) => {
        refuseOtherSites(call.headers);
        await takeAttempts(context.identity, openLimits("passkey from", call.origin.address));
        const signed = await signInByPasskey(context.identity, call.body.passkey, call);
        return signedInAnswer(context.identity, signed, call.body.as, call.origin);
      },
    }),
  ];
}

async function signInByPasskey(identity: Identity, answer: PasskeyAnswer, call: OpenCall): Promise<SignedIn> {
  const passkey = await provenPasskey(identity, answer, "sign-in", undefined, call.headers);
  const found = passkey === undefined ? undefined : await identity.store.personById(passkey.personId);
  if (passkey === undefined || found === undefined || !maySignIn(identity, found)) throw refused();
  const { session, token } = newSession(identity, call.origin, presented(identity, call));
  const author = claimedAuthor(found.person.email, "passkey", call.origin);
  const how = `passkey ${passkey.label}`;
  const opened = await identity.store.openSession({ personId: passkey.personId, session, how, author });
  if (opened === undefined) throw refused();
  if (session.replaces !== undefined) identity.sessions.forget();
  return { session: opened, token };
}

function ownSessions(context: ApiContext): readonly Route[] {
  const end = async (id: string, { caller }: Pick<RouteCall<unknown, unknown, unknown>, "caller">) => {
    const { person } = await requirePerson(context.identity, caller);
    const ended = await context.identity.store.endSession({ personId: person.id, id, author: caller.principal });
    context.identity.sessions.forget();
    if (!ended) throw new Problem("NOT_FOUND", `You have no session "${id}". See: setpoint auth sessions`);
  };
  return [
    defineRoute({
      method: "DELETE",
      path: "/v1/session",
      summary: "Sign out",
      need: { at: "self" },
      onlyPeople: true,
      tag,
      parameters: nothing,
      answers: { 204: { description: "Signed out" } },
      handle: async (call) => {
        await end(call.caller.credential.id, call);
        return { status: 204, headers: signedOutHeaders(context.identity, call.origin) };
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/sessions",
      summary: "Where you are signed in",
      need: { at: "self" },
      onlyPeople: true,
      tag,
      parameters: nothing,
      answers: { 200: { description: "Your sessions, the latest used first", schema: sessionListSchema } },
      handle: async ({ caller }) => {
        const { person } = await requirePerson(context.identity, caller);
        const sessions = await context.identity.store.listSessions({ personId: person.id, idleMs });
        return { status: 200, body: { items: sessions.map((one) => sessionDocument(one, caller.credential.id)) } };
      },
    }),
    defineRoute({
      method: "DELETE",
      path: "/v1/sessions/{id}",
      summary: "End one of your sessions",
      need: { at: "self" },
      onlyPeople: true,
      tag,
      parameters: z.strictObject({ id: z.string().min(1).max(100) }),
      answers: { 204: { description: "Ended; whoever used it is out within five seconds" } },
      handle: async (call) => {
        await end(call.parameters.id, call);
        return { status: 204 };
      },
    }),
  ];
}

function proving(context: ApiContext): readonly Route[] {
  return [
    defineRoute({
      method: "POST",
      path: "/v1/session/prove-options",
      summary: "What a browser asks one of your passkeys to sign, to prove that it is you",
      need: { at: "self" },
      onlyPeople: true,
      tag,
      parameters: nothing,
      answers: { 200: { description: "Options for navigator.credentials.get", schema: passkeyOptionsSchema } },
      handle: async ({ caller, headers }) => {
        const { person } = await requirePerson(context.identity, caller);
        const publicKey = await authenticationOptions(context.identity, "prove", person.id, headers);
        return { status: 200, body: { publicKey } };
      },
    }),
    defineRoute({
      method: "POST",
      path: "/v1/session/prove",
      summary: "Prove again that it is you: with your password, a code or a passkey. Dangerous acts ask for it",
      need: { at: "self" },
      onlyPeople: true,
      tag,
      parameters: nothing,
      body: proofSchema,
      answers: { 204: { description: "Proven, for five minutes" } },
      handle: async (call) => {
        await prove(context.identity, call);
        return { status: 204 };
      },
    }),
  ];
}

async function prove(
  identity: Identity,
  { caller, body, headers }: RouteCall<unknown, unknown, z.output<typeof proofSchema>>,
): Promise<void> {
  const found = await requirePerson(identity, caller);
  const personId = found.person.id;
  const author = caller.principal;
  const limits = proofLimits(personId);
  await takeAttempts(identity, limits);
  const { password, code, passkey } = body;
  let how: string | undefined;
  if (password !== undefined)
    how = (await identity.passwords.matches(password, found.passwordHash)) ? "password" : undefined;
  else if (code !== undefined) how = await useCode(identity, found, code, author);
  else if (passkey !== undefined)
    how = (await provenPasskey(identity, passkey, "prove", personId, headers)) === undefined ? undefined : "passkey";
  if (how === undefined) {
    await identity.store.noteRefused({ personId, why: "proof", author });
    throw new Problem("SIGN_IN_REFUSED", `This does not prove that it is you: ${wrong(body)}. You are still signed in`);
  }
  await identity.store.prove({ personId, sessionId: caller.credential.id, how, author });
  await identity.store.clearAttempts(limits.map(({ bucket }) => bucket));
  identity.sessions.forget();
}

function wrong({ password, code }: z.output<typeof proofSchema>): string {
  if (password !== undefined) return "the password is not yours";
  if (code !== undefined)
    return "the code is wrong or was used before. A code of the app works once: wait for the next";
  return "the passkey is not one of yours here";
}
