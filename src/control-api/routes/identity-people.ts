import { z } from "zod";
import { thrownMessage } from "../../kernel/errors.ts";
import { isoTime } from "../../kernel/iso-time.ts";
import type { Person } from "../../ports/identity-store.ts";
import type { Principal } from "../../ports/records.ts";
import type { ApiContext } from "../context.ts";
import { personDocument } from "../identity/identity-documents.ts";
import { linkLastsMs, makeLink, resetPassword } from "../identity/links.ts";
import { forgotPassword, signUp } from "../identity/sign-up.ts";
import { Problem } from "../problem.ts";
import { defineOpenRoute, defineRoute, type Route } from "../route.ts";
import {
  acceptedSchema,
  addedPersonSchema,
  forgotSchema,
  linkSchema,
  newPersonSchema,
  peopleQuerySchema,
  personChangeSchema,
  personIdSchema,
  personListSchema,
  personSchema,
  resetSchema,
  signInLinkSchema,
  signUpSchema,
} from "../schemas/identity.ts";

const nothing = z.strictObject({});
const idParameters = z.strictObject({ id: personIdSchema });
const tag = "people";

export function peopleRoutes(context: ApiContext): readonly Route[] {
  return [...openToAll(context), ...reading(context), ...changing(context), ...links(context)];
}

function openToAll(context: ApiContext): readonly Route[] {
  const { identity } = context;
  return [
    defineOpenRoute({
      method: "POST",
      path: "/v1/sign-up",
      summary: "Sign up. The answer does not say whether the e-mail was known",
      tag: "sign-in",
      parameters: nothing,
      body: signUpSchema,
      answers: { 202: { description: "Taken", schema: acceptedSchema } },
      handle: async ({ body, origin }) => {
        await signUp(identity, body, origin);
        const next = identity.mailer === undefined ? "Sign in" : "Follow the link in the mail that was sent to you";
        return { status: 202, body: { accepted: true, next } };
      },
    }),
    defineOpenRoute({
      method: "POST",
      path: "/v1/password/forgot",
      summary: "Ask for a link to set a new password. The answer does not say whether the e-mail was known",
      tag: "sign-in",
      parameters: nothing,
      body: forgotSchema,
      answers: { 202: { description: "Taken", schema: acceptedSchema } },
      handle: async ({ body, origin }) => {
        await forgotPassword(identity, body.email, origin);
        const next =
          identity.mailer === undefined
            ? "This server sends no mail: ask an administrator for a link (setpoint people reset-link EMAIL)"
            : "If you are known here, a mail with a link is on its way";
        return { status: 202, body: { accepted: true, next } };
      },
    }),
    defineOpenRoute({
      method: "POST",
      path: "/v1/password/reset",
      summary: "Set a new password with a one-time link; every session ends",
      tag: "sign-in",
      parameters: nothing,
      body: resetSchema,
      answers: { 204: { description: "Set; sign in with it" } },
      handle: async ({ body, origin }) => {
        await resetPassword(identity, body, origin);
        return { status: 204 };
      },
    }),
  ];
}

