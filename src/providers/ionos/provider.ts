import { TerminalError } from "../../kernel/errors.ts";
import type { CloudServer, ComputeEngine, ComputeReader, ComputeWriter, OwnMark } from "../../ports/compute.ts";
import type { Lister, Provider, ProviderAccount } from "../../ports/provider.ts";
import type { AccountRecord } from "../../ports/records.ts";
import type { RestWorld } from "../rest-client.ts";
import { providerErrorOf, toError } from "./answer-error.ts";
import { ionosCapabilities } from "./capabilities.ts";
import { hasImage, readCatalogue } from "./catalogue.ts";
import { IonosClient } from "./client.ts";
import { contractOf, identityOf, readRoom } from "./contract.ts";
import { insideLister, listDatacenters } from "./datacenters.ts";
import { markedIds, serverEngine } from "./engine.ts";
import { ipBlockLister, ipBlockReader, ipBlockWriter } from "./ip-blocks.ts";
import { namedFirewalls } from "./firewall-labels.ts";
import { nameAndMark } from "./names.ts";
import { findNetwork, networkByName, networkLister, networkWriter } from "./networks.ts";
import { balancerReader, balancers, balancerWriter } from "./load-balancers.ts";
import { requestState } from "./requests.ts";
import { cardWriter } from "./cards.ts";
import { findServer, servers, serversNamed, serverWriter } from "./servers.ts";
import { ionosSettingsSchema } from "./settings.ts";
import { snapshotLister } from "./snapshots.ts";
import { serverTypeOf } from "./types.ts";
import { requireVolume, volumeByName, volumes } from "./volumes.ts";

const callTimeoutMs = 10_000;
/** Within one call there may be several requests, such as those that wait for a change. */
const requestTimeoutMs = 8_000;

export function createIonosProvider(world: RestWorld): Provider<ComputeReader, ComputeEngine> {
  return Object.freeze({
    name: "ionos",
    // A change takes seconds to minutes behind its answer, and the thing is busy so long.
    settleMs: 15_000,
    callTimeoutMs,
    open: (account: AccountRecord) => openAccount(world, account),
  });
}

function openAccount(world: RestWorld, account: AccountRecord): ProviderAccount<ComputeReader, ComputeEngine> {
  const client = new IonosClient({ ...world, account, url: urlOf(account), timeoutMs: requestTimeoutMs });
  return {
    identity: (signal) => identityOf(client, account, signal),
    rights: (signal) => readRights(client, signal),
    rate: () => client.rate,
    collections: collectionsOf(client),
    reader: readerOf(client, account),
    writer: Object.freeze({
      ...refusing,
      ...serverWriter(client, (name, signal) => requireVolume(client, name, signal)),
      ...serverEngine(client),
      ...cardWriter(client),
      ...networkWriter(client),
      ...balancerWriter(client),
      ...ipBlockWriter(client, (signal) => listDatacenters(client, signal)),
    }),
  };
}

function collectionsOf(client: IonosClient): Readonly<Record<string, Lister>> {
  const none: Lister = async () => ({ entries: [], ids: [], total: 0 });
  return {
    servers: insideLister(client, servers),
    volumes: insideLister(client, volumes),
    "load-balancers": insideLister(client, balancers),
    networks: networkLister(client),
    firewalls: namedFirewalls(insideLister(client, servers)),
    "floating-ips": ipBlockLister(client),
    snapshots: snapshotLister(client),
    // What is a thing of its own elsewhere, and is none here.
    "primary-ips": none,
    "ssh-keys": none,
    "placement-groups": none,
    certificates: none,
    // Where something can be made is a data center of the contract.
    locations: async (_token, signal) => {
      const entries = await listDatacenters(client, signal);
      return { entries, ids: entries.map(({ id }) => id) };
    },
  };
}

function readerOf(client: IonosClient, account: AccountRecord): ComputeReader {
  const absent = async () => "absent" as const;
  return Object.freeze({
    capabilities: ionosCapabilities,
    server: async (id, signal) => entryOf(await findServer(client, id, signal)),
    markedServers: async (mark, signal) => await serversOf(client, await markedIds(client, mark, signal), mark, signal),
    serverByName: async (name, signal) => {
      const [id] = await serversNamed(client, (full) => nameAndMark(full).name === name, signal);
      return id === undefined ? "absent" : entryOf(await findServer(client, id, signal));
    },
    network: (id, signal) => findNetwork(client, id, signal),
    networkByName: (name, signal) => networkByName(client, name, signal),
    firewall: absent,
    firewallByName: absent,
    // Load balancers are rules that forward here.
    loadBalancer: absent,
    loadBalancerByName: absent,
    ...balancerReader(client),
    ...ipBlockReader(client),
    volumeByName: (name, signal) => volumeByName(client, name, signal),
    serverType: async (name, signal) => {
      const { resourceLimits } = await contractOf(client, "read", signal);
      return serverTypeOf(name, resourceLimits, await listDatacenters(client, signal));
    },
    catalogue: async (signal) => {
      const { fingerprint } = await identityOf(client, account, signal);
      return await readCatalogue(client, fingerprint, signal);
    },
    room: (signal) => readRoom(client, signal),
    hasImage: (name, _architecture, signal) => hasImage(client, name, signal),
    work: (id, signal) => requestState(client, id, signal),
    callLimit: () => client.rate,
    // The contract's own number is what it is known by: nothing has to be left there.
    sentinel: absent,
  } satisfies ComputeReader);
}

