import { fail } from "node:assert/strict";
import type { Route } from "../../../src/control-api/route.ts";
import {
  manifests,
  organizationPath,
  type Place,
  projectPath,
  standingName,
  type Workshop,
  workspacePath,
  zone,
} from "./workshop.ts";

/** What a request says besides where it goes. */
export interface Filled {
  /** Values of the parameters that are not names of scopes. */
  readonly names?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

type Builder = (
  workshop: Workshop,
  place: Place,
  about: { readonly scope: string; readonly plural: string },
) => Promise<Filled>;

const nothing: Builder = async () => ({});
const withBody =
  (body: unknown): Builder =>
  async () => ({ body });
/** Let in by the door and refused right behind it: for what would change the caller, or everybody. */
const stopped: Filled = { query: "?unexpected=1" };
const anyRevision = { "if-match": "*" };

const manifest = (plural: string, name: string) =>
  manifests[plural]?.(name) ?? fail(`add a manifest of ${plural} to test/api/matrix/workshop.ts`);

async function declared(workshop: Workshop, scope: string, plural: string): Promise<string> {
  const name = workshop.fresh("made");
  await workshop.make("PUT", `${scope}/${plural}/${name}`, manifest(plural, name));
  return name;
}

const resources: Readonly<Record<string, Builder>> = {
  "GET /{kind}": nothing,
  "POST /{kind}": async (workshop, _place, { plural }) => ({ body: manifest(plural, workshop.fresh("new")) }),
  "PUT /{kind}/{name}": async (workshop, _place, { plural }) => {
    const name = workshop.fresh("put");
    return { names: { name }, body: manifest(plural, name) };
  },
  "PATCH /{kind}/{name}": async (workshop, _place, { plural }) => {
    const name = workshop.fresh("applied");
    const headers = { "content-type": "application/apply+json" };
    return { names: { name }, query: "?fieldManager=matrix", body: manifest(plural, name), headers };
  },
  "DELETE /{kind}/{name}": async (workshop, _place, { scope, plural }) => ({
    names: { name: await declared(workshop, scope, plural) },
    headers: anyRevision,
  }),
  "POST /{kind}/{name}:reconcile": standing,
  "POST /{kind}/{name}/operations": async (workshop, _place, { scope, plural }) => {
    const pipeline = ({ hosts: "host.create", computeproviders: "provider.onboard" } as Record<string, string>)[plural];
    return pipeline === undefined
      ? { names: { name: (await provisioned(workshop, scope)).name }, body: { pipeline: "dns-zone.create" } }
      : { names: { name: await declared(workshop, scope, plural) }, body: { pipeline } };
  },
  "POST /{kind}/{name}:rollback": async (workshop, _place, { scope, plural }) => ({
    names: { name: await declared(workshop, scope, plural) },
    body: { toRevision: 1 },
    headers: anyRevision,
  }),
};

/** A zone that Setpoint is to make, and the operation that was started with it. */
async function provisioned(workshop: Workshop, scope: string): Promise<{ readonly name: string; readonly id: string }> {
  const name = workshop.fresh("provisioned");
  const declaration = zone(name);
  const spec = { ...declaration.spec, makesZone: true, nameservers: ["ns1.example.test"] };
  await workshop.make("PUT", `${scope}/dnszones/${name}`, { ...declaration, spec });
  const { items } = (await workshop.make("GET", `${scope}/dnszones/${name}/operations`)).body as {
    readonly items: readonly { readonly id: string }[];
  };
  return { name, id: items[0]?.id ?? "" };
}

/** About an operation of the organization; nobody runs it here, so it does not wait for a person. */
const operating =
  (body?: object): Builder =>
  async (workshop, place) => ({
    names: { operation: (await provisioned(workshop, organizationPath(place))).id },
    ...(body === undefined ? {} : { body }),
  });

const operations: Readonly<Record<string, Builder>> = {
  "GET /operations/{operation}": operating(),
  "GET /operations/{operation}/steps": operating(),
  "POST /operations/{operation}:cancel": operating({ reason: "matrix" }),
  "POST /operations/{operation}:resume": operating({ reason: "matrix" }),
  "POST /operations/{operation}:retry": operating({ reason: "matrix", step: "zone" }),
  "POST /operations/{operation}:skip": operating({ reason: "matrix", step: "delegation" }),
  "POST /operations/{operation}:release": operating({ reason: "matrix" }),
};

/** About the resource that is always there. */
async function standing(_workshop: Workshop, _place: Place, { plural }: { readonly plural: string }): Promise<Filled> {
  return { names: { name: standingName(plural) } };
}

const rules = [{ key: "organization.project", actions: ["read"] }];
const token = { name: "matrix", expiresInDays: 1 };

const access: Readonly<Record<string, Builder>> = {
  "PUT /status": async () => ({ body: { verification: "verified", reason: "matrix" } }),
  "POST :submit": nothing,
  "POST :leave": async () => stopped,
  "DELETE ": nothing,
  "POST /projects": async (workshop) => ({ body: { name: workshop.fresh("project") } }),
  "POST /workspaces": async (workshop) => ({ body: { name: workshop.fresh("workspace") } }),
  "GET /members/{person}": async (workshop, place) => ({ names: { person: workshop.bystander(place).id } }),
  "POST /members/{person}:confirm": async (workshop, place) => ({ names: { person: workshop.bystander(place).id } }),
  "POST /members/{person}/bindings": async (workshop, place) => {
    const { id } = await workshop.member(place, `${workshop.fresh("new")}@${place.organization}.test`, []);
    return { names: { person: id }, body: { role: "auditor" } };
  },
  "DELETE /members/{person}/bindings/{binding}": async (workshop, place) => {
    const email = `${workshop.fresh("bound")}@${place.organization}.test`;
    const { id } = await workshop.member(place, email, [{ role: "auditor" }]);
    const { bindings } = (await workshop.make("GET", `${organizationPath(place)}/members/${id}`)).body as {
      bindings: { id: string }[];
    };
    return { names: { person: id, binding: bindings[0]?.id ?? "" } };
  },
  "DELETE /members/{person}": async (workshop, place) => {
    const { id } = await workshop.member(place, `${workshop.fresh("leaver")}@${place.organization}.test`, []);
    return { names: { person: id } };
  },
  "POST /invites": async (workshop) => ({ body: { email: `${workshop.fresh("guest")}@example.test` } }),
  "DELETE /invites/{invite}": async (workshop, place) => {
    const email = `${workshop.fresh("guest")}@${place.organization}.test`;
    return { names: { invite: await workshop.id("POST", `${organizationPath(place)}/invites`, { email }) } };
  },
  "GET /roles/{role}": async () => ({ names: { role: "reader" } }),
  "POST /roles": async (workshop) => ({ body: { name: workshop.fresh("role"), rules } }),
  "PUT /roles/{role}": async (workshop, place) => ({
    names: { role: await madeRole(workshop, place) },
    body: { rules },
  }),
  "DELETE /roles/{role}": async (workshop, place) => ({ names: { role: await madeRole(workshop, place) } }),
  "POST /tokens": withBody({ ...token, type: "service-token", access: [{ rules }] }),
  "DELETE /tokens/{token}": async (workshop, place) => {
    const body = { ...token, type: "service-token", access: [{ rules }] };
    return { names: { token: await workshop.id("POST", `${organizationPath(place)}/tokens`, body) } };
  },
  "POST /keys": withBody({ ...token, rules: [{ key: "project.dns_zone", actions: ["read"] }] }),
  "DELETE /keys/{token}": async (workshop, place) => {
    const body = { ...token, rules: [{ key: "project.dns_zone", actions: ["read"] }] };
    return { names: { token: await workshop.id("POST", `${workspacePath(place)}/keys`, body) } };
  },
  "POST /enrolment-tokens": withBody({ name: "matrix" }),
  "DELETE /enrolment-tokens/{token}": async (workshop, place) => {
    const path = `${workspacePath(place)}/enrolment-tokens`;
    return { names: { token: await workshop.id("POST", path, { name: "matrix" }) } };
  },
};

async function madeRole(workshop: Workshop, place: Place): Promise<string> {
  const name = workshop.fresh("role");
  await workshop.make("POST", `${organizationPath(place)}/roles`, { name, rules });
  return name;
}

const governing: Readonly<Record<string, Builder>> = {
  "POST /accounts": async (workshop) => ({
    body: { name: workshop.fresh("account"), provider: "powerdns", settings: { url: "http://127.0.0.1:8081" } },
  }),
  "POST /accounts/{account}:release": async (workshop, place) => {
    const account = workshop.fresh("pooled");
    const body = { name: account, provider: "hetzner-cloud", fromPool: true };
    await workshop.make("POST", `${organizationPath(place)}/accounts`, body);
    return { names: { account } };
  },
  "PUT /accounts/{account}/credential": async () => ({ names: { account: "lab" }, body: { write: "matrix" } }),
  "PUT /secrets/{secret}": async (workshop) => ({ names: { secret: workshop.fresh("secret") }, body: { value: "x" } }),
  "DELETE /secrets/{secret}": async (workshop, place) => {
    const secret = workshop.fresh("secret");
    await workshop.make("PUT", `${organizationPath(place)}/secrets/${secret}`, { value: "x" });
    return { names: { secret } };
  },
  "GET /held-changes/{id}": async (workshop, place) => ({ names: { id: (await held(workshop, place)).id } }),
  "POST /held-changes": async (workshop, place) => ({ body: await looser(workshop, place) }),
  "POST /held-changes/{id}:approve": async (workshop, place) => {
    const { id, digest } = await held(workshop, place);
    return { names: { id }, body: { digest } };
  },
  "POST /held-changes/{id}:reject": async (workshop, place) => ({
    names: { id: (await held(workshop, place)).id },
    body: { comment: "because" },
  }),
  "POST /held-changes/{id}:withdraw": async (workshop, place) => ({
    names: { id: (await held(workshop, place)).id },
    body: {},
  }),
  "POST /pauses": withBody({ on: "accounts/lab", reason: "matrix", forSeconds: 60 }),
  "DELETE /pauses/{id}": paused,
  "GET /pauses/{id}/preview": paused,
  "POST /pauses/{id}:extend": async (workshop, place) => ({
    ...(await paused(workshop, place)),
    body: { forSeconds: 7_200 },
  }),
  "PUT /policy": async () => ({ body: { limits: { changesPerCycle: 10 } }, headers: anyRevision }),
  "PUT /quotas/{kind}": async () => ({ names: { kind: "DnsZone" }, body: { limit: 1_000_000 } }),
  "GET /proposals/{id}": async (workshop, place) => ({ names: { id: (await proposed(workshop, place)).id } }),
  "POST /proposals": async (workshop, { project }) => ({
    body: { reason: "matrix", changes: [{ project, manifest: zone(workshop.fresh("proposed")) }] },
  }),
  "POST /proposals/{id}:approve": async (workshop, place) => {
    const { id, digest } = await proposed(workshop, place);
    return { names: { id }, body: { digest } };
  },
  "POST /proposals/{id}:reject": async (workshop, place) => {
    const { id, digest } = await proposed(workshop, place);
    return { names: { id }, body: { digest, comment: "because" } };
  },
  "POST /proposals/{id}:withdraw": async (workshop, place) => ({
    names: { id: (await proposed(workshop, place)).id },
    body: {},
  }),
  "POST /proposals/{id}:apply": async (workshop, place) => {
    const { id, digest } = await proposed(workshop, place);
    await workshop.make("POST", `${organizationPath(place)}/proposals/${id}:approve`, { digest });
    return { names: { id } };
  },
};

interface Waiting {
  readonly id: string;
  readonly digest: string;
}

/** A rule that was made strict, and asking to loosen it again. */
async function looser(workshop: Workshop, place: Place): Promise<object> {
  const project = workshop.fresh("strict");
  await workshop.make("POST", `${organizationPath(place)}/projects`, { name: project });
  await workshop.make("PUT", `${projectPath({ ...place, project })}/policy`, { mode: "observe" });
  return {
    type: "policy",
    on: `projects/${project}`,
    policy: { mode: "enforce" },
    reason: `for ${place.organization}`,
  };
}

async function held(workshop: Workshop, place: Place): Promise<Waiting> {
  const body = await looser(workshop, place);
  return (await workshop.make("POST", `${organizationPath(place)}/held-changes`, body)).body as unknown as Waiting;
}

async function paused(workshop: Workshop, place: Place): Promise<Filled> {
  const body = { on: "accounts/lab", reason: `for ${place.organization}` };
  return { names: { id: await workshop.id("POST", `${organizationPath(place)}/pauses`, body) } };
}

async function proposed(workshop: Workshop, place: Place): Promise<Waiting> {
  const changes = [{ project: place.project, manifest: zone(workshop.fresh("proposed")) }];
  const body = { reason: `for ${place.organization}`, changes };
  return (await workshop.make("POST", `${organizationPath(place)}/proposals`, body)).body as unknown as Waiting;
}

const telling: Readonly<Record<string, Builder>> = {
  // Goes on for ever: whoever is let in is stopped right behind the door.
  "GET /changes": async () => stopped,
  "POST /webhooks": withBody({ url: "https://hooks.example.com/matrix" }),
  "GET /webhooks/{id}": hooked,
  "GET /webhooks/{id}/deliveries": hooked,
  "PUT /webhooks/{id}": async (workshop, place) => ({
    ...(await hooked(workshop, place)),
    body: { url: "https://hooks.example.com/other", events: ["*"], description: "", state: "disabled" },
  }),
  "DELETE /webhooks/{id}": hooked,
  "POST /webhooks/{id}:rotate": hooked,
  "POST /webhooks/{id}:test": hooked,
  "POST /webhooks/{id}/deliveries/{delivery}:replay": async (workshop, place) => {
    const { names } = await hooked(workshop, place);
    const path = `${organizationPath(place)}/webhooks/${names.id}`;
    return { names: { ...names, delivery: String((await workshop.make("POST", `${path}:test`)).body["delivery"]) } };
  },
  "PUT /notification-emails": withBody({ addresses: ["matrix@example.test"] }),
};

const hooks = new WeakMap<Workshop, Map<string, string>>();

/** One webhook per place for all: an organization has few of them. */
async function hooked(workshop: Workshop, place: Place): Promise<{ readonly names: { readonly id: string } }> {
  const known = hooks.get(workshop) ?? new Map<string, string>();
  hooks.set(workshop, known);
  const path = `${organizationPath(place)}/webhooks`;
  const id = known.get(place.organization);
  if (id !== undefined && (await workshop.api.send("GET", `${path}/${id}`)).status === 200) return { names: { id } };
  const body = { url: "https://hooks.example.com/made", description: `for ${place.organization}` };
  const { webhook } = (await workshop.make("POST", path, body)).body as { webhook: { id: string } };
  known.set(place.organization, webhook.id);
  return { names: { id: webhook.id } };
}

const builders: Readonly<Record<string, Builder>> = {
  ...resources,
  ...operations,
  ...access,
  ...governing,
  ...telling,
};

const scopePrefix =
  /^\/v1\/organizations\/\{organization\}(?:\/projects\/\{project\}(?:\/workspaces\/\{workspace\})?)?(?=$|[/:])/;

/** A request that whoever may do this succeeds with; where it would change the caller or everybody, one that stops short. */
export async function fill(workshop: Workshop, route: Route, place: Place): Promise<Filled> {
  const prefix = scopePrefix.exec(route.path)?.[0];
  if (prefix === undefined) return route.method === "GET" ? ofPlatform(workshop, route) : stoppedAt(route);
  const rest = route.path.slice(prefix.length);
  const [, first = ""] = rest.split(/[/:]/);
  const plural = manifests[first] === undefined ? "" : first;
  const key = `${route.method} ${plural === "" ? rest : rest.replace(plural, "{kind}")}`;
  const scope = prefix.includes("{workspace}")
    ? workspacePath(place)
    : prefix.includes("{project}")
      ? projectPath(place)
      : organizationPath(place);
  const builder = builders[key] ?? (route.method === "GET" ? (plural === "" ? nothing : standing) : undefined);
  if (builder === undefined)
    throw new Error(`${key} needs a request that succeeds: add it to test/api/matrix/requests.ts`);
  return builder(workshop, place, { scope, plural });
}

async function ofPlatform(workshop: Workshop, { path }: Route): Promise<Filled> {
  if (path === "/v1/access/explain") return { query: "?permission=platform.freeze&action=create" };
  const [person] = workshop.bystanders.values();
  return path.includes("{id}") ? { names: { id: person?.id ?? "" } } : {};
}

function stoppedAt({ path }: Route): Filled {
  const names = Object.fromEntries([...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => [name, absentId]));
  return { ...stopped, names };
}

export const absentId = "01a1e241-0000-7000-8000-000000000000";

/** The address of a filled request. */
export function urlOf(route: Route, place: Place, { names = {}, query = "" }: Filled): string {
  const values: Readonly<Record<string, string>> = { ...place, ...names };
  return (
    route.path.replace(/\{(\w+)\}/g, (_match, name: string) => encodeURIComponent(values[name] ?? absentId)) + query
  );
}
