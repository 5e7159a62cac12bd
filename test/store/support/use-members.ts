import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { permissionCatalogue } from "../../../src/control-api/access/permission-keys.ts";
import { platformRules, seedRules } from "../../../src/control-api/access/seed-roles.ts";
import { organizationIdOf } from "../../../src/control-api/names.ts";
import { createSystemIds } from "../../../src/runtime/system-ids.ts";
import { PostgresCredentialStore } from "../../../src/store/credential-store.ts";
import { call, statement } from "../../../src/store/statement.ts";
import { PostgresMemberStore } from "../../../src/store/member-store.ts";
import type { Stores } from "./stores.ts";
import { ada } from "./world.ts";

const insertPerson = statement<never>(
  "test insert person",
  "platform",
  "insert into setpoint.person (id, email, name, created_at_ms) values ($1, $2, $2, 1)",
);
const doubt = statement<never>(
  "test doubt",
  "platform",
  "update setpoint.membership set confirmed = false where person_id = $1",
);

export function memberStore({ api, administration }: Stores): PostgresMemberStore {
  const catalogue = permissionCatalogue(new Map());
  return new PostgresMemberStore({
    database: api,
    administration,
    ids: createSystemIds(),
    seedRules: seedRules(catalogue),
    platformRules: platformRules(catalogue),
  });
}

async function person(stores: Stores, name: string): Promise<{ readonly id: string; readonly email: string }> {
  const made = { id: randomUUID(), email: `${name}-${randomUUID()}@example.test` };
  await stores.administration.run("platform", call(insertPerson, made.id, made.email));
  return made;
}

/** Calls every method of the member store, in an order in which each finds rows to work on. */
export async function useMembers(stores: Stores): Promise<void> {
  const members = memberStore(stores);
  const name = `m-${randomUUID()}`;
  const organizationId = organizationIdOf(name);
  const [owner, guest] = [await person(stores, "owner"), await person(stores, "guest")];
  const scope = `organization/${organizationId}`;
  const project = `project/${name}:p`;
  const author = ada;
  const ours = { organizationId, author };
  await members.createOrganization({ id: organizationId, name, verification: "in_setup", ownerId: owner.id, author });
  const status = { ...ours, verification: "verified" as const, state: undefined, reason: "test" };
  assert.equal((await members.setStatus(status))?.verification, "verified");
  assert.equal((await members.organization(organizationId))?.name, name);
  assert.ok((await members.organizations()).some(({ id }) => id === organizationId));
  assert.equal(await members.countOwned(owner.id), 1);
  await stores.intent.createScope({ organizationId, scope: project, parent: scope });

  const rules = [{ key: "project.dns_zone", actions: ["read"] as const }];
  const role = { ...ours, name: "reader", description: "", rules };
  await members.createRole(role);
  assert.equal((await members.updateRole(role))?.revision, 2);
  assert.equal((await members.role(role))?.rules.length, 1);
  assert.equal((await members.roles(organizationId)).length, 1);

  await useInvites(stores, members, { organizationId, guest, inviterId: owner.id, project });
  const binding = { ...ours, id: randomUUID(), personId: guest.id, role: "auditor", scope };
  assert.equal(await members.addBinding(binding), "added");
  assert.equal((await members.members({ organizationId, afterPersonId: undefined, limit: 9 })).length, 2);
  assert.equal((await members.member({ organizationId, person: guest.email }))?.bindings.length, 2);
  assert.equal((await members.bindingsOfPerson(guest.id)).length, 2);
  await stores.administration.run("platform", call(doubt, guest.id));
  assert.deepEqual(await members.bindingsOfPerson(guest.id), []);
  assert.equal(await members.confirmMember({ ...ours, personId: guest.id }), true);
  assert.equal((await members.deleteRole({ ...ours, name: "reader" })).result, "in-use");
  assert.equal(await members.removeBinding({ ...ours, id: binding.id, personId: guest.id }), "removed");
  assert.equal(await members.removeMember({ ...ours, personId: owner.id }), "last-owner");
  assert.equal(await members.removeMember({ ...ours, personId: guest.id }), "removed");
  assert.equal((await members.deleteOrganization(ours)).result, "in-use");
  await leaveTraces(stores, members, { organizationId, personId: owner.id, project });
  assert.equal((await members.deleteScope({ ...ours, scope: project })).result, "deleted");
  assert.equal((await members.deleteRole({ ...ours, name: "reader" })).result, "deleted");
  assert.equal((await members.deleteOrganization(ours)).result, "deleted");
  assert.equal(await members.organization(organizationId), undefined);
}

/** Something about the project in every table that its deletion must clear. */
async function leaveTraces(
  { intent, api, administration }: Stores,
  members: PostgresMemberStore,
  about: { readonly organizationId: string; readonly personId: string; readonly project: string },
): Promise<void> {
  const { organizationId, personId, project: scope } = about;
  const ours = { organizationId, author: ada };
  await members.addBinding({ ...ours, id: randomUUID(), personId, role: "member", scope });
  await intent.setPolicy({ ...ours, policy: { scope, mode: "observe" } });
  await intent.pause({ ...ours, id: randomUUID(), scope, level: "all", reason: "test", forMs: 60_000 });
  const account = { id: randomUUID(), name: "lab", provider: "memory", settings: {}, callsPerSecond: 1 };
  await intent.createAccount({ ...account, organizationId, credentialRef: undefined });
  const token = { id: randomUUID(), type: "service-token", name: "ci", hash: randomUUID(), personId } as const;
  const credentials = new PostgresCredentialStore({ database: api, administration });
  await credentials.create({ ...ours, ...token, scope, bindings: [], forMs: 60_000 });
}

async function useInvites(
  stores: Stores,
  members: PostgresMemberStore,
  about: {
    readonly organizationId: string;
    readonly guest: { readonly id: string; readonly email: string };
    readonly inviterId: string;
    readonly project: string;
  },
): Promise<void> {
  const { organizationId, guest, inviterId, project } = about;
  const bindings = [{ role: "reader", scope: project }];
  const invite = async (email: string) => {
    const secretHash = randomUUID();
    const id = randomUUID();
    const request = { organizationId, id, email, secretHash, bindings, inviterId, forMs: 60_000, author: ada };
    await members.createInvite(request);
    return { id, secretHash };
  };
  const first = await invite(guest.email);
  assert.equal((await members.openInvite(first.secretHash))?.invite.id, first.id);
  const accepted = { organizationId, id: first.id, person: guest, bindingIds: [randomUUID()], author: ada };
  assert.equal(await members.acceptInvite(accepted), true);
  await stores.administration.run("platform", call(doubt, guest.id));
  const second = await invite(guest.email);
  assert.equal(await members.acceptInvite({ ...accepted, id: second.id }), true, "a membership in doubt is made anew");
  const third = await invite("third@example.test");
  assert.equal(await members.revokeInvite({ organizationId, id: third.id, author: ada }), "revoked");
  // Left open: removing its maker and its project revokes it.
  await invite("fourth@example.test");
  assert.equal((await members.invites(organizationId)).length, 4);
}
