import { z } from "zod";
import { EngineError, RetryableError, TerminalError } from "../../kernel/errors.ts";
import type { CloudServer, ComputeEngine, EnsuredServer, OwnMark, ServerIntent } from "../../ports/compute.ts";
import { actionShape } from "./actions.ts";
import type { HetznerClient } from "./client.ts";
import { labelsFor, selectorOf } from "./labels.ts";
import { firewalls } from "./firewalls.ts";
import { findById, findByName, matching, requireOurs } from "./listing.ts";
import { networks } from "./networks.ts";
import { servers } from "./servers.ts";

const madeShape = z.object({ server: servers.shape, action: actionShape });

export function markedServers(
  client: HetznerClient,
  mark: OwnMark,
  signal: AbortSignal,
): Promise<readonly CloudServer[]> {
  const filter = {
    query: { label_selector: selectorOf(mark) },
    what: `the search for the server of resource ${mark.resourceUid}`,
  };
  return matching(client, servers, filter, signal).then((found) =>
    [...found].sort((left, right) => Number(left.id) - Number(right.id)),
  );
}

/** Making and removing servers, by mark: a call whose answer was lost is repeated without making a second one. */
export function serverEngine(client: HetznerClient): Pick<ComputeEngine, "ensureServer" | "ensureServerGone"> {
  return {
    ensureServer: async (intent, signal): Promise<EnsuredServer> => {
      const [first] = await markedServers(client, intent.mark, signal);
      if (first !== undefined) return { server: first, work: undefined, found: true };
      try {
        return await createServer(client, intent, signal);
      } catch (thrown) {
        if (!(thrown instanceof EngineError) || thrown.code !== "ALREADY_EXISTS") throw thrown;
        return await nameTaken(client, intent, signal);
      }
    },
    ensureServerGone: async ({ id, mark }, signal) => {
      const found = await findById(client, servers, id, signal);
      if (found === "absent") return;
      requireMarked(found, mark);
      const what = `the deletion of server ${found.name} (${id})`;
      await client.change({ method: "DELETE", path: ["servers", id], what }, signal, ["not_found"]);
    },
  };
}

async function createServer(client: HetznerClient, intent: ServerIntent, signal: AbortSignal): Promise<EnsuredServer> {
  const { ipv4, ipv6 } = intent.publicAddresses;
  const networkIds = [];
  for (const name of intent.networks) networkIds.push(Number((await requireOurs(client, networks, name, signal)).id));
  const firewallIds = [];
  for (const name of intent.firewalls)
    firewallIds.push(Number((await requireOurs(client, firewalls, name, signal)).id));
  const body = {
    name: intent.name,
    server_type: intent.type,
    image: intent.image,
    location: intent.location,
    labels: labelsFor(intent),
    start_after_create: true,
    networks: networkIds,
    firewalls: firewallIds.map((firewall) => ({ firewall })),
    ...(intent.sshKeys.length === 0 ? {} : { ssh_keys: intent.sshKeys }),
    ...(intent.userData === undefined ? {} : { user_data: intent.userData }),
    public_net: { enable_ipv4: ipv4, enable_ipv6: ipv6 },
  };
  const call = { method: "POST" as const, path: ["servers"], body, what: `the creation of server ${intent.name}` };
  // The answer may hold a root password: the shape leaves it out, so it goes nowhere.
  const { server, action } = await client.write(madeShape, call, signal);
  return { server: servers.entry(server), work: String(action.id), found: false };
}

/** Names are unique in a project, so this is the server that was asked for, or somebody else's. */
async function nameTaken(client: HetznerClient, intent: ServerIntent, signal: AbortSignal): Promise<EnsuredServer> {
  const found = await findByName(client, servers, intent.name, signal);
  if (found === "absent")
    throw new RetryableError(
      "PROVIDER_UNAVAILABLE",
      `Hetzner Cloud says that the name ${intent.name} is taken, and shows no server of that name`,
      { ambiguous: true, afterMs: 5_000 },
    );
  const { mark } = found;
  if (typeof mark === "object" && "installationId" in mark && isSameMark(mark, intent.mark))
    return { server: found, work: undefined, found: true };
  throw new TerminalError(
    "ALREADY_EXISTS",
    `A server named ${intent.name} is in the project already (id ${found.id}), and it is not this resource's: choose another name, or adopt it by spec.adopt`,
  );
}

function requireMarked(server: CloudServer, mark: OwnMark): void {
  const own = server.mark;
  if (typeof own === "object" && "installationId" in own && isSameMark(own, mark)) return;
  throw new TerminalError(
    "PRECONDITION_FAILED",
    `Server ${server.name} (id ${server.id}) does not carry this resource's labels (any more): nothing is removed that is not surely ours`,
  );
}

function isSameMark(left: OwnMark, right: OwnMark): boolean {
  return left.installationId === right.installationId && left.resourceUid === right.resourceUid;
}
