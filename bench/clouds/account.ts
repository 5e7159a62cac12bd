import type { CloudLab } from "../../test/support/cloud-lab.ts";

/** An account of a cloud, with what it takes to have many servers in it that are their hosts' already. */
export interface BenchAccount {
  readonly lab: CloudLab;
  /** Declared and made as anybody's; `isWeb`: in the network behind the load balancer. */
  makeHost(name: string, isWeb: boolean): Promise<void>;
  /** As `makeHost` declares it, without a server. */
  declareHost(name: string): Promise<void>;
  /** A server like that of the host `model`, for another host; the id that it has for the client. */
  copyServer(model: string, host: { readonly name: string; readonly uid: string }): string;
  declareNetwork(): Promise<void>;
  declareBalancer(): Promise<void>;
}

export const firewall = {
  account: "demo",
  applies: "scope",
  rules: [{ protocol: "tcp", port: "443", cidrs: ["0.0.0.0/0"] }],
};
