import type { JsonObject } from "../../ports/json.ts";

export type Labels = Readonly<Record<string, string>>;

/** What all things of a project share. Rows are replaced, never changed in place. */
export interface Thing {
  readonly id: number;
  readonly createdMs: number;
  readonly labels: Labels;
}

export interface Named extends Thing {
  readonly name: string;
}

export interface Protection {
  readonly delete: boolean;
}

export type ServerStatus =
  | "initializing"
  | "starting"
  | "running"
  | "stopping"
  | "off"
  | "deleting"
  | "migrating"
  | "rebuilding"
  | "unknown";

export interface PrivateNet {
  readonly network: number;
  readonly ip: string;
  readonly aliasIps: readonly string[];
  readonly macAddress: string;
}

export interface Server extends Named {
  readonly status: ServerStatus;
  readonly serverType: string;
  readonly diskGb: number;
  readonly image: number | undefined;
  readonly datacenter: string;
  readonly iso: number | undefined;
  readonly rescue: boolean;
  readonly backupWindow: string | undefined;
  readonly placementGroup: number | undefined;
  readonly privateNets: readonly PrivateNet[];
  readonly protection: Protection & { readonly rebuild: boolean };
  /** Kept so that a test can see what a machine was born with; the API never shows it. */
  readonly userData: string | undefined;
  readonly sshKeys: readonly number[];
}

export interface SshKey extends Named {
  readonly publicKey: string;
  readonly fingerprint: string;
}

export interface Subnet {
  readonly type: "cloud" | "server" | "vswitch";
  readonly ipRange: string;
  readonly networkZone: string;
  readonly vswitchId: number | undefined;
}

export interface NetworkRoute {
  readonly destination: string;
  readonly gateway: string;
}

export interface Network extends Named {
  readonly ipRange: string;
  readonly subnets: readonly Subnet[];
  readonly routes: readonly NetworkRoute[];
  readonly exposeRoutesToVswitch: boolean;
  readonly protection: Protection;
}

export interface FirewallRule {
  readonly direction: "in" | "out";
  readonly protocol: "tcp" | "udp" | "icmp" | "esp" | "gre";
  readonly port: string | undefined;
  readonly sourceIps: readonly string[];
  readonly destinationIps: readonly string[];
  readonly description: string | undefined;
}

export interface Firewall extends Named {
  readonly rules: readonly FirewallRule[];
  readonly servers: readonly number[];
  readonly selectors: readonly string[];
}

export interface Volume extends Named {
  readonly status: "creating" | "available";
  readonly sizeGb: number;
  readonly location: string;
  readonly server: number | undefined;
  readonly format: string | undefined;
  readonly protection: Protection;
}

export interface DnsPointer {
  readonly ip: string;
  readonly name: string;
}

export interface FloatingIp extends Named {
  readonly type: "ipv4" | "ipv6";
  readonly ip: string;
  readonly description: string | undefined;
  readonly homeLocation: string;
  readonly server: number | undefined;
  readonly pointers: readonly DnsPointer[];
  readonly protection: Protection;
}

export interface PrimaryIp extends Named {
  readonly type: "ipv4" | "ipv6";
  readonly ip: string;
  readonly datacenter: string;
  readonly server: number | undefined;
  readonly autoDelete: boolean;
  readonly pointers: readonly DnsPointer[];
  readonly protection: Protection;
}

export interface PlacementGroup extends Named {
  readonly type: "spread";
}

export interface Certificate extends Named {
  readonly type: "uploaded" | "managed";
  readonly certificate: string | undefined;
  readonly domainNames: readonly string[];
  readonly fingerprint: string | undefined;
  readonly notBeforeMs: number | undefined;
  readonly notAfterMs: number | undefined;
  readonly issuance: "pending" | "completed" | "failed" | undefined;
  readonly error: { readonly code: string; readonly message: string } | undefined;
}

/** System images are the catalogue's; these are the project's own. */
export interface Image extends Thing {
  readonly type: "snapshot" | "backup";
  readonly status: "creating" | "available";
  readonly description: string;
  readonly diskGb: number;
  readonly imageGb: number | undefined;
  readonly from: { readonly id: number; readonly name: string };
  readonly boundTo: number | undefined;
  readonly osFlavor: string;
  readonly osVersion: string | undefined;
  readonly architecture: "x86" | "arm";
  readonly protection: Protection;
}

export interface HealthCheck {
  readonly protocol: "tcp" | "http";
  readonly port: number;
  readonly interval: number;
  readonly timeout: number;
  readonly retries: number;
  readonly http: JsonObject | undefined;
}

export interface LoadBalancerService {
  readonly protocol: "tcp" | "http" | "https";
  readonly listenPort: number;
  readonly destinationPort: number;
  readonly proxyprotocol: boolean;
  readonly http: LoadBalancerHttp | undefined;
  readonly healthCheck: HealthCheck;
}

export interface LoadBalancerHttp {
  readonly cookieName: string;
  readonly cookieLifetime: number;
  readonly certificates: readonly number[];
  readonly redirectHttp: boolean;
  readonly stickySessions: boolean;
}

export interface LoadBalancerTarget {
  readonly type: "server" | "label_selector" | "ip";
  readonly server: number | undefined;
  readonly selector: string | undefined;
  readonly ip: string | undefined;
  readonly usePrivateIp: boolean;
  readonly addedMs: number;
}

export interface LoadBalancer extends Named {
  readonly loadBalancerType: string;
  readonly location: string;
  readonly algorithm: "round_robin" | "least_connections";
  readonly services: readonly LoadBalancerService[];
  readonly targets: readonly LoadBalancerTarget[];
  readonly publicInterface: boolean;
  readonly ipv4: string;
  readonly ipv6: string;
  readonly pointers: readonly DnsPointer[];
  readonly privateNet: { readonly network: number; readonly ip: string } | undefined;
  readonly protection: Protection;
}

export interface DnsRecord {
  readonly value: string;
  readonly comment: string | undefined;
}

export interface RrSet {
  readonly name: string;
  readonly type: string;
  /** Undefined: the zone's. */
  readonly ttl: number | undefined;
  readonly labels: Labels;
  readonly isProtected: boolean;
  readonly records: readonly DnsRecord[];
}

export interface Zone extends Named {
  readonly mode: "primary" | "secondary";
  readonly ttl: number;
  readonly primaryNameservers: readonly JsonObject[];
  readonly protection: Protection;
  readonly rrsets: readonly RrSet[];
}

/** What becomes of a row when an action ends; data, so that a world can be saved while actions run. */
export interface Consequence {
  readonly table: TableName;
  readonly id: number;
  /** The fields to set, null for those to take away; undefined: the row goes. */
  readonly set: JsonObject | undefined;
}

export interface Action {
  readonly id: number;
  readonly command: string;
  readonly status: "running" | "success" | "error";
  readonly startedMs: number;
  readonly endsMs: number;
  readonly resources: readonly { readonly id: number; readonly type: string }[];
  readonly error: { readonly code: string; readonly message: string } | undefined;
  readonly effects: readonly Consequence[];
}

export interface RowOf {
  readonly servers: Server;
  readonly sshKeys: SshKey;
  readonly networks: Network;
  readonly firewalls: Firewall;
  readonly volumes: Volume;
  readonly floatingIps: FloatingIp;
  readonly primaryIps: PrimaryIp;
  readonly placementGroups: PlacementGroup;
  readonly certificates: Certificate;
  readonly images: Image;
  readonly loadBalancers: LoadBalancer;
  readonly zones: Zone;
  readonly actions: Action;
}

export type TableName = keyof RowOf;
