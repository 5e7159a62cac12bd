import type { FieldProblem, Surroundings } from "../../kernel/kind.ts";
import { scopeNames } from "../../kernel/scope-names.ts";
import { asDnsCapabilities } from "../dns-record/fits.ts";
import { type Delegation, ownerWords } from "./delegation.ts";
import type { DnsZoneSpec } from "./schema.ts";

/** Whether the account's provider can have such a zone, and whether those exist whom it delegates to. */
export async function zoneFits(spec: DnsZoneSpec, around: Surroundings): Promise<readonly FieldProblem[]> {
  const problems = [...(await beyondProvider(spec, around))];
  for (const [index, delegation] of (spec.delegations ?? []).entries()) {
    const problem = placeProblem(delegation, around.scope, `/spec/delegations/${index}`);
    const missing = problem ?? (await missingDelegate(delegation, around, `/spec/delegations/${index}`));
    if (missing !== undefined) problems.push(missing);
  }
  return problems;
}

async function beyondProvider(spec: DnsZoneSpec, around: Surroundings): Promise<readonly FieldProblem[]> {
  const account = await around.account(spec.account);
  // One that is not there is refused by whoever resolves the account.
  if (account === undefined) return [];
  const can = asDnsCapabilities(account.capabilities);
  const whose = `the provider ${account.provider} of account "${spec.account}"`;
  if (can === undefined) return [{ pointer: "/spec/account", message: `${whose} has no zones` }];
  const problems: FieldProblem[] = [];
  if (spec.makesZone === true && !can.makesZones)
    problems.push({ pointer: "/spec/makesZone", message: `${whose} cannot make zones: make it on the server itself` });
  if (spec.dnssec === true && !can.signsZones)
    problems.push({ pointer: "/spec/dnssec", message: `${whose} cannot sign zones` });
  return problems;
}

/** A zone delegates to what is below the scope that it is declared in. */
function placeProblem(delegation: Delegation, scope: string, pointer: string): FieldProblem | undefined {
  const { project, workspace } = scopeNames(scope);
  if (workspace !== undefined) return { pointer, message: "a zone in a workspace has nobody below it to delegate to" };
  if (project === undefined && delegation.project === undefined)
    return { pointer, message: "must name the project, because the zone is the organization's" };
  if (project !== undefined && (delegation.project ?? project) !== project)
    return { pointer: `${pointer}/project`, message: `the zone is of project "${project}" and delegates inside it` };
  return project !== undefined && delegation.workspace === undefined
    ? { pointer, message: "must name a workspace: the project has the zone itself" }
    : undefined;
}

/**
 * Refused and not only warned about: names that nobody can declare at look delegated and are served by nobody, and projects are
 * made by themselves and never together with a zone, so that the order is always in the hands of whoever declares.
 */
async function missingDelegate(
  delegation: Delegation,
  around: Surroundings,
  pointer: string,
): Promise<FieldProblem | undefined> {
  const { project, workspace } = { ...scopeNames(around.scope), ...delegation };
  const missing = (names: { project?: string | undefined; workspace?: string | undefined }, field: string) => ({
    pointer: `${pointer}/${field}`,
    message: `there is no ${ownerWords(names)} in this organization: create it first, or correct the name`,
  });
  if (!(await around.hasScope({ project }))) return missing({ project }, "project");
  if (workspace !== undefined && !(await around.hasScope({ project, workspace })))
    return missing({ project, workspace }, "workspace");
  return undefined;
}
