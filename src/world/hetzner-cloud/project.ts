import type { Rate } from "../rate-bucket.ts";
import { type Indexes, type ReadTable, Table, type WorldTime } from "../table.ts";
import type { Labels, RowOf, TableName } from "./rows.ts";

export type Tables = { readonly [N in TableName]: Table<RowOf[N]> };
/** A project as it is, or as it was a while ago. */
export type ProjectView = { readonly [N in TableName]: ReadTable<RowOf[N]> };

/** How much of everything a project may have, as its owner was granted it. */
export type Limits = Readonly<Record<Exclude<TableName, "actions">, number>>;

/** What the metrics of a server show from now on; null: nothing at all. */
export interface ServerLoadSetting {
  readonly cpu?: number | null | undefined;
  /** Bytes a second, each way. */
  readonly network?: number | null | undefined;
}

export interface Project extends Tables {
  readonly name: string;
  limits: Limits;
  /** Requests an hour, refilled steadily. */
  requestsPerHour: number;
  rate: Rate;
  /** How busy its servers are, by name, where somebody said; `*` stands for all others. Else it is a number of the moment. */
  load: Readonly<Record<string, ServerLoadSetting>>;
  /** Actions that run, by the time they end. */
  running: readonly number[];
}

export const usualLimits: Limits = Object.freeze({
  servers: 100_000,
  sshKeys: 1_000,
  networks: 50,
  firewalls: 50,
  volumes: 100_000,
  floatingIps: 1_000,
  primaryIps: 200_000,
  placementGroups: 50,
  certificates: 50,
  images: 1_000,
  loadBalancers: 1_000,
  zones: 1_000,
});

export const usualRequestsPerHour = 3_600;

const labelled = (row: { readonly labels: Labels }) =>
  Object.entries(row.labels).map(([key, value]) => `${key}=${value}`);
const named = { label: labelled, name: (row: { readonly name: string }) => [row.name] };
const one = (id: number | undefined) => (id === undefined ? [] : [id]);

const indexes: { readonly [N in TableName]: Indexes<RowOf[N]> } = {
  servers: {
    ...named,
    network: (server) => server.privateNets.map(({ network }) => network),
    privateIp: (server) =>
      server.privateNets.flatMap(({ network, ip, aliasIps }) => [ip, ...aliasIps].map((each) => `${network} ${each}`)),
    placementGroup: (server) => one(server.placementGroup),
  },
  sshKeys: { ...named, fingerprint: (key) => [key.fingerprint] },
  networks: named,
  firewalls: { ...named, server: (firewall) => firewall.servers },
  volumes: { ...named, server: (volume) => one(volume.server) },
  floatingIps: { ...named, server: (ip) => one(ip.server), ip: (ip) => [ip.ip] },
  primaryIps: { ...named, server: (ip) => one(ip.server), ip: (ip) => [ip.ip] },
  placementGroups: named,
  certificates: named,
  images: { label: labelled, boundTo: (image) => one(image.boundTo) },
  loadBalancers: {
    ...named,
    server: (balancer) => balancer.targets.flatMap(({ server }) => one(server)),
    network: (balancer) => one(balancer.privateNet?.network),
    privateIp: ({ privateNet }) => (privateNet === undefined ? [] : [`${privateNet.network} ${privateNet.ip}`]),
    certificate: (balancer) => balancer.services.flatMap(({ http }) => http?.certificates ?? []),
    ip: (balancer) => [balancer.ipv4, balancer.ipv6],
  },
  zones: named,
  actions: { resource: (action) => action.resources.map(({ type, id }) => `${type} ${id}`) },
};

export const tableNames = Object.keys(indexes) as readonly TableName[];

export function newProject(name: string, time: WorldTime): Project {
  const tables = Object.fromEntries(
    tableNames.map((table) => [table, new Table(time, indexes[table] as Indexes<RowOf[TableName]>)]),
  ) as unknown as Tables;
  return {
    ...tables,
    name,
    limits: usualLimits,
    requestsPerHour: usualRequestsPerHour,
    rate: { left: usualRequestsPerHour, atMs: time.nowMs },
    load: {},
    running: [],
  };
}

export function projectAsOf(project: Project, atMs: number): ProjectView {
  const tables = tableNames.map((table) => [table, project[table].asOf(atMs)]);
  return Object.fromEntries(tables) as ProjectView;
}
