import type { LoadBalancerReader, LoadBalancerWriter } from "./load-balancer.ts";
import type { RateReading } from "./provider.ts";

/**
 * What a kind may ask of any cloud. Ids are the provider's own, as text. Every thing that can carry one says whose it is; whoever
 * implements this says in `capabilities` what it can do, and a kind refuses what is not among it before anything is written.
 */

/** Whose an outside thing is, as it says itself. */
export type Mark =
  | { readonly installationId: string; readonly resourceUid: string }
  | "none"
  /** It carries something of another owner, or a mark that cannot be read. */
  | { readonly foreign: string };
export type OwnMark = Extract<Mark, { readonly installationId: string }>;

export interface CloudThing {
  readonly id: string;
  readonly name: string;
  /** Without the mark. */
  readonly labels: Readonly<Record<string, string>>;
  readonly mark: Mark;
  /** The provider refuses to delete it, in its words. */
  readonly lockedBy?: string | undefined;
}

export type PowerState = "on" | "off" | "changing";

export interface CloudServer extends CloudThing {
  readonly power: PowerState;
  readonly type: string;
  readonly image: string | undefined;
  readonly location: string;
  /** That place by its id, as a declaration may name it too. */
  readonly locationId?: string | undefined;
  readonly networks: readonly { readonly network: string; readonly ip: string }[];
  readonly firewalls: readonly string[];
  /** Where a server names its firewalls itself: that these are all of them. A list that ended early is no word of the server's. */
  readonly firewallsCounted?: boolean;
  readonly volumes: readonly string[];
  readonly addresses: readonly CloudAddress[];
  readonly protected: boolean;
  /** At providers whose firewalls are rules on network cards. */
  readonly cards?: readonly CloudCard[] | undefined;
}

/** A network card of a server. */
export interface CloudCard {
  /** The server's id and its own, with a slash between them. */
  readonly id: string;
  readonly public: boolean;
  /** Whose it is: one that was made with a server of ours says so. */
  readonly mark: Mark;
  /** It lets through what its rules say, and nothing else. */
  readonly guarded: boolean;
  /** Those that carry a mark. Each lets through one block, with the firewall that it says it is of. */
  readonly rules: readonly CardRule[];
  /** What else is let through, in words. */
  readonly others: readonly string[];
}

export interface CardRule extends CloudFirewallRule {
  readonly firewall: string;
  readonly mark: Mark;
}

export interface CloudAddress {
  readonly family: "ipv4" | "ipv6";
  readonly ip: string;
  /** The name it resolves to, where one was set. */
  readonly name: string | undefined;
}

export interface CloudSubnet {
  readonly range: string;
  readonly zone: string;
}
export interface CloudRoute {
  readonly destination: string;
  readonly gateway: string;
}
export interface CloudNetwork extends CloudThing {
  /** Where it is, at providers whose networks are in one place. */
  readonly location?: string | undefined;
  readonly locationId?: string | undefined;
  /** Somebody made it one that leads to the internet. */
  readonly public?: boolean | undefined;
  /** Empty where the provider gives the addresses. */
  readonly range: string;
  readonly subnets: readonly CloudSubnet[];
  readonly routes: readonly CloudRoute[];
  readonly servers: readonly string[];
  readonly protected: boolean;
}

export type FirewallProtocol = "tcp" | "udp" | "icmp" | "esp" | "gre";
/** Lets through; what no rule lets in stays out. `cidrs` are sources of what comes in, destinations of what goes out. */
export interface CloudFirewallRule {
  readonly direction: "in" | "out";
  readonly protocol: FirewallProtocol;
  /** One port or a range such as `8000-8100`; of TCP and UDP alone. */
  readonly port?: string | undefined;
  readonly cidrs: readonly string[];
  readonly description?: string | undefined;
}
export interface CloudFirewall extends CloudThing {
  readonly rules: readonly CloudFirewallRule[];
  /** Servers it was put on one by one. */
  readonly servers: readonly string[];
  /** Label selectors it follows. */
  readonly selectors: readonly string[];
}

export interface CloudVolume extends CloudThing {
  readonly server: string | undefined;
  readonly sizeGigabytes: number;
  readonly location: string;
}

