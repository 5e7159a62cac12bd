import type { LookContext, Subject } from "../../kernel/loop.ts";
import type { CloudFirewall, CloudServer } from "../../ports/compute.ts";

/** A list of tens of thousands is searched by as many hosts, so it is indexed once and for as long as it lives. */
interface ServerIndex {
  readonly byId: ReadonlyMap<string, CloudServer>;
  readonly byName: ReadonlyMap<string, CloudServer>;
  readonly byUid: ReadonlyMap<string, readonly CloudServer[]>;
}

const serverIndexes = new WeakMap<readonly CloudServer[], ServerIndex>();
const firewallIndexes = new WeakMap<readonly CloudFirewall[], ReadonlyMap<string, readonly string[]>>();

function indexOf(servers: readonly CloudServer[]): ServerIndex {
  const known = serverIndexes.get(servers);
  if (known !== undefined) return known;
  const index = {
    byId: new Map(servers.map((server) => [server.id, server])),
    byName: new Map(servers.map((server) => [server.name, server])),
    byUid: Map.groupBy(servers, ({ mark }) =>
      typeof mark === "object" && "resourceUid" in mark ? mark.resourceUid : "",
    ),
  };
  serverIndexes.set(servers, index);
  return index;
}

/** By recorded id, whatever was done to it since; by mark; or by name. Each server once. */
export function serversOf(
  { ownIds }: Pick<LookContext<unknown>, "ownIds">,
  servers: readonly CloudServer[],
  { uid, name }: Pick<Subject<unknown>, "uid" | "name">,
): readonly CloudServer[] {
  const { byId, byName, byUid } = indexOf(servers);
  const recorded = [...ownIds].flatMap((id) => byId.get(id.split("/")[0] ?? "") ?? []);
  const named = byName.get(name);
  return [...new Set([...recorded, ...(byUid.get(uid) ?? []), ...(named === undefined ? [] : [named])])];
}

/** Names of Setpoint's firewalls that were put on a server one by one, by the server's id. */
export function firewallsByServer(firewalls: readonly CloudFirewall[]): ReadonlyMap<string, readonly string[]> {
  const known = firewallIndexes.get(firewalls);
  if (known !== undefined) return known;
  const index = new Map<string, string[]>();
  for (const { name, mark, servers } of firewalls) {
    if (typeof mark !== "object" || !("installationId" in mark)) continue;
    for (const server of servers) index.set(server, [...(index.get(server) ?? []), name]);
  }
  firewallIndexes.set(firewalls, index);
  return index;
}
