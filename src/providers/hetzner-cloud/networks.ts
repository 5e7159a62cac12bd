import { z } from "zod";
import type { CloudNetwork, ComputeWriter } from "../../ports/compute.ts";
import { act } from "./actions.ts";
import type { HetznerClient } from "./client.ts";
import { labelsFor, labelsShape, markOf, otherLabels } from "./labels.ts";
import type { Family } from "./listing.ts";

const networkShape = z.object({
  id: z.int(),
  name: z.string(),
  ip_range: z.string(),
  labels: labelsShape,
  subnets: z.array(z.object({ ip_range: z.string(), network_zone: z.string(), type: z.string() })),
  routes: z.array(z.object({ destination: z.string(), gateway: z.string() })),
  servers: z.array(z.int()),
  protection: z.object({ delete: z.boolean() }),
});

export const networks: Family<z.output<typeof networkShape>, CloudNetwork> = {
  collection: "networks",
  one: "network",
  key: "network",
  shape: networkShape,
  sorted: true,
  entry: (raw) => ({
    id: String(raw.id),
    name: raw.name,
    labels: otherLabels(raw.labels),
    mark: markOf(raw.labels),
    ...(raw.protection.delete ? { lockedBy: "delete protection of the network" } : {}),
    range: raw.ip_range,
    // Of the other types nothing is declared here, so they are nobody's subnets to compare.
    subnets: raw.subnets
      .filter(({ type }) => type === "cloud" || type === "server")
      .map(({ ip_range: range, network_zone: zone }) => ({ range, zone })),
    routes: raw.routes.map(({ destination, gateway }) => ({ destination, gateway })),
    servers: raw.servers.map(String),
    protected: raw.protection.delete,
  }),
};

const madeShape = z.object({ network: z.object({ id: z.int() }) });

type NetworkWriter = Pick<
  ComputeWriter,
  | "createNetwork"
  | "describeNetwork"
  | "setNetworkRange"
  | "addSubnet"
  | "removeSubnet"
  | "addRoute"
  | "removeRoute"
  | "setNetworkProtection"
  | "deleteNetwork"
>;

export function networkWriter(client: HetznerClient): NetworkWriter {
  const doing = (id: string, name: string, body: object, signal: AbortSignal, accept: readonly string[] = []) =>
    act(
      client,
      {
        method: "POST",
        path: ["networks", id, "actions", name],
        body,
        what: `${name.replaceAll("_", " ")} of network ${id}`,
      },
      signal,
      accept,
    );
  return {
    createNetwork: async ({ name, range, subnets, routes, ...facts }, signal) => {
      const body = {
        name,
        ip_range: range,
        labels: labelsFor(facts),
        subnets: subnets.map((subnet) => ({ type: "cloud", ip_range: subnet.range, network_zone: subnet.zone })),
        routes,
      };
      const call = { method: "POST" as const, path: ["networks"], body, what: `the creation of network ${name}` };
      const { network } = await client.write(madeShape, call, signal);
      return { id: String(network.id) };
    },
    describeNetwork: async (id, { name, ...facts }, signal) => {
      const what = `the change of name and labels of network ${id}`;
      await client.change(
        { method: "PUT", path: ["networks", id], body: { name, labels: labelsFor(facts) }, what },
        signal,
      );
    },
    setNetworkRange: (id, range, signal) => doing(id, "change_ip_range", { ip_range: range }, signal),
    addSubnet: (id, { range, zone }, signal) =>
      doing(id, "add_subnet", { type: "cloud", ip_range: range, network_zone: zone }, signal),
    removeSubnet: (id, { range }, signal) => doing(id, "delete_subnet", { ip_range: range }, signal, ["not_found"]),
    addRoute: (id, route, signal) => doing(id, "add_route", route, signal),
    removeRoute: (id, route, signal) => doing(id, "delete_route", route, signal, ["not_found"]),
    setNetworkProtection: (id, on, signal) => doing(id, "change_protection", { delete: on }, signal),
    deleteNetwork: async (id, signal) => {
      await client.change({ method: "DELETE", path: ["networks", id], what: `the deletion of network ${id}` }, signal, [
        "not_found",
      ]);
    },
  };
}