export interface CloudServerType {
  readonly id: string;
  readonly name: string;
  readonly cores: number;
  readonly memoryGigabytes: number;
  readonly diskGigabytes: number;
  readonly architecture: string;
  readonly offers: readonly {
    readonly location: string;
    readonly locationId?: string | undefined;
    /** It can be ordered there now. */
    readonly available: boolean;
    /** Net price of a month, in the account's currency, as the provider writes it. */
    readonly monthly: string | undefined;
    /** From then on it cannot be ordered there any more, where that was announced. */
    readonly until?: string | undefined;
  }[];
}

/** What servers of an account can be made of. What the provider has no list of is left out: nothing is refused by what is not known. */
export interface CloudCatalogue {
  /** What the account is known by; undefined where nothing in it tells it from another one yet. */
  readonly account: string | undefined;
  readonly types?: readonly CatalogueType[] | undefined;
  readonly images?: readonly CatalogueImage[] | undefined;
  /** By name. */
  readonly locations?: readonly string[] | undefined;
}

export interface CatalogueType {
  readonly name: string;
  readonly architecture: string;
  readonly offers: readonly {
    readonly location: string;
    /** From then on, in UTC, it cannot be ordered there any more. */
    readonly until?: string | undefined;
  }[];
}

export interface CatalogueImage {
  readonly name: string;
  /** Undefined where one name is for all of them. */
  readonly architecture?: string | undefined;
}

/** What a month of something costs somewhere, as the provider writes it. */
export interface CloudPrice {
  /** Which type of it. */
  readonly of: string;
  readonly location: string;
  readonly net: string;
  readonly gross: string;
}

/** What things cost the owner of an account. */
export interface CloudPrices {
  /** By ISO 4217. */
  readonly currency: string;
  readonly vatPercent: string;
  readonly servers: readonly CloudPrice[];
  readonly loadBalancers: readonly CloudPrice[];
  /** Public addresses of a server, by `ipv4` and `ipv6`. */
  readonly addresses: readonly CloudPrice[];
  readonly volumeGigabyte: Pick<CloudPrice, "net" | "gross">;
}

/** What the servers of an account may have together, and how much of it they have. */
export interface CloudRoom {
  /** What the account is known by. */
  readonly account: string;
  readonly cores: { readonly most: number; readonly used: number; readonly mostOfOne: number };
  readonly memoryGigabytes: { readonly most: number; readonly used: number; readonly mostOfOne: number };
}

/** One further thing of the account, for the inventory: what it is, and whose. */
export interface CloudOther extends CloudThing {
  readonly type: string;
  /** It belongs to a server, as its address does, and goes with it. */
  readonly ofServer?: boolean;
  /** What an installation left there to know the account by. */
  readonly sentinel?: object | undefined;
}

export interface ComputeCapabilities {
  /** False where servers can only be claimed that somebody ordered. */
  readonly createsServers: boolean;
  /** Where the name of a server type says what it has, in place of a list: what a name looks like, and words with examples. */
  readonly serverTypeNames?: {
    readonly pattern: RegExp;
    readonly words: string;
    /** What a server of that name takes of the account's limits. */
    sizeOf(name: string): ServerSize | undefined;
  };
  /** Where the mark of a server stands: in its labels, set by the very call that makes it, or in its name. */
  readonly serverMark: "labels" | "name";
  /** No two servers of one account have the same name. */
  readonly uniqueServerNames: boolean;
  readonly firewalls: boolean;
  /** A firewall is no thing of its own: its rules are on the network cards of servers, and a loop puts them on each. */
  readonly firewallsOnCards: boolean;
  /** A firewall can follow a label selector. */
  readonly firewallSelectors: boolean;
  readonly networks: boolean;
  /** A network has a range of its own, with subnets and routes; otherwise it is in one place, and the provider gives addresses. */
  readonly networkRanges: boolean;
  readonly loadBalancers: boolean;
  /** A load balancer is rules that forward to addresses in one network, on an address that is reserved for it. */
  readonly balancerRules: boolean;
  /** A load balancer can let through and keep out by where a visitor comes from. */
  readonly balancerOrigins: boolean;
  readonly volumes: boolean;
  readonly reverseDns: boolean;
  readonly protection: boolean;
  /** It says how busy a server is, without anything on the server. */
  readonly serverMetrics: boolean;
}

