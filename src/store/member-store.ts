import type { Binding } from "../ports/access.ts";
import type { Ids } from "../ports/ids.ts";
import type { MemberRecord, MemberStore, PersonRef, RoleRecord, SeedRules } from "../ports/member-store.ts";
import type { Database, Transaction } from "./database.ts";
import { StoreError } from "./errors.ts";
import { acceptInvite, createInvite, inviteRecord, revokeInvite } from "./invites.ts";
import { logCall } from "./log-entries.ts";
import { append, deleteOrganization, deleteScope, organizationRecord, setStatus } from "./organization-writes.ts";
import { findScope, insertRootScope } from "./sql/governance.ts";
import {
  bindingsOfPerson,
  confirmMembership,
  countOwned,
  deleteBinding,
  deleteMembership,
  deleteRole,
  insertBinding,
  insertMembership,
  insertRole,
  inviteBySecret,
  invitesWithRole,
  listInvites,
  listMembers,
  listRoles,
  type MemberRow,
  otherOwners,
  peopleByIds,
  peopleWithRole,
  personByEmail,
  type RoleRow,
  readBinding,
  readMember,
  readRole,
  revokeInvitesOf,
  updateRole,
} from "./sql/members.ts";
import {
  insertOrganizationWithStatus,
  lockOrganization,
  readOrganization,
  readOrganizations,
} from "./sql/organizations.ts";
import { call } from "./statement.ts";
import { requireOrganizationId } from "./tenant.ts";

export interface MemberStoreOptions {
  /** Of role `setpoint_api`: one organization per transaction. */
  readonly database: Database;
  /** Of role `setpoint_admin`: for what is asked before the tenant is known, and for people. */
  readonly administration: Database;
  readonly ids: Ids;
  /** Rules of the roles that no table has. */
  readonly seedRules: SeedRules;
  /** Rules of the operators and administrators of the platform. */
  readonly platformRules: SeedRules;
  /** Called after a commit that may have appended to the log. */
  readonly logged?: () => void;
}

type Request<Method extends keyof MemberStore> = Parameters<MemberStore[Method]>[0];

/** Organizations, who belongs to them, and what they may do there, on PostgreSQL. */
export class PostgresMemberStore implements MemberStore {
  readonly #options: MemberStoreOptions;

  constructor(options: MemberStoreOptions) {
    this.#options = options;
  }

  async bindingsOfPerson(personId: string): Promise<readonly Binding[]> {
    const { administration, seedRules, platformRules } = this.#options;
    const rows = await administration.run("platform", call(bindingsOfPerson, personId));
    const platformRole = rows[0]?.platform_role ?? "none";
    const onPlatform = platformRules.get(platformRole);
    const platform: readonly Binding[] =
      onPlatform === undefined
        ? []
        : [
            {
              organizationId: undefined,
              scope: "platform",
              role: `${platformRole} of the platform`,
              rules: onPlatform,
            },
          ];
    const inOrganizations = rows.flatMap(({ organization_id, scope, role, rules }): readonly Binding[] => {
      if (organization_id === null) return [];
      const organization = { organizationId: organization_id, scope: scope ?? `organization/${organization_id}` };
      // A member without a role may know that the organization is there, and no more.
      if (role === null) return [{ ...organization, role: "no role", rules: [] }];
      return [{ ...organization, role, rules: seedRules.get(role) ?? rules ?? [] }];
    });
    return [...platform, ...inOrganizations];
  }

