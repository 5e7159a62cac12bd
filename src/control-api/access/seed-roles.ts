import type { Rule } from "../../ports/access.ts";
import type { SeedRules } from "../../ports/member-store.ts";
import { everyAction, type GrantedRole, type PermissionCatalogue } from "./permission-keys.ts";

const everything: readonly Rule[] = [{ key: "*", actions: everyAction }];

/** The roles that every organization has, with what they are for. Nobody can change them. */
export const seedRoleDescriptions: Readonly<Record<string, string>> = {
  owner: "Everything in the organization, its end included",
  admin: "Everything but ending the organization, paying, and making owners",
  member: "Works in projects and workspaces; may stop things, and not decide held changes",
  auditor: "Reads everything that lets nobody in, the audit trail included",
  billing: "Costs and payment, and nothing of the infrastructure",
};

export function seedRules(catalogue: PermissionCatalogue): SeedRules {
  const granted = ["admin", "member", "auditor", "billing"] as const;
  return new Map([["owner", everything], ...granted.map((role) => [role, rulesOf(catalogue, role)] as const)]);
}

/** What an operator or an administrator of the platform may do, besides what their memberships give them. */
export function platformRules(catalogue: PermissionCatalogue): SeedRules {
  return new Map([
    ["operator", rulesOf(catalogue, "operator")],
    ["administrator", everything],
  ]);
}

function rulesOf(catalogue: PermissionCatalogue, role: GrantedRole): readonly Rule[] {
  return [...catalogue.values()]
    .map(({ key, roles }) => ({ key, actions: roles[role] }))
    .filter(({ actions }) => actions.length > 0);
}
