import { z } from "zod";
import type { Binding } from "../../ports/access.ts";
import type { Caller } from "../access/caller.ts";
import { can, type Holder, sees } from "../access/can.ts";
import { roleBook } from "../access/roles.ts";
import { scopePathOf } from "../access/scope-path.ts";
import type { ApiContext } from "../context.ts";
import { Problem } from "../problem.ts";
import { defineRoute, type Route } from "../route.ts";
import { organizationUnknown, requireScope, scopeUnknown } from "../scope.ts";
import { type ExplanationDocument, explainQuerySchema, explanationSchema } from "../schemas/access.ts";

type Question = z.output<typeof explainQuerySchema>;

export function accessRoutes(context: ApiContext): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/access/explain",
      summary: "Whether you, or somebody else in your organization, may do something, and why",
      need: { at: "self" },
      tag: "access",
      parameters: z.strictObject({}),
      query: explainQuerySchema,
      answers: { 200: { description: "The answer with the role and where it is bound", schema: explanationSchema } },
      handle: async ({ query, caller }) => ({ status: 200, body: await explain(context, query, caller) }),
    }),
  ];
}

async function explain(context: ApiContext, question: Question, caller: Caller): Promise<ExplanationDocument> {
  const { permission, action } = question;
  const known = roleBook(context).catalogue.get(permission);
  if (known === undefined) throw unknownKey(permission);
  const path = await requireSeenPath(context, question, caller);
  const who =
    question.as === undefined
      ? { name: caller.principal.name, holder: caller }
      : await other(context, question, caller);
  const decision = can(who.holder, permission, action, path);
  const binding = decision.allowed ? boundBy(who.holder.bindings, question, path) : undefined;
  return {
    who: who.name,
    permission,
    action,
    scope: path.at(-1) ?? "platform",
    allowed: decision.allowed,
    because: known.actions.includes(action)
      ? decision.because
      : `${permission} has no "${action}": it has ${known.actions.join(", ")}`,
    ...(binding === undefined ? {} : { role: binding.role, boundAt: binding.scope }),
  };
}

/** Only about what the asker may see: a question about something else is answered as if it were not there. */
async function requireSeenPath(
  context: ApiContext,
  { organization, project, workspace }: Question,
  caller: Caller,
): Promise<readonly string[]> {
  if (organization === undefined) {
    if (project === undefined && workspace === undefined) return ["platform"];
    throw new Problem("FIELDS_INVALID", "A project lives in an organization: name that too", {
      errors: [{ pointer: "/organization", message: "is missing" }],
    });
  }
  const names = { organization, project, workspace };
  const path = scopePathOf(names);
  if (!sees(caller, path.slice(0, 2))) throw organizationUnknown(organization);
  for (let depth = 3; depth <= path.length; depth++) if (!sees(caller, path.slice(0, depth))) throw scopeUnknown(names);
  await requireScope(context, names);
  return path;
}

async function other(
  context: ApiContext,
  question: Question,
  caller: Caller,
): Promise<{ readonly name: string; readonly holder: Holder }> {
  const { as = "", organization } = question;
  if (organization === undefined) {
    requireMayAsk(caller, "platform.membership", ["platform"]);
    const person = as.includes("@") ? await context.members.personByEmail(as) : { id: as, email: as };
    if (person === undefined) throw new Problem("NOT_FOUND", `There is nobody called "${as}" here`);
    return { name: person.email, holder: await holderOf(context, person.id) };
  }
  const path = scopePathOf({ organization });
  requireMayAsk(caller, "organization.membership", path);
  const { organizationId } = await requireScope(context, { organization });
  const member = await context.members.member({ organizationId, person: as });
  if (member === undefined) throw new Problem("NOT_FOUND", `There is no member "${as}" in this organization`);
  return { name: member.person.email, holder: await holderOf(context, member.person.id) };
}

async function holderOf(context: ApiContext, personId: string): Promise<Holder> {
  return { bindings: await context.rights.bindingsOfPerson(personId), within: undefined };
}

function requireMayAsk(caller: Caller, key: string, path: readonly string[]): void {
  const decision = can(caller, key, "read", path);
  if (decision.allowed) return;
  throw new Problem("FORBIDDEN", `Asking for somebody else needs ${key}.read: ${decision.because}`);
}

function boundBy(bindings: readonly Binding[], { permission, action }: Question, path: readonly string[]) {
  return bindings.find((binding) => can({ bindings: [binding], within: undefined }, permission, action, path).allowed);
}

function unknownKey(permission: string): Problem {
  return new Problem("FIELDS_INVALID", `There is no permission key "${permission}". GET /v1/permissions lists them`, {
    errors: [{ pointer: "/permission", message: "is not a permission key" }],
  });
}
