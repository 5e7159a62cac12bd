import type { Action } from "../../ports/access.ts";
import type { Clock } from "../../ports/clock.ts";
import { Problem } from "../problem.ts";
import type { Route } from "../route.ts";
import { organizationUnknown, scopeUnknown } from "../scope.ts";
import type { ScopeParameters } from "../schemas/common.ts";
import type { Caller } from "./caller.ts";
import { can, sees } from "./can.ts";
import { scopePathOf } from "./scope-path.ts";

/** How long a proof of who somebody is lasts for a dangerous act. */
const stepUpForMs = 5 * 60_000;

/**
 * The one place where a route's need is weighed against its caller. Whatever may not be seen is answered exactly as if it
 * did not exist.
 */
export function requireNeed(route: Route, caller: Caller, names: unknown, clock: Clock): void {
  const { need } = route;
  if (need.at === "path" || need.at === "visible" || need.at === "found")
    requireVisible(caller, names as ScopeParameters);
  if (need.at === "platform" || need.at === "path")
    requireRight(caller, need, need.at === "platform" ? ["platform"] : scopePathOf(names as ScopeParameters));
  if (route.onlyPeople === true && caller.principal.type !== "person") {
    throw new Problem(
      "PRINCIPAL_REFUSED",
      `${caller.principal.name} is a ${caller.principal.type}: it can propose this, and a person decides. Sign in as one with: setpoint auth login`,
    );
  }
  if (route.notAssistants === true && caller.principal.type === "assistant") {
    throw new Problem(
      "PRINCIPAL_REFUSED",
      `${caller.principal.name} is an assistant, and assistants write no secrets: a person does, or a machine with a service token`,
    );
  }
  if (route.stepUp === true && caller.credential.type === "session") requireRecentProof(caller, clock);
}

/** What somebody sees and may not do is forbidden, with what is missing. */
export function requireRight(
  caller: Caller,
  { key, action }: { readonly key: string; readonly action: Action },
  path: readonly string[],
): void {
  const decision = can(caller, key, action, path);
  if (decision.allowed) return;
  throw new Problem(
    "FORBIDDEN",
    `${caller.principal.name} may not do this: ${decision.because}. Ask an owner for a role that has it`,
  );
}

function requireVisible(caller: Caller, names: ScopeParameters): void {
  const path = scopePathOf(names);
  if (!sees(caller, path.slice(0, 2))) throw organizationUnknown(names.organization);
  for (let depth = 3; depth <= path.length; depth++) {
    if (!sees(caller, path.slice(0, depth))) throw scopeUnknown(names);
  }
}

/** Asked of sessions alone: whoever has the operator's file needs no other proof. */
export function requireRecentProof(caller: Caller, clock: Clock): void {
  if (clock.nowMs() - caller.provenAtMs <= stepUpForMs) return;
  throw new Problem(
    "STEP_UP_REQUIRED",
    "This needs a fresh proof that it is you: POST /v1/session/prove with your password, code or passkey (setpoint auth prove), then repeat it",
  );
}
