import type { ApiContext } from "./context.ts";
import { organizationIdOf } from "./names.ts";
import { Problem } from "./problem.ts";
import { type ScopeParameters, scopeParametersSchema } from "./schemas/common.ts";
import { requireScope } from "./scope.ts";

const expected =
  "organization, projects/NAME, projects/NAME/workspaces/NAME, accounts/NAME, or a resource such as dnszones/NAME";

/** What a pause covers, from the words of the routes: `projects/web`, `accounts/lab`, `projects/web/dnszones/example`. */
export async function pauseScopeOf(context: ApiContext, organization: string, on: string): Promise<string> {
  if (on === "organization") return `organization/${organizationIdOf(organization)}`;
  const words = on.split("/");
  const names: { project?: string; workspace?: string } = {};
  if (words[0] === "projects" && words.length >= 2) names.project = words.splice(0, 2)[1] ?? "";
  if (names.project !== undefined && words[0] === "workspaces") names.workspace = words.splice(0, 2)[1] ?? "";
  const scope = await requireScope(context, checkedNames({ organization, ...names }));
  if (words.length === 0) return scope.scope;
  const [plural = "", name = "", ...rest] = words;
  if (rest.length > 0 || name === "") throw notUnderstood(on);
  if (plural === "accounts" && names.project === undefined)
    return await accountScope(context, scope.organizationId, name);
  const kind = [...context.kinds.values()].find((entry) => entry.plural === plural);
  if (kind === undefined) throw notUnderstood(on);
  const view = await context.reads.getResource({
    organizationId: scope.organizationId,
    scope: scope.scope,
    kind: kind.kind,
    name,
  });
  if (view === undefined) throw new Problem("NOT_FOUND", `There is no ${kind.kind} "${name}" to pause`);
  return `resource/${view.resource.uid}`;
}

async function accountScope(context: ApiContext, organizationId: string, name: string): Promise<string> {
  const account = (await context.reads.listAccounts(organizationId)).find((entry) => entry.name === name);
  if (account === undefined) throw new Problem("NOT_FOUND", `There is no account "${name}" to pause`);
  return `account/${account.id}`;
}

function checkedNames(names: ScopeParameters): ScopeParameters {
  const parsed = scopeParametersSchema.safeParse(names);
  if (parsed.success) return parsed.data;
  throw notUnderstood(Object.values(names).join("/"));
}

function notUnderstood(on: string): Problem {
  return new Problem("FIELDS_INVALID", `"${on}" does not say what to pause. Write ${expected}`, {
    errors: [{ pointer: "/on", message: `must be ${expected}` }],
  });
}
