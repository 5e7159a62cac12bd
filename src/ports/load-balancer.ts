import type { CloudThing, NewThing } from "./compute.ts";

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

export interface LoadBalancerReader {
  loadBalancer(id: string, signal: AbortSignal): Promise<CloudLoadBalancer | "absent">;
  loadBalancerByName(name: string, signal: AbortSignal): Promise<CloudLoadBalancer | "absent">;
}

/** Each ends when the provider says that it is done, and can be repeated. */
export interface LoadBalancerWriter {
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