export interface ServerSize {
  readonly cores: number;
  readonly memoryGigabytes: number;
}

/** How busy a server was on the mean; what the provider did not say is not there. */
export interface ServerLoad {
  readonly cpuPercent?: number | undefined;
  /** Of its public interface, both ways together. */
  readonly networkMegabits?: number | undefined;
}

/** Looks. "absent" only when the provider says so. */
export interface ComputeReader extends LoadBalancerReader {
  readonly capabilities: ComputeCapabilities;
  server(id: string, signal: AbortSignal): Promise<CloudServer | "absent">;
  /** Every server that carries this mark; more than one is a mistake that somebody has to see. */
  markedServers(mark: OwnMark, signal: AbortSignal): Promise<readonly CloudServer[]>;
  serverByName(name: string, signal: AbortSignal): Promise<CloudServer | "absent">;
  network(id: string, signal: AbortSignal): Promise<CloudNetwork | "absent">;
  networkByName(name: string, signal: AbortSignal): Promise<CloudNetwork | "absent">;
  firewall(id: string, signal: AbortSignal): Promise<CloudFirewall | "absent">;
  firewallByName(name: string, signal: AbortSignal): Promise<CloudFirewall | "absent">;
  volumeByName(name: string, signal: AbortSignal): Promise<CloudVolume | "absent">;
  /** One type with where it is offered; "absent" when there is none of that name. */
  serverType(name: string, signal: AbortSignal): Promise<CloudServerType | "absent">;
  /** All that can be had, or an error where a list did not come whole; asked now and then, so that what cannot is refused where it is declared. */
  catalogue?(signal: AbortSignal): Promise<CloudCatalogue>;
  /** Where the provider tells what things cost, and in what. */
  prices?(signal: AbortSignal): Promise<CloudPrices>;
  /** Where the provider tells its limits. */
  room?(signal: AbortSignal): Promise<CloudRoom | undefined>;
  /** Whether there is such an image for this type. */
  hasImage(name: string, architecture: string, signal: AbortSignal): Promise<boolean>;
  /** How work that a write began stands. */
  work(id: string, signal: AbortSignal): Promise<"done" | "running" | { readonly failed: string }>;
  /**
   * The newest reset of a server in the provider's own record of its work; undefined when there is none. Without this, a reset
   * whose answer was lost is ordered again.
   */
  lastReset?(id: string, signal: AbortSignal): Promise<string | undefined>;
  /** Where `capabilities.serverMetrics` says so. */
  serverLoad?(
    id: string,
    window: { readonly fromMs: number; readonly untilMs: number },
    signal: AbortSignal,
  ): Promise<ServerLoad>;
  /** What the last answer said of the provider's own limit of calls, where it tells. */
  callLimit?(): RateReading | undefined;
  /** What the installation left in the account, by which it knows the account again. */
  sentinel(signal: AbortSignal): Promise<{ readonly id: string; readonly installationId: string } | "absent">;
}

/** Changes of what is there. Each ends when the provider says that it is done, and can be repeated. */
export interface ComputeWriter extends LoadBalancerWriter {
  describeServer(
    id: string,
    facts: { readonly name: string; readonly labels: Readonly<Record<string, string>>; readonly mark: OwnMark },
    signal: AbortSignal,
  ): Promise<void>;
  setPower(id: string, power: "on" | "off", signal: AbortSignal): Promise<void>;
  setServerProtection(id: string, on: boolean, signal: AbortSignal): Promise<void>;
  /** Of its public IPv4 address. */
  setReverseDns(id: string, name: string, signal: AbortSignal): Promise<void>;
  /** Networks, firewalls and volumes of a server go by their names. A network or firewall that is not Setpoint's is refused. */
  attachNetwork(
    id: string,
    to: { readonly name: string; readonly ip?: string | undefined },
    signal: AbortSignal,
  ): Promise<void>;
  detachNetwork(id: string, name: string, signal: AbortSignal): Promise<void>;
  attachFirewall(id: string, name: string, signal: AbortSignal): Promise<void>;
  detachFirewall(id: string, name: string, signal: AbortSignal): Promise<void>;
  attachVolume(id: string, name: string, signal: AbortSignal): Promise<void>;
  detachVolume(id: string, name: string, signal: AbortSignal): Promise<void>;

