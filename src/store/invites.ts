import type { InviteRecord, MemberStore } from "../ports/member-store.ts";
import type { Transaction } from "./database.ts";
import { append } from "./organization-writes.ts";
import {
  deleteDoubtfulMembership,
  type InviteRow,
  insertBinding,
  insertInvite,
  insertMembership,
  markInviteAccepted,
  markInviteRevoked,
  readInvite,
} from "./sql/members.ts";
import { findScope } from "./sql/governance.ts";
import { lockOrganization } from "./sql/organizations.ts";

type Request<Method extends keyof MemberStore> = Parameters<MemberStore[Method]>[0];

export function inviteRecord(row: InviteRow): InviteRecord {
  return {
    organizationId: row.organization_id,
    id: row.id,
    email: row.email,
    bindings: row.bindings,
    invitedBy: row.invited_by,
    inviterId: row.inviter_id ?? undefined,
    createdAtMs: row.created_at_ms,
    expiresAtMs: row.expires_at_ms,
    state: row.state,
  };
}

export async function createInvite(tx: Transaction, request: Request<"createInvite">): Promise<InviteRecord> {
  const { organizationId, id, email, secretHash, bindings, inviterId, forMs, author } = request;
  const values = [JSON.stringify(bindings), author.name, inviterId ?? null, Math.round(forMs)] as const;
  const data = { email, bindings: bindings.map(({ role, scope }) => ({ role, scope })), forMs };
  const [[row]] = await Promise.all([
    tx.run(insertInvite, organizationId, id, email, secretHash, ...values),
    append(tx, { organizationId, type: "invite.created", uid: id, author, data }),
  ]);
  if (row === undefined) throw new Error(`The invite ${id} was written and is not there`);
  return inviteRecord(row);
}

export async function revokeInvite(
  tx: Transaction,
  { organizationId, id, author }: Request<"revokeInvite">,
): Promise<"revoked" | "not-found" | "closed"> {
  const [found] = await tx.run(readInvite, organizationId, id);
  if (found === undefined) return "not-found";
  if (found.state !== "open") return "closed";
  await Promise.all([
    tx.run(markInviteRevoked, organizationId, id),
    append(tx, { organizationId, type: "invite.revoked", uid: id, author, data: { email: found.email } }),
  ]);
  return "revoked";
}

/** Once, by whoever comes first: the row is locked before its state is read. */
export async function acceptInvite(tx: Transaction, request: Request<"acceptInvite">): Promise<boolean> {
  const { organizationId, id, person, bindingIds, author } = request;
  const [[organization], [found]] = await Promise.all([
    tx.run(lockOrganization, organizationId),
    tx.run(readInvite, organizationId, id),
  ]);
  if (organization === undefined || found === undefined || found.state !== "open") return false;
  await tx.run(deleteDoubtfulMembership, organizationId, person.id);
  await tx.run(insertMembership, organizationId, person.id, found.invited_by);
  for (const [index, { role, scope }] of found.bindings.entries()) {
    const bindingId = bindingIds[index];
    // A project that was deleted meanwhile takes what was promised in it along.
    if (bindingId === undefined || (await tx.run(findScope, organizationId, scope)).length === 0) continue;
    await tx.run(insertBinding, organizationId, bindingId, person.id, scope, role, found.invited_by);
  }
  const data = { person: person.id, email: person.email };
  await Promise.all([
    tx.run(markInviteAccepted, organizationId, id, person.id),
    append(tx, { organizationId, type: "invite.accepted", uid: id, author, data }),
  ]);
  return true;
}
