import { z } from "zod";
import type {
  BalancerAlgorithm,
  BalancerTarget,
  CloudLoadBalancer,
  LoadBalancerWriter,
  NewLoadBalancer,
} from "../../ports/load-balancer.ts";
import { act } from "./actions.ts";
import { rawService, serviceOf, serviceShape } from "./balancer-service.ts";
import type { HetznerClient } from "./client.ts";
import { labelsFor, labelsShape, markOf, otherLabels } from "./labels.ts";
import { type Family, findByName, requireOurs } from "./listing.ts";
import { networks } from "./networks.ts";
import { servers } from "./servers.ts";

const balancerShape = z.object({
  id: z.int(),
  name: z.string(),
  labels: labelsShape,
  load_balancer_type: z.object({ name: z.string() }),
  location: z.object({ id: z.int(), name: z.string() }),
  algorithm: z.object({ type: z.enum(["round_robin", "least_connections"]) }),
  public_net: z.object({
    enabled: z.boolean(),
    ipv4: z.object({ ip: z.string().nullish() }).nullish(),
    ipv6: z.object({ ip: z.string().nullish() }).nullish(),
  }),
  private_net: z.array(z.object({ network: z.int().nullish(), ip: z.string().nullish() })),
  services: z.array(serviceShape),
  targets: z.array(
    z.object({
      type: z.enum(["server", "label_selector", "ip"]),
      server: z.object({ id: z.int() }).nullish(),
      label_selector: z.object({ selector: z.string() }).nullish(),
      ip: z.object({ ip: z.string() }).nullish(),
      use_private_ip: z.boolean().nullish(),
    }),
  ),
  protection: z.object({ delete: z.boolean() }),
});
type RawBalancer = z.output<typeof balancerShape>;

const algorithms: Readonly<Record<RawBalancer["algorithm"]["type"], BalancerAlgorithm>> = {
  round_robin: "round-robin",
  least_connections: "least-connections",
};
const rawAlgorithm = (algorithm: BalancerAlgorithm) => ({ type: algorithm.replaceAll("-", "_") });

export const loadBalancers: Family<RawBalancer, CloudLoadBalancer> = {
  collection: "load_balancers",
  one: "load balancer",
  key: "load_balancer",
  shape: balancerShape,
  sorted: true,
  entry: (raw) => ({
    id: String(raw.id),
    name: raw.name,
    labels: otherLabels(raw.labels),
    mark: markOf(raw.labels),
    ...(raw.protection.delete ? { lockedBy: "delete protection of the load balancer" } : {}),
    type: raw.load_balancer_type.name,
    location: raw.location.name,
    locationId: String(raw.location.id),
    algorithm: algorithms[raw.algorithm.type],
    public: raw.public_net.enabled,
    network: raw.private_net.flatMap(({ network, ip }) => (network ? [{ id: String(network), ip: ip ?? "" }] : []))[0],
    services: raw.services.map(serviceOf),
    targets: raw.targets.map(targetOf),
    addresses: [raw.public_net.ipv4?.ip, raw.public_net.ipv6?.ip].filter((ip) => typeof ip === "string"),
    protected: raw.protection.delete,
  }),
};

function targetOf(raw: RawBalancer["targets"][number]): BalancerTarget {
  const via = raw.use_private_ip ?? false;
  if (raw.type === "server") return { type: "server", value: String(raw.server?.id ?? ""), private: via };
  if (raw.type === "ip") return { type: "ip", value: raw.ip?.ip ?? "", private: false };
  return { type: "selector", value: raw.label_selector?.selector ?? "", private: via };
}

/** Which one is meant; how it is reached is said only when it is added. */
async function rawTarget(client: HetznerClient, { type, value }: BalancerTarget, signal: AbortSignal) {
  if (type === "ip") return { type, ip: { ip: value } };
  if (type === "selector") return { type: "label_selector", label_selector: { selector: value } };
  const id = type === "server" ? value : (await requireOurs(client, servers, value, signal)).id;
  return { type: "server", server: { id: Number(id) } };
}

const viaOf = ({ type, private: via }: BalancerTarget) => (type === "ip" ? {} : { use_private_ip: via });

