import { worldToken } from "../../world/account-book.ts";

/** What everything of the demo is called. */
export const demo = {
  organization: "demo",
  project: "shop",
  workspace: "production",
  account: "dns",
  zone: "shop",
  domain: "shop.example.",
  /** An account at each of the simulated clouds, and who it is there. */
  hetzner: "hetzner",
  ionos: "ionos",
  tenant: "shop",
  datacenter: "shop-frankfurt",
  /** The group that follows its load, and the role of its servers. */
  group: "api",
};

export const demoPath = `/v1/organizations/${demo.organization}`;
export const projectPath = `${demoPath}/projects/${demo.project}`;
export const workspacePath = `${projectPath}/workspaces/${demo.workspace}`;

/** Something to declare, and where. */
export interface Declaration {
  readonly path: string;
  readonly body: unknown;
}

export function declaration(path: string, kind: string, metadata: object, spec: object): Declaration {
  return { path, body: { apiVersion: "setpoint/v1", kind, metadata, spec } };
}

/** What the accounts of the demo name as their credentials. They open nothing that is worth a secret. */
export const demoCredentials = { SETPOINT_DEMO_KEY: "demo", SETPOINT_DEMO_TOKEN: worldToken(demo.tenant) };
