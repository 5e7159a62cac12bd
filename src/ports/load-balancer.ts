import type { CloudThing, NewThing, OwnMark } from "./compute.ts";

/** What a kind may ask of a cloud's load balancers. Servers, networks and certificates go by their names when something is written. */

export interface BalancerCheck {
  readonly protocol: "tcp" | "http";
  readonly port: number;
  readonly everySeconds: number;
  readonly timeoutSeconds: number;
  readonly retries: number;
  /** Of HTTP alone. Statuses may hold question marks, such as `2??`. */
  readonly http?:
    | {
        readonly domain: string;
        readonly path: string;
        readonly response: string;
        readonly statuses: readonly string[];
        readonly tls: boolean;
      }
    | undefined;
}

/** What is listened to on one port. */
export interface BalancerService {
  readonly protocol: "tcp" | "http" | "https";
  readonly listenPort: number;
  readonly targetPort: number;
  readonly proxyProtocol: boolean;
  readonly redirectHttp: boolean;
  /** Sends a visitor to the target that answered before. */
  readonly sticky?: { readonly cookie: string; readonly lifetimeSeconds: number } | undefined;
  /** Names when written, ids when read. */
  readonly certificates: readonly string[];
  readonly check: BalancerCheck;
}

/** Where what is listened to goes: a server of Setpoint by its name, any other by its id, those with some labels, or an address. */
export interface BalancerTarget {
  readonly type: "host" | "server" | "selector" | "ip";
  readonly value: string;
  /** Reached by its address in the balancer's network. */
  readonly private: boolean;
}

export type BalancerAlgorithm = "round-robin" | "least-connections";

export interface CloudLoadBalancer extends CloudThing {
  readonly type: string;
  readonly location: string;
  /** That place by its id, as a declaration may name it too. */
  readonly locationId?: string | undefined;
  readonly algorithm: BalancerAlgorithm;
  readonly public: boolean;
  readonly network: { readonly id: string; readonly ip: string } | undefined;
  readonly services: readonly BalancerService[];
  readonly targets: readonly BalancerTarget[];
  readonly addresses: readonly string[];
  readonly protected: boolean;
}

export interface NewLoadBalancer extends NewThing {
  readonly type: string;
  readonly location: string;
  readonly algorithm: BalancerAlgorithm;
  readonly public: boolean;
  /** By name. */
  readonly network: string | undefined;
  readonly services: readonly BalancerService[];
  /** Hosts whose server is not there yet are left out: the next look adds them. */
  readonly targets: readonly BalancerTarget[];
}

/**
 * Where a load balancer is rules that forward to addresses in one network (`capabilities.balancerRules`). It listens on an address
 * that was reserved for it, which is a thing of its own: it is there before, and stays until somebody gives it back.
 */
export interface CloudForwarder extends CloudThing {
  readonly location: string;
  readonly locationId?: string | undefined;
  /** Ids of the network where visitors come in, and of the one where its targets are. */
  readonly listensIn: string;
  readonly forwardsIn: string;
  readonly addresses: readonly string[];
  readonly rules: readonly ForwardingRule[];
}

/** What is listened to on one port, and where that goes. */
export interface ForwardingRule {
  readonly listenPort: number;
  readonly protocol: string;
  readonly algorithm: string;
  /** How long, and how often, it is tried to reach a target. */
  readonly timeoutSeconds: number;
  readonly retries: number;
  /** By address. */
  readonly targets: Readonly<Record<string, ForwardingTarget>>;
  /** What it says beside that nobody here asks for, in words. */
  readonly odd?: string | undefined;
}

export interface ForwardingTarget {
  readonly port: number;
  readonly everySeconds: number;
  readonly odd?: string | undefined;
}

export interface NewForwarder extends Omit<NewThing, "labels"> {
  readonly location: string;
  /** The network of its targets, by name. */
  readonly network: string;
  readonly rules: readonly ForwardingRule[];
}

/** An address that is kept for whoever reserved it. */
export interface CloudReservedAddress extends CloudThing {
  /** The provider's region that it can be used in. */
  readonly region: string;
  readonly addresses: readonly string[];
  /** Who uses it, in words. */
  readonly usedBy: readonly string[];
}

export interface ForwarderReader {
  forwarder(id: string, signal: AbortSignal): Promise<CloudForwarder | "absent">;
  /** One of the name; Setpoint's before anybody else's. */
  forwarderByName(name: string, signal: AbortSignal): Promise<CloudForwarder | "absent">;
  reservedAddress(id: string, signal: AbortSignal): Promise<CloudReservedAddress | "absent">;
  /** What carries this mark, in this region. */
  markedAddress(mark: OwnMark, region: string, signal: AbortSignal): Promise<CloudReservedAddress | "absent">;
}

/** Each can be repeated. What takes longer than a call goes on behind it, and says so until it is done. */
export interface ForwarderWriter {
  /** On the address that was reserved with the same mark. */
  createForwarder(wanted: NewForwarder, signal: AbortSignal): Promise<{ readonly id: string }>;
  /** Its name, networks, address and rules: those that are wanted, and no others. */
  setForwarder(id: string, wanted: NewForwarder, signal: AbortSignal): Promise<void>;
  deleteForwarder(id: string, signal: AbortSignal): Promise<void>;
  reserveAddress(
    wanted: Omit<NewThing, "labels"> & { readonly region: string },
    signal: AbortSignal,
  ): Promise<{ readonly id: string }>;
  describeAddress(id: string, facts: Omit<NewThing, "labels">, signal: AbortSignal): Promise<void>;
  /** Only what carries the mark, and nobody uses. */
  releaseAddress(address: { readonly id: string; readonly mark: OwnMark }, signal: AbortSignal): Promise<void>;
}

export interface LoadBalancerReader extends Partial<ForwarderReader> {
  loadBalancer(id: string, signal: AbortSignal): Promise<CloudLoadBalancer | "absent">;
  loadBalancerByName(name: string, signal: AbortSignal): Promise<CloudLoadBalancer | "absent">;
}

/** Each ends when the provider says that it is done, and can be repeated. */
export interface LoadBalancerWriter extends Partial<ForwarderWriter> {
  createLoadBalancer(wanted: NewLoadBalancer, signal: AbortSignal): Promise<{ readonly id: string }>;
  describeLoadBalancer(id: string, facts: NewThing, signal: AbortSignal): Promise<void>;
  setBalancerType(id: string, type: string, signal: AbortSignal): Promise<void>;
  setBalancerAlgorithm(id: string, algorithm: BalancerAlgorithm, signal: AbortSignal): Promise<void>;
  setBalancerPublic(id: string, on: boolean, signal: AbortSignal): Promise<void>;
  setBalancerProtection(id: string, on: boolean, signal: AbortSignal): Promise<void>;
  attachBalancer(
    id: string,
    to: { readonly name: string; readonly ip?: string | undefined },
    signal: AbortSignal,
  ): Promise<void>;
  /** By the network's name; one that is not Setpoint's has none here, and goes by `#` and its id. */
  detachBalancer(id: string, network: string, signal: AbortSignal): Promise<void>;
  addService(id: string, service: BalancerService, signal: AbortSignal): Promise<void>;
  updateService(id: string, service: BalancerService, signal: AbortSignal): Promise<void>;
  removeService(id: string, listenPort: number, signal: AbortSignal): Promise<void>;
  addTarget(id: string, target: BalancerTarget, signal: AbortSignal): Promise<void>;
  removeTarget(id: string, target: BalancerTarget, signal: AbortSignal): Promise<void>;
  deleteLoadBalancer(id: string, signal: AbortSignal): Promise<void>;
}
