import type { KindRegistry } from "../../kernel/kind.ts";
import type { Binding, Rule } from "../../ports/access.ts";
import type { Caller } from "../access/caller.ts";
import { missingRights, shown } from "../access/granting.ts";
import { permissionCatalogue } from "../access/permission-keys.ts";
import { scopePathOf } from "../access/scope-path.ts";
import { organizationIdOf } from "../names.ts";
import { Problem } from "../problem.ts";

/** Rights at a place, as a request for a token names them. */
export interface WantedAccess {
  readonly organization: string | undefined;
  readonly project: string | undefined;
  readonly workspace: string | undefined;
  readonly rules: readonly Rule[];
}

/** The bindings of a new token: what was asked for, as far as whoever asks has it. More is refused, never trimmed. */
export function grantedAccess(
  caller: Caller,
  kinds: KindRegistry,
  wanted: readonly WantedAccess[],
): readonly Binding[] {
  requireKnownKeys(kinds, wanted);
  const lacking = wanted.map((access) => missingRights(caller, access.rules, pathOf(access)));
  const missing = lacking.flat();
  if (missing.length > 0) {
    const errors = lacking.flatMap((rights, index) =>
      rights.map((right) => ({ pointer: `/access/${index}/rules`, message: `you do not have ${right} there` })),
    );
    throw new Problem(
      "CREDENTIAL_SCOPE",
      `A token cannot do more than whoever makes it. You do not have: ${shown(missing)}`,
      { errors },
    );
  }
  return wanted.map(({ organization, project, workspace, rules }) => ({
    organizationId: organization === undefined ? undefined : organizationIdOf(organization),
    scope: pathOf({ organization, project, workspace }).at(-1) ?? "platform",
    role: "token",
    rules: rules.map(({ key, actions }) => ({ key, actions })),
  }));
}

/** A mistyped key would give nothing, and nobody would know why. */
function requireKnownKeys(kinds: KindRegistry, wanted: readonly WantedAccess[]): void {
  const catalogue = permissionCatalogue(kinds);
  const unknown = wanted.flatMap(({ rules }, index) =>
    rules
      .filter(({ key }) => key !== "*" && !catalogue.has(key))
      .map(({ key }) => ({ pointer: `/access/${index}/rules`, message: `there is no permission ${key}` })),
  );
  const [first] = unknown;
  if (first === undefined) return;
  throw new Problem("FIELDS_INVALID", `The rules are not valid: ${first.message}`, { errors: unknown });
}

function pathOf({ organization, project, workspace }: Omit<WantedAccess, "rules">): readonly string[] {
  return organization === undefined ? ["platform"] : scopePathOf({ organization, project, workspace });
}
