import { TerminalError } from "../../kernel/errors.ts";
import type { ComputeEngine, ComputeReader } from "../../ports/compute.ts";
import type { DnsQueries } from "../../ports/dns-queries.ts";
import type { DnsResolver } from "../../ports/dns-resolver.ts";
import type { DnsZoneReader, DnsZoneWriter } from "../../ports/dns.ts";
import type { AccountIdentity, Lister, Provider, ProviderAccount } from "../../ports/provider.ts";
import type { AccountRecord } from "../../ports/records.ts";
import { hetznerDnsCapabilities } from "../hetzner-dns/capabilities.ts";
import { zoneReader } from "../hetzner-dns/zone-reader.ts";
import { zoneWriter } from "../hetzner-dns/zone-writer.ts";
import type { RestWorld } from "../rest-client.ts";
import { actionState, newestAction } from "./actions.ts";
import { findServerType, hasImage, images, locations, readCatalogue, serverTypesAt } from "./catalogue.ts";
import { hetznerCloudCapabilities as capabilities } from "./capabilities.ts";
import { HetznerClient } from "./client.ts";
import { markedServers, serverEngine } from "./engine.ts";
import { firewalls, firewallWriter } from "./firewalls.ts";
import { findById, findByName, listerOf } from "./listing.ts";
import { networks, networkWriter } from "./networks.ts";
import { loadBalancers, loadBalancerWriter } from "./load-balancers.ts";
import { certificates, floatingIps, placementGroups, primaryIps, snapshots } from "./others.ts";
import { readPrices } from "./pricing.ts";
import { readRights } from "./rights.ts";
import { readServerLoad } from "./server-load.ts";
import { servers, serverWriter } from "./servers.ts";
import { type HetznerCloudSettings, hetznerCloudSettingsSchema } from "./settings.ts";
import { findSentinel, sshKeys, writeSentinel } from "./ssh-keys.ts";
import { volumes, volumeWriter } from "./volumes.ts";

const callTimeoutMs = 10_000;
/** Within one call there may be several requests, such as those that wait for an action. */
const requestTimeoutMs = 8_000;

interface HetznerWorld extends RestWorld {
  readonly resolver: DnsResolver;
  readonly queries?: DnsQueries | undefined;
}

/** A project has servers and zones behind one token, and one limit of calls for both. */
type HetznerReader = ComputeReader & DnsZoneReader;
type HetznerWriter = ComputeEngine & DnsZoneWriter;

export function createHetznerCloudProvider(world: HetznerWorld): Provider<HetznerReader, HetznerWriter> {
  return Object.freeze({
    name: "hetzner-cloud",
    // Lists are served apart from what writes; seconds are the worst that was seen.
    settleMs: 5_000,
    callTimeoutMs,
    open: (account: AccountRecord) => openAccount(world, account),
  });
}

function openAccount(world: HetznerWorld, account: AccountRecord): ProviderAccount<HetznerReader, HetznerWriter> {
  const client = new HetznerClient({
    ...world,
    account,
    url: parseSettings(account).url,
    timeoutMs: requestTimeoutMs,
  });
  return {
    identity: (signal) => identityOf(client, account, signal),
    claim: (sentinel, signal) => writeSentinel(client, sentinel, account.id, signal),
    knownBySentinel: true,
    rights: (signal) => readRights(client, signal),
    rate: () => client.rate,
    collections: collectionsOf(client),
    reader: Object.freeze({
      ...zoneReader(client, { resolver: world.resolver, queries: world.queries, server: undefined }),
      ...readerOf(client, account),
      capabilities: Object.freeze({ ...capabilities, ...hetznerDnsCapabilities }),
    }),
    writer: Object.freeze({
      ...zoneWriter(client),
      ...serverWriter(client),
      ...serverEngine(client),
      ...volumeWriter(client),
      ...firewallWriter(client),
      ...networkWriter(client),
      ...loadBalancerWriter(client),
    }),
  };
}

function collectionsOf(client: HetznerClient): Readonly<Record<string, Lister>> {
  return {
    servers: listerOf(client, servers),
    networks: listerOf(client, networks),
    firewalls: listerOf(client, firewalls),
    volumes: listerOf(client, volumes),
    "load-balancers": listerOf(client, loadBalancers),
    "ssh-keys": listerOf(client, sshKeys),
    "floating-ips": listerOf(client, floatingIps),
    "primary-ips": listerOf(client, primaryIps),
    "placement-groups": listerOf(client, placementGroups),
    certificates: listerOf(client, certificates),
    snapshots: listerOf(client, snapshots),
    "server-types": listerOf(client, serverTypesAt(client.clock)),
    images: listerOf(client, images),
    locations: listerOf(client, locations),
  };
}

function readerOf(client: HetznerClient, account: AccountRecord): ComputeReader {
  return Object.freeze({
    capabilities,
    server: (id, signal) => findById(client, servers, id, signal),
    markedServers: (mark, signal) => markedServers(client, mark, signal),
    serverByName: (name, signal) => findByName(client, servers, name, signal),
    network: (id, signal) => findById(client, networks, id, signal),
    networkByName: (name, signal) => findByName(client, networks, name, signal),
    firewall: (id, signal) => findById(client, firewalls, id, signal),
    firewallByName: (name, signal) => findByName(client, firewalls, name, signal),
    loadBalancer: (id, signal) => findById(client, loadBalancers, id, signal),
    loadBalancerByName: (name, signal) => findByName(client, loadBalancers, name, signal),
    volumeByName: (name, signal) => findByName(client, volumes, name, signal),
    serverType: (name, signal) => findServerType(client, name, signal),
    catalogue: async (signal) => {
      const { fingerprint, unclaimed } = await identityOf(client, account, signal);
      return await readCatalogue(client, unclaimed === true ? undefined : fingerprint, signal);
    },
    prices: (signal) => readPrices(client, signal),
    hasImage: (name, architecture, signal) => hasImage(client, { name, architecture }, signal),
    work: (id, signal) => actionState(client, id, signal),
    lastReset: (id, signal) => newestAction(client, id, "reset_server", signal),
    serverLoad: (id, window, signal) => readServerLoad(client, id, window, signal),
    callLimit: () => client.rate,
    sentinel: async (signal) => {
      const found = await findSentinel(client, "read", signal);
      return found === undefined ? "absent" : { id: found.id, installationId: found.sentinel.installationId };
    },
  } satisfies ComputeReader);
}

/** A project has no id that a token could read, so the sentinel's id stands for it. Both tokens must see the same one. */
async function identityOf(
  client: HetznerClient,
  account: AccountRecord,
  signal: AbortSignal,
): Promise<AccountIdentity> {
  const seen = await findSentinel(client, "read", signal);
  if (account.readCredentialRef !== undefined) {
    const other = await findSentinel(client, "write", signal);
    if (other?.id !== seen?.id) return { fingerprint: "hetzner-cloud: the two tokens are of different projects" };
  }
  return seen === undefined
    ? { fingerprint: "hetzner-cloud: a project without a sentinel", unclaimed: true }
    : { fingerprint: `hetzner-cloud: SSH key ${seen.id}`, sentinel: seen.sentinel };
}

function parseSettings(account: AccountRecord): HetznerCloudSettings {
  const parsed = hetznerCloudSettingsSchema.safeParse(account.settings);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => `settings.${issue.path.join(".")}: ${issue.message}`).join("; ");
  throw new TerminalError("SPEC_INVALID", `Account '${account.name}': ${problems}`);
}
