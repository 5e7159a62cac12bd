import type { Binding, Rule } from "../../ports/access.ts";
import type { Caller } from "../access/caller.ts";
import { can } from "../access/can.ts";
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
export function grantedAccess(caller: Caller, wanted: readonly WantedAccess[]): readonly Binding[] {
  const errors = wanted.flatMap((access, index) =>
    access.rules.flatMap(({ key, actions }, rule) =>
      actions
        .map((action) => ({ action, decision: can(caller, key, action, pathOf(access)) }))
        .filter(({ decision }) => !decision.allowed)
        .map(({ action, decision }) => ({
          pointer: `/access/${index}/rules/${rule}`,
          message: `${key}.${action}: ${decision.because}`,
        })),
    ),
  );
  if (errors.length > 0) {
    throw new Problem(
      "CREDENTIAL_SCOPE",
      `A token cannot do more than whoever makes it. You lack: ${errors.map(({ message }) => message).join("; ")}`,
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

function pathOf({ organization, project, workspace }: Omit<WantedAccess, "rules">): readonly string[] {
  return organization === undefined ? ["platform"] : scopePathOf({ organization, project, workspace });
}
