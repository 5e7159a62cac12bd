import type { Rule } from "../../ports/access.ts";
import type { SeedRules } from "../../ports/member-store.ts";
import type { ApiContext } from "../context.ts";
import { Problem } from "../problem.ts";
import { type PermissionCatalogue, permissionCatalogue } from "./permission-keys.ts";
import { seedRules } from "./seed-roles.ts";

/** The catalogue of what is installed, and the rules that follow from it. */
export interface RoleBook {
  readonly catalogue: PermissionCatalogue;
  readonly seeds: SeedRules;
}

const books = new WeakMap<ApiContext["kinds"], RoleBook>();

export function roleBook({ kinds }: Pick<ApiContext, "kinds">): RoleBook {
  const known = books.get(kinds);
  if (known !== undefined) return known;
  const catalogue = permissionCatalogue(kinds);
  const book = { catalogue, seeds: seedRules(catalogue) };
  books.set(kinds, book);
  return book;
}

/** The rules of a role by its name: one that came with Setpoint, or one of the organization's own. */
export async function requireRules(
  context: ApiContext,
  organizationId: string,
  role: string,
): Promise<readonly Rule[]> {
  const { seeds } = roleBook(context);
  const rules = seeds.get(role) ?? (await context.members.role({ organizationId, name: role }))?.rules;
  if (rules !== undefined) return rules;
  throw new Problem(
    "FIELDS_INVALID",
    `There is no role "${role}" in this organization. There are: ${[...seeds.keys()].join(", ")}, and those of its own: setpoint role list`,
    { errors: [{ pointer: "/role", message: `there is no role "${role}"` }] },
  );
}

/** Only what is in the catalogue, and nothing of the platform: a role of an organization ends at its border. */
export function requireKnownRules(catalogue: PermissionCatalogue, rules: readonly Rule[]): void {
  const errors = rules.flatMap(({ key, actions }, index) => {
    const known = catalogue.get(key);
    if (known === undefined || known.scope === "platform")
      return [{ pointer: `/rules/${index}/key`, message: `"${key}" is not a permission key of organizations` }];
    const wrong = actions.filter((action) => !known.actions.includes(action));
    return wrong.map((action) => ({
      pointer: `/rules/${index}/actions`,
      message: `${key} has no "${action}"; it has ${known.actions.join(", ")}`,
    }));
  });
  const [first] = errors;
  if (first === undefined) return;
  throw new Problem(
    "FIELDS_INVALID",
    `The role is not valid: ${first.message}. GET /v1/permissions lists what there is`,
    {
      errors,
    },
  );
}
