import type { Gone, InUse, MemberStore, OrganizationRecord } from "../ports/member-store.ts";
import type { Principal } from "../ports/records.ts";
import type { Transaction } from "./database.ts";
import { type LogEntry, logCall } from "./log-entries.ts";
import {
  closeScope,
  deleteAccounts,
  deleteMemberships,
  deleteScopeBindings,
  deleteScopePauses,
  deleteScopePolicy,
  deleteScopeRow,
  insideScope,
  lockOrganization,
  lockScopeRow,
  type OrganizationRow,
  revokeScopeInvites,
  revokeScopeTokens,
  updateStatus,
} from "./sql/organizations.ts";
import { returnPoolAccounts } from "./sql/pool.ts";

type Request<Method extends keyof MemberStore> = Parameters<MemberStore[Method]>[0];

const notFound: Gone = { result: "not-found" };

export function organizationRecord(row: OrganizationRow): OrganizationRecord {
  const { id, name, verification, state, status_reason } = row;
  return { id, name, verification, state, reason: status_reason };
}

export async function append(tx: Transaction, entry: LogEntry): Promise<void> {
  const { statement, values } = logCall(entry);
  await tx.run(statement, ...values);
}

export async function setStatus(
  tx: Transaction,
  request: Request<"setStatus">,
): Promise<OrganizationRecord | undefined> {
  const { organizationId, verification, state, ifVerification, reason, author } = request;
  const [found] = await tx.run(lockOrganization, organizationId);
  if (found === undefined) return undefined;
  if (ifVerification !== undefined && found.verification !== ifVerification) return organizationRecord(found);
  const [row] = await tx.run(updateStatus, organizationId, verification ?? null, state ?? null, reason);
  if (row === undefined) return undefined;
  const [before, after] = [organizationRecord(found), organizationRecord(row)];
  const data = { verification: after.verification, state: after.state, reason };
  await append(tx, {
    organizationId,
    type: "organization.status-set",
    uid: organizationId,
    author,
    data,
    before,
    after,
  });
  return after;
}

/** Members, roles, invites and accounts go with it; projects and resources must be gone before. */
export async function deleteOrganization(
  tx: Transaction,
  { organizationId, author }: Request<"deleteOrganization">,
): Promise<Gone | InUse> {
  const scope = `organization/${organizationId}`;
  await tx.run(closeScope, organizationId, scope);
  const [found] = await tx.run(lockOrganization, organizationId);
  if (found === undefined) return notFound;
  const users = await usersOf(tx, organizationId, scope);
  if (users !== undefined) return users;
  // What it had of the pool goes back, before its accounts are gone.
  await tx.run(returnPoolAccounts, organizationId, null);
  await Promise.all([
    tx.run(deleteMemberships, organizationId),
    tx.run(deleteAccounts, organizationId),
    forgetScope(tx, organizationId, scope, author),
    tx.run(updateStatus, organizationId, null, "deleted", `deleted by ${author.name}`),
    append(tx, {
      organizationId,
      type: "organization.deleted",
      uid: organizationId,
      author,
      data: { name: found.name },
    }),
  ]);
  return { result: "deleted" };
}

export async function deleteScope(
  tx: Transaction,
  { organizationId, scope, author }: Request<"deleteScope">,
): Promise<Gone | InUse> {
  await tx.run(closeScope, organizationId, scope);
  const [, [found]] = await Promise.all([
    tx.run(lockOrganization, organizationId),
    tx.run(lockScopeRow, organizationId, scope),
  ]);
  if (found === undefined) return notFound;
  const users = await usersOf(tx, organizationId, scope);
  if (users !== undefined) return users;
  await Promise.all([
    forgetScope(tx, organizationId, scope, author),
    append(tx, { organizationId, type: "scope.deleted", uid: scope, author, data: { scope } }),
  ]);
  return { result: "deleted" };
}

async function forgetScope(tx: Transaction, organizationId: string, scope: string, author: Principal): Promise<void> {
  await Promise.all([
    tx.run(deleteScopeBindings, organizationId, scope),
    tx.run(deleteScopePolicy, organizationId, scope),
    tx.run(deleteScopePauses, organizationId, scope),
    tx.run(revokeScopeInvites, organizationId, scope),
    tx.run(revokeScopeTokens, organizationId, scope, author.name),
    tx.run(deleteScopeRow, organizationId, scope),
  ]);
}

async function usersOf(tx: Transaction, organizationId: string, scope: string): Promise<InUse | undefined> {
  const inside = await tx.run(insideScope, organizationId, scope);
  return inside.length === 0 ? undefined : { result: "in-use", users: inside.map(({ what }) => spoken(what)) };
}

/** `project/acme:web` as a person says it: `project web`. Kinds are written with a capital and stay as they are. */
function spoken(what: string): string {
  const [type, id = ""] = what.split("/");
  return type === "project" || type === "workspace" ? `${type} ${id.split(":").at(-1) ?? id}` : what;
}
