import { queryOptions } from "@tanstack/react-query";
import { get } from "../../api/client.ts";
import { base, keys } from "../../api/queries.ts";
import type {
  InviteDocument,
  MemberDocument,
  PasskeyDocument,
  PermissionDocument,
  RoleDocument,
  SessionDocument,
  TokenDocument,
} from "../../api/types.ts";

interface Items<Item> {
  readonly items: readonly Item[];
}

const listOf = <Item>(organization: string, record: string, path: string) =>
  queryOptions({
    queryKey: keys.record(organization, record),
    queryFn: async () => (await get<Items<Item>>(`${base(organization)}/${path}`)).items,
  });

export const membersQuery = (organization: string) => listOf<MemberDocument>(organization, "member", "members");
export const invitesQuery = (organization: string) => listOf<InviteDocument>(organization, "invite", "invites");
export const rolesQuery = (organization: string) => listOf<RoleDocument>(organization, "role", "roles");
export const tokensQuery = (organization: string) => listOf<TokenDocument>(organization, "token", "tokens");
export const projectsQuery = (organization: string) =>
  listOf<{ readonly name: string }>(organization, "project", "projects");

export const permissionsQuery = queryOptions({
  queryKey: ["permissions"],
  queryFn: async () => (await get<Items<PermissionDocument>>("/v1/permissions")).items,
  staleTime: Number.POSITIVE_INFINITY,
});

export const sessionsQuery = queryOptions({
  queryKey: ["sessions"],
  queryFn: async () => (await get<Items<SessionDocument>>("/v1/sessions")).items,
});

export const ownTokensQuery = queryOptions({
  queryKey: ["own-tokens"],
  queryFn: async () => (await get<Items<TokenDocument>>("/v1/me/tokens")).items,
});

export const passkeysQuery = queryOptions({
  queryKey: ["passkeys"],
  queryFn: async () => (await get<Items<PasskeyDocument>>("/v1/me/passkeys")).items,
});
