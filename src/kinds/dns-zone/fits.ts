import type { FieldProblem, Surroundings } from "../../kernel/kind.ts";
import { scopeNames } from "../../kernel/scope-names.ts";
import type { DnsZoneSpec } from "./schema.ts";

/** A zone delegates to what is below the scope that it is declared in. */
export function zoneFits({ delegations = [] }: DnsZoneSpec, { scope }: Surroundings): readonly FieldProblem[] {
  const { project, workspace } = scopeNames(scope);
  return delegations.flatMap((delegation, index): readonly FieldProblem[] => {
    const pointer = `/spec/delegations/${index}`;
    if (workspace !== undefined)
      return [{ pointer, message: "a zone in a workspace has nobody below it to delegate to" }];
    if (project === undefined && delegation.project === undefined)
      return [{ pointer, message: "must name the project, because the zone is the organization's" }];
    if (project !== undefined && (delegation.project ?? project) !== project)
      return [
        { pointer: `${pointer}/project`, message: `the zone is of project "${project}" and delegates inside it` },
      ];
    return project !== undefined && delegation.workspace === undefined
      ? [{ pointer, message: "must name a workspace: the project has the zone itself" }]
      : [];
  });
}
