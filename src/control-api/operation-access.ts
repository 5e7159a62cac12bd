import { scopeNames } from "../kernel/scope-names.ts";
import type { OperationReads, OperationView } from "../ports/operation-store.ts";
import type { Caller } from "./access/caller.ts";
import { can } from "./access/can.ts";
import { requireRight } from "./access/require-need.ts";
import { scopePathOf } from "./access/scope-path.ts";
import type { ApiContext } from "./context.ts";
import { Problem } from "./problem.ts";
import { mayRead } from "./resource-link.ts";
import { readableLists } from "./resources/readable-lists.ts";
import type { ResolvedScope } from "./scope.ts";

const key = "organization.operation";
type Organization = Pick<ResolvedScope, "organization" | "organizationId">;
export type FoundOperation = NonNullable<Awaited<ReturnType<OperationReads["findOperation"]>>>;

/** An operation is read where its resource is: by whoever may read that one, or operations in its scope. */
export function mayReadOperation(
  { kinds }: Pick<ApiContext, "kinds">,
  caller: Caller,
  organization: string,
  view: Pick<OperationView, "kind" | "name" | "scope">,
): boolean {
  return can(caller, key, "read", pathOf(organization, view)).allowed || mayRead(kinds, caller, organization, view);
}

/** Where to look for operations that a caller may read; undefined: everywhere. */
export async function readableOperations(
  context: Pick<ApiContext, "reads" | "kinds">,
  caller: Caller,
  place: Organization,
): Promise<Parameters<OperationReads["listOperations"]>[0]["within"]> {
  const { organization, organizationId } = place;
  if (can(caller, key, "read", scopePathOf({ organization })).allowed) return undefined;
  const scopes = await context.reads.listScopes(organizationId);
  const whole = scopes.filter((one) => can(caller, key, "read", pathOf(organization, one)).allowed);
  const lists = await readableLists(context, caller, place);
  return [...whole.map(({ scope }) => ({ scope })), ...lists.map(({ scope, kind }) => ({ scope, kind }))];
}

/**
 * The operation with its journal. One that the caller may not read is answered like one that is not there; to whoever may read
 * none at all, every one of them is forbidden, there or not.
 */
export async function requireOperation(
  context: Pick<ApiContext, "operations" | "kinds" | "reads">,
  caller: Caller,
  place: Organization,
  operationId: string,
): Promise<FoundOperation> {
  const { organization, organizationId } = place;
  const found = await context.operations.findOperation({ organizationId, operationId });
  if (found !== undefined && mayReadOperation(context, caller, organization, found)) return found;
  const within = await readableOperations(context, caller, place);
  if (within?.length === 0) requireRight(caller, { key, action: "read" }, scopePathOf({ organization }));
  throw operationUnknown(operationId);
}

/** Whoever steers it needs the right to there where its resource is. */
export function requireMaySteer(caller: Caller, organization: string, view: Pick<OperationView, "scope">): void {
  requireRight(caller, { key, action: "execute" }, pathOf(organization, view));
}

export function operationUnknown(id: string): Problem {
  return new Problem("NOT_FOUND", `There is no operation ${id} in this organization`);
}

function pathOf(organization: string, { scope }: { readonly scope: string }): readonly string[] {
  return scopePathOf({ organization, ...scopeNames(scope) });
}
