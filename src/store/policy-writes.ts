import type { Json } from "../ports/json.ts";
import type { Principal, ScopePolicy } from "../ports/records.ts";
import type { Transaction } from "./database.ts";
import { authorPriority } from "./declare.ts";
import { type Woken, wokenOf } from "./due-edges.ts";
import { StoreError } from "./errors.ts";
import { logCall } from "./log-entries.ts";
import { priorityNumber } from "./priorities.ts";
import { deletePause, findScope } from "./sql/governance.ts";
import { withdrawLapsed, writePolicy } from "./sql/governing.ts";
import { wakePaused, wakePlatformPaused, wakePlatformPolicy, wakePolicy } from "./sql/wake.ts";

export interface PolicyWrite {
  readonly organizationId: string | undefined;
  readonly policy: ScopePolicy;
  readonly author: Principal;
  readonly reason: string | undefined;
}

/** Sets a policy, keeps it as a version, and wakes everything below. */
export async function setPolicy(
  tx: Transaction,
  { organizationId, policy, author, reason }: PolicyWrite,
): Promise<{ readonly version: number; readonly woken: Woken }> {
  const { scope } = policy;
  await requirePolicyScope(tx, organizationId, scope);
  const body = JSON.stringify(policy);
  const entry = logCall({
    organizationId,
    type: "policy.set",
    uid: scope,
    author,
    data: { policy: JSON.parse(body) as Json },
    after: policy,
  });
  const [woken, [row]] = await Promise.all([
    organizationId === undefined
      ? tx.run(wakePlatformPolicy, authorPriority(author), scope)
      : tx.run(wakePolicy, authorPriority(author), scope, organizationId),
    tx.run(
      writePolicy,
      organizationId ?? null,
      scope,
      body,
      policy.fourEyes ?? false,
      author.name,
      reason ?? author.via?.reason ?? null,
    ),
    tx.run(entry.statement, ...entry.values),
  ]);
  const version = row?.version ?? 1;
  // What was asked for on top of an older policy is asked for no more.
  await tx.run(withdrawLapsed, organizationId ?? null, scope, version);
  return { version, woken: wokenOf(woken) };
}

/** Ends a pause and wakes what waited. Undefined: there is no such pause. */
export async function endPause(
  tx: Transaction,
  request: { readonly id: string; readonly organizationId: string | undefined; readonly author: Principal },
): Promise<Woken | undefined> {
  const { id, organizationId, author } = request;
  const [ended] = await tx.run(deletePause, id, organizationId ?? null);
  if (ended === undefined) return undefined;
  const data = { scope: ended.scope, level: ended.level, on: ended.called ?? undefined };
  const entry = logCall({ organizationId, type: "pause.ended", uid: id, author, data, before: data });
  const [woken] = await Promise.all([
    organizationId === undefined
      ? tx.run(wakePlatformPaused, priorityNumber("event"), ended.scope)
      : tx.run(wakePaused, priorityNumber("event"), ended.scope, organizationId),
    tx.run(entry.statement, ...entry.values),
  ]);
  return wokenOf(woken);
}

async function requirePolicyScope(tx: Transaction, organizationId: string | undefined, scope: string): Promise<void> {
  if (organizationId === undefined && scope === "platform") return;
  if (organizationId !== undefined && (await tx.run(findScope, organizationId, scope)).length > 0) return;
  throw new StoreError(
    "NOT_FOUND",
    organizationId === undefined
      ? `The platform's own policy is set for scope "platform", not for ${scope}: name the organization that the scope belongs to.`
      : `Organization ${organizationId} has no scope ${scope}. A policy is set for a scope; what a resource says of itself is declared with it.`,
  );
}