  async createOrganization({ id, name, verification, ownerId, author }: Request<"createOrganization">): Promise<void> {
    const scope = `organization/${id}`;
    const owner =
      ownerId === undefined
        ? []
        : [
            call(insertMembership, id, ownerId, author.name),
            call(insertBinding, id, this.#options.ids.next(), ownerId, scope, "owner", author.name),
          ];
    await this.#options.database.transact(requireOrganizationId(id), [
      call(insertOrganizationWithStatus, id, name, verification, author.name),
      call(insertRootScope, id, scope),
      ...owner,
      logCall({
        organizationId: id,
        type: "organization.created",
        uid: id,
        author,
        data: { name, verification, ownerId },
      }),
    ]);
    this.#options.logged?.();
  }

  async organization(organizationId: string) {
    const [row] = await this.#options.database.run(
      requireOrganizationId(organizationId),
      call(readOrganization, organizationId),
    );
    return row === undefined ? undefined : organizationRecord(row);
  }

  async organizations() {
    return (await this.#options.administration.run("platform", call(readOrganizations))).map(organizationRecord);
  }

  async countOwned(personId: string): Promise<number> {
    const [row] = await this.#options.administration.run("platform", call(countOwned, personId));
    return row?.count ?? 0;
  }

  setStatus(request: Request<"setStatus">) {
    return this.#write(request.organizationId, (tx) => setStatus(tx, request));
  }

  deleteOrganization(request: Request<"deleteOrganization">) {
    return this.#write(request.organizationId, (tx) => deleteOrganization(tx, request));
  }

  deleteScope(request: Request<"deleteScope">) {
    return this.#write(request.organizationId, (tx) => deleteScope(tx, request));
  }

  async roles(organizationId: string) {
    const tenant = requireOrganizationId(organizationId);
    return (await this.#options.database.run(tenant, call(listRoles, organizationId))).map(roleRecord);
  }

  async role({ organizationId, name }: Request<"role">) {
    const tenant = requireOrganizationId(organizationId);
    const [row] = await this.#options.database.run(tenant, call(readRole, organizationId, name));
    return row === undefined ? undefined : roleRecord(row);
  }

  createRole(request: Request<"createRole">): Promise<RoleRecord> {
    return this.#write(request.organizationId, async (tx) => {
      const { organizationId, name, description, rules, author } = request;
      const [row] = await tx.run(insertRole, organizationId, name, description, JSON.stringify(rules), author.name);
      if (row === undefined) throw new StoreError("INTERNAL", `The role ${name} was written and is not there.`);
      await this.#logRole(tx, "role.created", request, undefined);
      return roleRecord(row);
    });
  }

  updateRole(request: Request<"updateRole">): Promise<RoleRecord | undefined> {
    return this.#write(request.organizationId, async (tx) => {
      const { organizationId, name, description, rules, author } = request;
      await tx.run(lockOrganization, organizationId);
      const [before] = await tx.run(readRole, organizationId, name);
      const [row] = await tx.run(updateRole, organizationId, name, description, JSON.stringify(rules), author.name);
      if (row === undefined) return undefined;
      await this.#logRole(tx, "role.changed", request, before?.rules);
      return roleRecord(row);
    });
  }

  deleteRole({ organizationId, name, author }: Request<"deleteRole">): ReturnType<MemberStore["deleteRole"]> {
    return this.#write(organizationId, async (tx) => {
      const [, people, invites] = await Promise.all([
        tx.run(lockOrganization, organizationId),
        tx.run(peopleWithRole, organizationId, name),
        tx.run(invitesWithRole, organizationId, name),
      ]);
      if (people.length + invites.length > 0) {
        const named = await this.#people(people.map(({ person_id }) => person_id));
        const users = [
          ...people.map(({ person_id }) => `member ${named.get(person_id)?.email ?? person_id}`),
          ...invites.map(({ email }) => `invite of ${email}`),
        ];
        return { result: "in-use", users };
      }
      const [row] = await tx.run(deleteRole, organizationId, name);
      if (row === undefined) return { result: "not-found" };
      await append(tx, { organizationId, type: "role.deleted", uid: name, author, data: { name } });
      return { result: "deleted" };
    });
  }

  async members({ organizationId, afterPersonId, limit }: Request<"members">): Promise<readonly MemberRecord[]> {
    const tenant = requireOrganizationId(organizationId);
    const found = call(listMembers, organizationId, afterPersonId ?? null, limit);
    return this.#memberRecords(await this.#options.database.run(tenant, found));
  }

  async member({ organizationId, person }: Request<"member">): Promise<MemberRecord | undefined> {
    const id = person.includes("@") ? (await this.personByEmail(person))?.id : person;
    if (id === undefined) return undefined;
    const tenant = requireOrganizationId(organizationId);
    const rows = await this.#options.database.run(tenant, call(readMember, organizationId, id));
    return (await this.#memberRecords(rows))[0];
  }

  addBinding(request: Request<"addBinding">): ReturnType<MemberStore["addBinding"]> {
    const { organizationId, id, personId, role, scope, author } = request;
    return this.#write(organizationId, async (tx) => {
      const [, [member], [place], [custom]] = await Promise.all([
        tx.run(lockOrganization, organizationId),
        tx.run(readMember, organizationId, personId),
        tx.run(findScope, organizationId, scope),
        tx.run(readRole, organizationId, role),
      ]);
      if (member === undefined) return "not-a-member";
      if (place === undefined) return "scope-unknown";
      if (custom === undefined && !this.#options.seedRules.has(role)) return "role-unknown";
      const [made] = await tx.run(insertBinding, organizationId, id, personId, scope, role, author.name);
      if (made === undefined) return "exists";
      const data = { person: personId, role, scope };
      await append(tx, { organizationId, type: "binding.added", uid: id, author, data });
      return "added";
    });
  }

  removeBinding({ organizationId, id, personId, author }: Request<"removeBinding">) {
    return this.#write(organizationId, async (tx) => {
      const [, [found], others] = await Promise.all([
        tx.run(lockOrganization, organizationId),
        tx.run(readBinding, organizationId, id, personId),
        tx.run(otherOwners, organizationId, personId),
      ]);
      if (found === undefined) return "not-found" as const;
      if (isOwner(organizationId, found) && others.length === 0) return "last-owner" as const;
      const data = { person: personId, ...found };
      await Promise.all([
        tx.run(deleteBinding, organizationId, id),
        append(tx, { organizationId, type: "binding.removed", uid: id, author, data }),
      ]);
      return "removed" as const;
    });
  }

  removeMember({ organizationId, personId, author }: Request<"removeMember">) {
    return this.#write(organizationId, async (tx) => {
      const [, [found], others] = await Promise.all([
        tx.run(lockOrganization, organizationId),
        tx.run(readMember, organizationId, personId),
        tx.run(otherOwners, organizationId, personId),
      ]);
      if (found === undefined) return "not-found" as const;
      const owns = (found.bindings ?? []).some((binding) => isOwner(organizationId, binding));
      if (owns && others.length === 0) return "last-owner" as const;
      await Promise.all([
        tx.run(deleteMembership, organizationId, personId),
        tx.run(revokeInvitesOf, organizationId, personId),
        append(tx, { organizationId, type: "member.removed", uid: personId, author, data: { person: personId } }),
      ]);
      return "removed" as const;
    });
  }

  confirmMember({ organizationId, personId, author }: Request<"confirmMember">): Promise<boolean> {
    return this.#write(organizationId, async (tx) => {
      const [row] = await tx.run(confirmMembership, organizationId, personId);
      if (row === undefined) return false;
      await append(tx, { organizationId, type: "member.confirmed", uid: personId, author, data: { person: personId } });
      return true;
    });
  }

  createInvite(request: Request<"createInvite">) {
    return this.#write(request.organizationId, (tx) => createInvite(tx, request));
  }

  async invites(organizationId: string) {
    const tenant = requireOrganizationId(organizationId);
    return (await this.#options.database.run(tenant, call(listInvites, organizationId))).map(inviteRecord);
  }

  revokeInvite(request: Request<"revokeInvite">) {
    return this.#write(request.organizationId, (tx) => revokeInvite(tx, request));
  }

  async openInvite(secretHash: string) {
    const [row] = await this.#options.administration.run("platform", call(inviteBySecret, secretHash));
    if (row === undefined || row.state !== "open") return undefined;
    return { invite: inviteRecord(row), organization: row.organization };
  }

  acceptInvite(request: Request<"acceptInvite">): Promise<boolean> {
    return this.#write(request.organizationId, (tx) => acceptInvite(tx, request));
  }

  async personByEmail(email: string): Promise<PersonRef | undefined> {
    const [row] = await this.#options.administration.run("platform", call(personByEmail, email.toLowerCase()));
    return row;
  }

  async #memberRecords(rows: readonly MemberRow[]): Promise<readonly MemberRecord[]> {
    const people = await this.#people(rows.map(({ person_id }) => person_id));
    return rows.map((row) => ({
      person: people.get(row.person_id) ?? { id: row.person_id, email: "" },
      addedBy: row.added_by,
      addedAtMs: row.added_at_ms,
      confirmed: row.confirmed,
      bindings: row.bindings ?? [],
    }));
  }

  /** Their rows belong to no tenant; the ids come from one. */
  async #people(ids: readonly string[]): Promise<ReadonlyMap<string, PersonRef>> {
    if (ids.length === 0) return new Map();
    const rows = await this.#options.administration.run("platform", call(peopleByIds, ids));
    return new Map(rows.map((row) => [row.id, row]));
  }

  async #logRole(tx: Transaction, type: string, request: Request<"createRole">, before: unknown): Promise<void> {
    const { organizationId, name, rules, author } = request;
    const data = { name, rules: rules.map(({ key, actions }) => ({ key, actions: [...actions] })) };
    await append(tx, { organizationId, type, uid: name, author, data, before, after: rules });
  }

  async #write<Answer>(organizationId: string, work: (tx: Transaction) => Promise<Answer>): Promise<Answer> {
    const answer = await this.#options.database.transaction(requireOrganizationId(organizationId), work);
    this.#options.logged?.();
    return answer;
  }
}

function isOwner(organizationId: string, binding: { readonly role: string; readonly scope: string }): boolean {
  return binding.role === "owner" && binding.scope === `organization/${organizationId}`;
}

function roleRecord(row: RoleRow): RoleRecord {
  const { name, description, rules, revision } = row;
  return { name, description, rules, revision, changedBy: row.changed_by, changedAtMs: row.changed_at_ms };
}
