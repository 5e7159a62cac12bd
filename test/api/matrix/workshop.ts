import type { Answer, TestApi } from "../../support/api.ts";
import { type TestPerson, signedIn } from "../../support/people.ts";

/** Where a request points to. */
export interface Place {
  readonly organization: string;
  readonly project: string;
  readonly workspace: string;
}

export const ours: Place = { organization: "ours", project: "web", workspace: "live" };
export const sibling: Place = { ...ours, project: "shop" };
/** Its name is in every scope, e-mail and reason of it, so that anything of it that shows up elsewhere is noticed. */
export const theirs: Place = { organization: "canary-of-theirs", project: "web", workspace: "live" };
export const nowhere: Place = { organization: "nowhere-at-all", project: "web", workspace: "live" };

export const projectPath = ({ organization, project }: Place) =>
  `/v1/organizations/${organization}/projects/${project}`;
export const workspacePath = (place: Place) => `${projectPath(place)}/workspaces/${place.workspace}`;
export const organizationPath = ({ organization }: Place) => `/v1/organizations/${organization}`;

/** Makes what requests are about, as the operator of the machine. */
export class Workshop {
  readonly api: TestApi;
  readonly bystanders = new Map<string, TestPerson>();
  #count = 0;

  constructor(api: TestApi) {
    this.api = api;
  }

  /** A name nobody has used. */
  fresh(word: string): string {
    return `${word}-${++this.#count}`;
  }