function reading(context: ApiContext): readonly Route[] {
  const { identity } = context;
  return [
    defineRoute({
      method: "GET",
      path: "/v1/people",
      summary: "Everybody here",
      need: { at: "platform", key: "platform.person", action: "read" },
      tag,
      parameters: nothing,
      query: peopleQuerySchema,
      answers: { 200: { description: "By e-mail", schema: personListSchema } },
      handle: async ({ query }) => {
        const { pageSize, pageToken } = query;
        const after = pageToken === undefined ? undefined : Buffer.from(pageToken, "base64url").toString("utf8");
        const people = await identity.store.listPeople({ afterEmail: after, limit: pageSize + 1 });
        const shown = people.slice(0, pageSize);
        const last = shown.at(-1);
        const more = people.length > pageSize && last !== undefined;
        const next = more ? { nextPageToken: Buffer.from(last.email).toString("base64url") } : {};
        return { status: 200, body: { items: shown.map(personDocument), ...next } };
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/people/{id}",
      summary: "One person",
      need: { at: "platform", key: "platform.person", action: "read" },
      tag,
      parameters: idParameters,
      answers: { 200: { description: "The person", schema: personSchema } },
      handle: async ({ parameters }) => ({
        status: 200,
        body: personDocument(await requireKnown(context, parameters.id)),
      }),
    }),
  ];
}

function changing(context: ApiContext): readonly Route[] {
  return [
    defineRoute({
      method: "POST",
      path: "/v1/people",
      summary: "Add a person. They set their password with a one-time link",
      need: { at: "platform", key: "platform.person", action: "create" },
      onlyPeople: true,
      stepUp: true,
      tag,
      parameters: nothing,
      body: newPersonSchema,
      answers: { 201: { description: "Added", schema: addedPersonSchema } },
      handle: async ({ body, caller }) => {
        const { identity } = context;
        const author = caller.principal;
        const person = { id: identity.ids.next(), ...body, passwordHash: undefined, verified: false };
        const made = await identity.store.createPerson({ person, author });
        if (made === undefined) throw new Problem("ALREADY_EXISTS", `There is already a person "${body.email}"`);
        return { status: 201, body: { person: personDocument(made), link: await resetLink(context, made, author) } };
      },
    }),
    defineRoute({
      method: "PUT",
      path: "/v1/people/{id}",
      summary: "Change a person's name, state or role on the platform. Whoever is disabled is signed out everywhere",
      need: { at: "platform", key: "platform.person", action: "update" },
      onlyPeople: true,
      stepUp: true,
      tag,
      parameters: idParameters,
      body: personChangeSchema,
      answers: { 200: { description: "The person", schema: personSchema } },
      handle: async ({ parameters, body, caller }) => {
        const { id } = parameters;
        const changed = await context.identity.store.changePerson({ id, ...body, author: caller.principal });
        context.identity.sessions.forget();
        context.rights.forget(id);
        if (changed === "last-administrator")
          throw new Problem(
            "IN_USE",
            "This is the last administrator: make somebody else one first, or nobody could give the role again",
          );
        return { status: 200, body: personDocument(await requireKnown(context, id)) };
      },
    }),
    defineRoute({
      method: "DELETE",
      path: "/v1/people/{id}/totp",
      summary: "Turn a person's codes off, when they lost their app and their recovery codes",
      need: { at: "platform", key: "platform.person", action: "update" },
      onlyPeople: true,
      stepUp: true,
      tag,
      parameters: idParameters,
      answers: { 204: { description: "Off" } },
      handle: async ({ parameters, caller }) => {
        const person = await requireKnown(context, parameters.id);
        if (!(await context.identity.store.removeTotp({ personId: person.id, author: caller.principal })))
          throw new Problem("NOT_FOUND", `${person.email} has no codes`);
        return { status: 204 };
      },
    }),
  ];
}

function links(context: ApiContext): readonly Route[] {
  return [
    defineRoute({
      method: "POST",
      path: "/v1/people/{id}/reset-link",
      summary: "A one-time link with which a person sets a new password; mailed, or shown once where no mail is sent",
      // Whoever can set somebody's password can become them: reading and running things is not enough for it.
      need: { at: "platform", key: "platform.person", action: "update" },
      onlyPeople: true,
      stepUp: true,
      tag,
      parameters: idParameters,
      answers: { 201: { description: "Made", schema: linkSchema } },
      handle: async ({ parameters, caller }) => {
        const person = await requireKnown(context, parameters.id);
        return { status: 201, body: await resetLink(context, person, caller.principal) };
      },
    }),
    defineRoute({
      method: "POST",
      path: "/v1/sign-in-links",
      summary: "A one-time link that signs in. Only for whoever has the operator's file of this machine",
      need: { at: "platform", key: "platform.person", action: "update" },
      onlyPeople: true,
      tag: "sign-in",
      parameters: nothing,
      body: signInLinkSchema,
      answers: { 201: { description: "Shown once", schema: linkSchema } },
      handle: async ({ body, caller }) => {
        if (caller.credential.type !== "operator-file")
          throw new Problem("FORBIDDEN", "A link that signs in as somebody is made with the operator's file alone");
        const { identity } = context;
        const person = await linkOwner(context, body.email);
        const purpose = person === undefined ? "first-person" : "sign-in";
        const { url, lastsMs } = await makeLink(identity, { purpose, person, author: caller.principal });
        return { status: 201, body: { url, mailed: false, expiresAt: isoTime(identity.clock.nowMs() + lastsMs) } };
      },
    }),
  ];
}

/** Undefined: nobody is here yet, and the link makes the first person. */
async function linkOwner({ identity }: ApiContext, email: string | undefined): Promise<Person | undefined> {
  if (email !== undefined) {
    const found = await identity.store.personByEmail(email);
    if (found?.person.state === "active") return found.person;
    throw new Problem("NOT_FOUND", `There is no active person "${email}". See: setpoint people list`);
  }
  const people = await identity.store.listPeople({ afterEmail: undefined, limit: 1_000 });
  if (people.length === 0) return undefined;
  const administrators = people.filter(
    ({ state, platformRole }) => state === "active" && platformRole === "administrator",
  );
  const [only] = administrators;
  if (only !== undefined && administrators.length === 1) return only;
  throw new Problem("FIELDS_INVALID", "Say whose link it should be: setpoint auth link --person EMAIL", {
    errors: [{ pointer: "/email", message: "is needed where there is not exactly one administrator" }],
  });
}

async function resetLink(context: ApiContext, person: Person, author: Principal) {
  const { identity } = context;
  const expiresAt = isoTime(identity.clock.nowMs() + linkLastsMs["password-reset"]);
  const { url } = await makeLink(identity, { purpose: "password-reset", person, author });
  if (identity.mailer === undefined) return { url, mailed: false, expiresAt };
  const text = `${author.name} sent you this link to set your password at Setpoint:\n\n  ${url}\n\nIt works once, within an hour.\n`;
  try {
    await identity.mailer.send(person.email, "Your password at Setpoint", text);
    return { mailed: true, expiresAt };
  } catch (thrown) {
    const message = thrownMessage(thrown);
    identity.log.warn("identity.mail-failed", { what: "reset link", message });
    return { url, mailed: false, expiresAt };
  }
}

async function requireKnown(context: ApiContext, id: string): Promise<Person> {
  const found = await context.identity.store.personById(id);
  if (found === undefined) throw new Problem("NOT_FOUND", `There is no person "${id}". See: setpoint people list`);
  return found.person;
}