function entryOf(found: { readonly entry: CloudServer } | "absent"): CloudServer | "absent" {
  return found === "absent" ? "absent" : found.entry;
}

async function serversOf(
  client: IonosClient,
  ids: readonly string[],
  { resourceUid }: OwnMark,
  signal: AbortSignal,
): Promise<readonly CloudServer[]> {
  const found: CloudServer[] = [];
  for (const id of ids) {
    const entry = entryOf(await findServer(client, id, signal));
    const mark = entry === "absent" ? "none" : entry.mark;
    const ours = typeof mark === "object" && "resourceUid" in mark && mark.resourceUid === resourceUid;
    if (entry !== "absent" && ours) found.push(entry);
  }
  return found;
}

/** By a request that cannot succeed: a data center in no place. Who may only read is refused (403) before that is looked at (422). */
async function readRights(client: IonosClient, signal: AbortSignal) {
  const what = "the question whether the token may write";
  const body = { properties: { name: "", location: "" } };
  const answer = await client.send({ method: "POST", path: ["datacenters"], body, what }, signal);
  const { code, message } = providerErrorOf(answer);
  if (answer.status === 422 || answer.status === 400) return { write: true, reason: "the token may write" };
  if (answer.status === 403) return { write: false, reason: `${code}: ${message}` };
  throw toError(what, answer);
}

const refuses = (what: string) => async (): Promise<never> => {
  throw new TerminalError("PROVIDER_REFUSED", `IONOS cannot do that through Setpoint: ${what}`);
};

/** What the capabilities above already say, for who does not ask them. */
const refusing = {
  setServerProtection: refuses("protection of a server"),
  setReverseDns: refuses("the reverse DNS of a server"),
  applySelector: refuses("firewalls that are no rules on cards"),
  withdrawSelector: refuses("firewalls that are no rules on cards"),
  createFirewall: refuses("firewalls that are no rules on cards"),
  describeFirewall: refuses("firewalls that are no rules on cards"),
  setFirewallRules: refuses("firewalls that are no rules on cards"),
  deleteFirewall: refuses("firewalls that are no rules on cards"),
  setNetworkRange: refuses("ranges, subnets, routes and protection of networks"),
  addSubnet: refuses("ranges, subnets, routes and protection of networks"),
  removeSubnet: refuses("ranges, subnets, routes and protection of networks"),
  addRoute: refuses("ranges, subnets, routes and protection of networks"),
  removeRoute: refuses("ranges, subnets, routes and protection of networks"),
  setNetworkProtection: refuses("ranges, subnets, routes and protection of networks"),
  createLoadBalancer: refuses("load balancers that are no rules that forward"),
  describeLoadBalancer: refuses("load balancers that are no rules that forward"),
  setBalancerType: refuses("load balancers that are no rules that forward"),
  setBalancerAlgorithm: refuses("load balancers that are no rules that forward"),
  setBalancerPublic: refuses("load balancers that are no rules that forward"),
  setBalancerProtection: refuses("load balancers that are no rules that forward"),
  attachBalancer: refuses("load balancers that are no rules that forward"),
  detachBalancer: refuses("load balancers that are no rules that forward"),
  addService: refuses("load balancers that are no rules that forward"),
  updateService: refuses("load balancers that are no rules that forward"),
  removeService: refuses("load balancers that are no rules that forward"),
  addTarget: refuses("load balancers that are no rules that forward"),
  removeTarget: refuses("load balancers that are no rules that forward"),
  deleteLoadBalancer: refuses("load balancers that are no rules that forward"),
} satisfies Partial<ComputeWriter>;

function urlOf(account: AccountRecord): string {
  const parsed = ionosSettingsSchema.safeParse(account.settings);
  if (parsed.success) return parsed.data.url;
  const problems = parsed.error.issues.map((issue) => `settings.${issue.path.join(".")}: ${issue.message}`).join("; ");
  throw new TerminalError("SPEC_INVALID", `Account '${account.name}': ${problems}`);
}