  applySelector(firewall: string, selector: string, signal: AbortSignal): Promise<void>;
  withdrawSelector(firewall: string, selector: string, signal: AbortSignal): Promise<void>;
  createFirewall(
    wanted: NewThing & { readonly rules: readonly CloudFirewallRule[]; readonly selectors: readonly string[] },
    signal: AbortSignal,
  ): Promise<{ readonly id: string }>;
  describeFirewall(id: string, facts: NewThing, signal: AbortSignal): Promise<void>;
  setFirewallRules(id: string, rules: readonly CloudFirewallRule[], signal: AbortSignal): Promise<void>;
  deleteFirewall(id: string, signal: AbortSignal): Promise<void>;
  /**
   * Where `capabilities.firewallsOnCards` says so: the rules of one firewall on one card, and no others of that firewall. What
   * somebody else put there stays. Without any rule left on it, a card lets everything through.
   */
  setCardRules?(
    card: string,
    firewall: { readonly name: string; readonly mark: OwnMark; readonly rules: readonly CloudFirewallRule[] },
    signal: AbortSignal,
  ): Promise<void>;

  createNetwork(
    wanted: NewThing & {
      /** Where networks are in one place. */
      readonly location?: string | undefined;
      readonly range: string;
      readonly subnets: readonly CloudSubnet[];
      readonly routes: readonly CloudRoute[];
    },
    signal: AbortSignal,
  ): Promise<{ readonly id: string }>;
  describeNetwork(id: string, facts: NewThing, signal: AbortSignal): Promise<void>;
  /** Only ever wider: a provider refuses a range that leaves a subnet out. */
  setNetworkRange(id: string, range: string, signal: AbortSignal): Promise<void>;
  addSubnet(id: string, subnet: CloudSubnet, signal: AbortSignal): Promise<void>;
  removeSubnet(id: string, subnet: CloudSubnet, signal: AbortSignal): Promise<void>;
  addRoute(id: string, route: CloudRoute, signal: AbortSignal): Promise<void>;
  removeRoute(id: string, route: CloudRoute, signal: AbortSignal): Promise<void>;
  setNetworkProtection(id: string, on: boolean, signal: AbortSignal): Promise<void>;
  deleteNetwork(id: string, signal: AbortSignal): Promise<void>;
}

export interface NewThing {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly mark: OwnMark;
}

/** A server that somebody wants, whole: made by one call, or found by its mark. */
export interface ServerIntent extends NewThing {
  readonly type: string;
  readonly image: string;
  readonly location: string;
  /** By name, like the firewalls. */
  readonly networks: readonly string[];
  readonly firewalls: readonly string[];
  /**
   * Where `capabilities.firewallsOnCards` says so: some firewall is for it, so it lets nothing in from its first moment on, until the
   * loop of that one has put rules on its cards.
   */
  readonly closed?: boolean | undefined;
  readonly sshKeys: readonly string[];
  readonly userData?: string | undefined;
  readonly publicAddresses: { readonly ipv4: boolean; readonly ipv6: boolean };
}

export interface EnsuredServer {
  readonly server: CloudServer;
  /** The provider's own work that is still going on; see `ComputeReader.work`. */
  readonly work: string | undefined;
  /** It was there already and carried our mark. */
  readonly found: boolean;
}

/**
 * The only ways to make and to remove a server. They are for pipelines, whose intent is recorded before the call; loops are given
 * a `ComputeWriter`, which has neither.
 */
export interface ComputeEngine extends ComputeWriter {
  /** A hard restart. It cannot be looked for, so it is ordered once. */
  resetServer(id: string, signal: AbortSignal): Promise<void>;
  /**
   * Looks by mark, and makes the server only where there is none. That its name is taken is answered by looking whose it is: ours
   * is success, anybody else's is refused.
   */
  ensureServer(intent: ServerIntent, signal: AbortSignal): Promise<EnsuredServer>;
  /** Removes the one server with this id, if it still carries the mark. What is gone is a success. */
  ensureServerGone(server: { readonly id: string; readonly mark: OwnMark }, signal: AbortSignal): Promise<void>;
}