  async make(
    method: Parameters<TestApi["send"]>[0],
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer> {
    const answer = await this.api.send(method, path, body, headers);
    if (answer.status < 200 || answer.status > 299)
      throw new Error(`Preparing ${method} ${path} was answered with ${JSON.stringify(answer.body)}`);
    return answer;
  }

  async id(method: Parameters<TestApi["send"]>[0], path: string, body?: unknown): Promise<string> {
    return String((await this.make(method, path, body)).body["id"]);
  }

  bystander({ organization }: Place): TestPerson {
    const person = this.bystanders.get(organization);
    if (person === undefined) throw new Error(`Nobody stands by in ${organization}`);
    return person;
  }

  async member({ organization }: Place, email: string, bindings: readonly object[]): Promise<TestPerson> {
    const person = await signedIn(this.api, email);
    const { secret } = (await this.make("POST", `/v1/organizations/${organization}/invites`, { email, bindings }))
      .body as { secret: string };
    const accepted = await person.send("POST", "/v1/invites/accept", { secret });
    if (accepted.status !== 200) throw new Error(`${email} could not join: ${JSON.stringify(accepted.body)}`);
    return person;
  }
}

export function zone(name: string) {
  const spec = { account: "lab", zone: `${name}.test` };
  return { apiVersion: "setpoint/v1", kind: "DnsZone", metadata: { name, mode: "observe" }, spec };
}

function record(name: string) {
  const spec = { zone: "zone", name, type: "A", values: ["192.0.2.1"] };
  return { apiVersion: "setpoint/v1", kind: "DnsRecord", metadata: { name }, spec };
}

function firewall(name: string) {
  const rules = [{ protocol: "tcp", port: "443", cidrs: ["0.0.0.0/0"] }];
  return { apiVersion: "setpoint/v1", kind: "Firewall", metadata: { name }, spec: { account: "cloud", rules } };
}

function cloudNetwork(name: string) {
  const spec = { account: "cloud", range: "10.0.0.0/16" };
  return { apiVersion: "setpoint/v1", kind: "CloudNetwork", metadata: { name }, spec };
}

function computeProfile(name: string) {
  return {
    apiVersion: "setpoint/v1",
    kind: "ComputeProfile",
    metadata: { name },
    spec: { account: "cloud", type: "cx22" },
  };
}

function computeProvider(name: string) {
  const spec = { account: "cloud", family: "hetzner-cloud" };
  return { apiVersion: "setpoint/v1", kind: "ComputeProvider", metadata: { name, mode: "observe" }, spec };
}

function host(name: string) {
  const spec = { account: "cloud", type: "cx22", image: "debian-12", location: "fsn1" };
  return { apiVersion: "setpoint/v1", kind: "Host", metadata: { name }, spec };
}

function loadBalancer(name: string) {
  const spec = { account: "cloud", type: "lb11", location: "fsn1" };
  return { apiVersion: "setpoint/v1", kind: "LoadBalancer", metadata: { name }, spec };
}

function scalingGroup(name: string) {
  const template = { type: "cx22", image: "debian-12", location: "fsn1" };
  const spec = { account: "cloud", mode: "static", min: 0, max: 3, desired: 1, template };
  return { apiVersion: "setpoint/v1", kind: "ScalingGroup", metadata: { name }, spec };
}

/** A resource of each kind that its schema takes, by the plural of the kind. */
export const manifests: Readonly<Record<string, (name: string) => object>> = {
  dnszones: zone,
  dnsrecords: record,
  firewalls: firewall,
  cloudnetworks: cloudNetwork,
  computeprofiles: computeProfile,
  computeproviders: computeProvider,
  hosts: host,
  loadbalancers: loadBalancer,
  scalinggroups: scalingGroup,
};
/** Kinds that do not live everywhere. */
const livesIn: Readonly<Record<string, readonly Scopes[]>> = {
  computeprofiles: ["organizations"],
  computeproviders: ["organizations"],
  firewalls: ["organizations", "workspaces"],
  cloudnetworks: ["organizations", "workspaces"],
  hosts: ["organizations", "workspaces"],
  loadbalancers: ["organizations", "workspaces"],
  scalinggroups: ["organizations", "workspaces"],
};
type Scopes = "organizations" | "projects" | "workspaces";

/** The one of each kind that is always there. Records name their zone, so it has a name of its own. */
export function standingName(plural: string): string {
  return plural === "dnszones" ? "zone" : plural === "dnsrecords" ? "record" : "standing";
}

/** The same things in each tenant: two projects with a workspace each, and something of every sort. */
export async function furnish(workshop: Workshop, place: Place): Promise<void> {
  const base = organizationPath(place);
  await workshop.make("POST", "/v1/organizations", { name: place.organization });
  const account = { name: "lab", provider: "powerdns", settings: { url: "http://127.0.0.1:8081" } };
  await workshop.make("POST", `${base}/accounts`, account);
  await workshop.make("POST", `${base}/accounts`, { name: "cloud", provider: "hetzner-cloud", settings: {} });
  for (const project of ["web", "shop"]) {
    const there = { ...place, project };
    await workshop.make("POST", `${base}/projects`, { name: project });
    await workshop.make("POST", `${projectPath(there)}/workspaces`, { name: place.workspace });
    await declareAll(workshop, projectPath(there), "projects");
    await declareAll(workshop, workspacePath(there), "workspaces");
  }
  await declareAll(workshop, base, "organizations");
  const rules = [
    { key: "organization", actions: ["read"] },
    { key: "organization.project", actions: ["read"] },
    { key: "project.dns_zone", actions: ["read"] },
  ];
  await workshop.make("POST", `${base}/roles`, { name: "reader", description: place.organization, rules });
  await workshop.make("PUT", `${base}/secrets/password`, { value: place.organization });
  await workshop.make("POST", `${base}/pauses`, { on: "accounts/lab", reason: `for ${place.organization}` });
  const access = [{ rules: [{ key: "organization.project", actions: ["read"] }] }];
  await workshop.make("POST", `${base}/tokens`, { type: "service-token", name: "standing", expiresInDays: 1, access });
  const bystander = await workshop.member(place, `bystander@${place.organization}.test`, [{ role: "billing" }]);
  workshop.bystanders.set(place.organization, bystander);
}

async function declareAll(workshop: Workshop, path: string, scopes: Scopes): Promise<void> {
  for (const [plural, manifest] of Object.entries(manifests)) {
    const name = standingName(plural);
    const lives = livesIn[plural]?.includes(scopes) ?? true;
    if (lives) await workshop.make("PUT", `${path}/${plural}/${name}`, manifest(name));
  }
}
