/** As much of the specs of cloud kinds as their panels show. */
interface Named {
  readonly name: string;
  readonly scope?: string;
}

export interface FirewallRule {
  readonly direction?: "in" | "out";
  readonly protocol: string;
  readonly port?: string;
  readonly cidrs: readonly string[];
  readonly description?: string;
}

export interface FirewallSpec {
  readonly account: string;
  readonly applies?: "named" | "scope";
  readonly rules: readonly FirewallRule[];
}

export interface CloudNetworkSpec {
  readonly range?: string;
  readonly subnets?: readonly { readonly range: string }[];
  readonly routes?: readonly { readonly destination: string; readonly gateway: string }[];
}

export interface HostSpec {
  readonly account: string;
  readonly type: string;
  readonly image: string;
  readonly location: string;
  readonly power?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly firewalls?: readonly Named[];
  readonly networks?: readonly Named[];
  readonly group?: string;
}

export type BalancerTarget =
  | { readonly host: string; readonly scope?: string; readonly private?: boolean }
  | { readonly labels: Readonly<Record<string, string>>; readonly private?: boolean }
  | { readonly ip: string };

export interface LoadBalancerSpec {
  readonly account: string;
  readonly type: string;
  readonly location: string;
  readonly algorithm?: string;
  readonly public?: boolean;
  readonly network?: Named;
  readonly services?: readonly {
    readonly protocol: string;
    readonly listenPort: number;
    readonly targetPort: number;
    readonly redirectHttp?: boolean;
    readonly sticky?: object;
    readonly check?: { readonly protocol?: string; readonly path?: string; readonly everySeconds?: number };
  }[];
  readonly targets?: readonly BalancerTarget[];
}

interface Threshold {
  readonly upAbove: number;
  readonly downBelow: number;
}

export interface ScalingGroupSpec {
  readonly mode?: "static" | "manual" | "metric";
  readonly min: number;
  readonly max: number;
  readonly desired?: number;
  readonly metrics?: { readonly cpuPercent?: Threshold; readonly networkMegabits?: Threshold };
  readonly cooldownSeconds?: number;
  readonly stepUp?: number;
  readonly maxStepDown?: number;
  readonly drainSeconds?: number;
  readonly victims?: string;
  readonly keepWindows?: readonly { readonly days: readonly string[]; readonly from: string; readonly to: string }[];
}

/** A server as it was seen. */
export interface SeenServer {
  readonly name: string;
  readonly power: string;
  readonly networks: Readonly<Record<string, string>>;
  readonly firewalls: readonly string[];
  readonly volumes: readonly string[];
  readonly reverseDns?: string;
  readonly protect: boolean;
  readonly addresses?: { readonly ipv4: readonly string[]; readonly ipv6: readonly string[] };
}