const madeShape = z.object({ load_balancer: z.object({ id: z.int() }) });

async function createBalancer(client: HetznerClient, wanted: NewLoadBalancer, signal: AbortSignal) {
  const { name, network } = wanted;
  const services = [];
  for (const service of wanted.services) services.push(await rawService(client, service, signal));
  const targets = [];
  for (const target of wanted.targets) {
    const there = target.type !== "host" || (await findByName(client, servers, target.value, signal)) !== "absent";
    if (there) targets.push({ ...(await rawTarget(client, target, signal)), ...viaOf(target) });
  }
  const body = {
    name,
    labels: labelsFor(wanted),
    load_balancer_type: wanted.type,
    location: wanted.location,
    algorithm: rawAlgorithm(wanted.algorithm),
    public_interface: wanted.public,
    services,
    targets,
    ...(network === undefined ? {} : { network: Number((await requireOurs(client, networks, network, signal)).id) }),
  };
  const what = `the creation of load balancer ${name}`;
  // It is made over some time, which nobody waits for here: the next look sees it, or that it did not come to be.
  const { load_balancer: made } = await client.write(
    madeShape,
    { method: "POST", path: ["load_balancers"], body, what },
    signal,
  );
  return { id: String(made.id) };
}

export function loadBalancerWriter(client: HetznerClient): LoadBalancerWriter {
  const doing = (
    id: string,
    name: string,
    body: object | undefined,
    signal: AbortSignal,
    accept: readonly string[] = [],
  ) => {
    const what = `${name.replaceAll("_", " ")} of load balancer ${id}`;
    return act(client, { method: "POST", path: ["load_balancers", id, "actions", name], body, what }, signal, accept);
  };
  return {
    createLoadBalancer: (wanted, signal) => createBalancer(client, wanted, signal),
    describeLoadBalancer: async (id, { name, ...facts }, signal) => {
      const what = `the change of name and labels of load balancer ${id}`;
      const body = { name, labels: labelsFor(facts) };
      await client.change({ method: "PUT", path: ["load_balancers", id], body, what }, signal);
    },
    setBalancerType: (id, type, signal) => doing(id, "change_type", { load_balancer_type: type }, signal),
    setBalancerAlgorithm: (id, algorithm, signal) => doing(id, "change_algorithm", rawAlgorithm(algorithm), signal),
    setBalancerPublic: (id, on, signal) =>
      doing(id, `${on ? "enable" : "disable"}_public_interface`, undefined, signal),
    setBalancerProtection: (id, on, signal) => doing(id, "change_protection", { delete: on }, signal),
    attachBalancer: async (id, { name, ip }, signal) => {
      const network = Number((await requireOurs(client, networks, name, signal)).id);
      const body = { network, ...(ip === undefined ? {} : { ip }) };
      await doing(id, "attach_to_network", body, signal, ["load_balancer_already_attached"]);
    },
    detachBalancer: async (id, name, signal) => {
      const network = name.startsWith("#") ? name.slice(1) : (await requireOurs(client, networks, name, signal)).id;
      await doing(id, "detach_from_network", { network: Number(network) }, signal, ["not_found"]);
    },
    addService: async (id, service, signal) =>
      doing(id, "add_service", await rawService(client, service, signal), signal),
    updateService: async (id, service, signal) =>
      doing(id, "update_service", await rawService(client, service, signal), signal),
    removeService: (id, listenPort, signal) =>
      doing(id, "delete_service", { listen_port: listenPort }, signal, ["not_found"]),
    addTarget: async (id, target, signal) => {
      const body = { ...(await rawTarget(client, target, signal)), ...viaOf(target) };
      await doing(id, "add_target", body, signal, ["target_already_defined"]);
    },
    removeTarget: async (id, target, signal) =>
      doing(id, "remove_target", await rawTarget(client, target, signal), signal, ["not_found"]),
    deleteLoadBalancer: async (id, signal) => {
      const what = `the deletion of load balancer ${id}`;
      await client.change({ method: "DELETE", path: ["load_balancers", id], what }, signal, ["not_found"]);
    },
  };
}
