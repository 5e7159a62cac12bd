import { z } from "zod";
import { TerminalError } from "../../kernel/errors.ts";
import type { CloudAddress, CloudServer, ComputeEngine, PowerState } from "../../ports/compute.ts";
import { act } from "./actions.ts";
import type { HetznerClient } from "./client.ts";
import { labelsFor, labelsShape, markOf, otherLabels } from "./labels.ts";
import { type Family, findById, requireOurs } from "./listing.ts";
import { networks } from "./networks.ts";

const serverShape = z.object({
  id: z.int(),
  name: z.string(),
  status: z.string(),
  server_type: z.object({ name: z.string() }),
  image: z.object({ id: z.int(), name: z.string().nullable() }).nullable(),
  datacenter: z.object({ location: z.object({ name: z.string() }) }).nullish(),
  location: z.object({ name: z.string() }).nullish(),
  labels: labelsShape,
  protection: z.object({ delete: z.boolean() }),
  volumes: z.array(z.int()).nullish(),
  private_net: z.array(z.object({ network: z.int(), ip: z.string() })),
  public_net: z.object({
    ipv4: z.object({ ip: z.string(), dns_ptr: z.string().nullish() }).nullable(),
    ipv6: z
      .object({ ip: z.string(), dns_ptr: z.array(z.object({ ip: z.string(), dns_ptr: z.string() })).nullish() })
      .nullable(),
    firewalls: z.array(z.object({ id: z.int(), status: z.string() })).nullish(),
  }),
});
export type RawServer = z.output<typeof serverShape>;

/** What a status means for who wants it on or off; the rest is on its way to one of the two. */
const powerOf: Readonly<Record<string, PowerState>> = { running: "on", off: "off" };

export const servers: Family<RawServer, CloudServer> = {
  collection: "servers",
  one: "server",
  key: "server",
  shape: serverShape,
  sorted: true,
  entry: (raw) => ({
    id: String(raw.id),
    name: raw.name,
    labels: otherLabels(raw.labels),
    mark: markOf(raw.labels),
    ...(raw.protection.delete ? { lockedBy: "delete protection of the server" } : {}),
    power: powerOf[raw.status] ?? "changing",
    type: raw.server_type.name,
    image: raw.image === null ? undefined : (raw.image.name ?? String(raw.image.id)),
    location: raw.location?.name ?? raw.datacenter?.location.name ?? "unknown",
    networks: raw.private_net.map(({ network, ip }) => ({ network: String(network), ip })),
    firewalls: (raw.public_net.firewalls ?? []).map(({ id }) => String(id)),
    volumes: (raw.volumes ?? []).map(String),
    addresses: addressesOf(raw.public_net),
    protected: raw.protection.delete,
  }),
};

function addressesOf({ ipv4, ipv6 }: RawServer["public_net"]): readonly CloudAddress[] {
  const found: CloudAddress[] = [];
  if (ipv4 !== null) found.push({ family: "ipv4", ip: ipv4.ip, name: ipv4.dns_ptr ?? undefined });
  if (ipv6 !== null) {
    found.push({ family: "ipv6", ip: ipv6.ip, name: undefined });
    for (const { ip, dns_ptr } of ipv6.dns_ptr ?? []) found.push({ family: "ipv6", ip, name: dns_ptr });
  }
  return found;
}

type ServerWriter = Pick<
  ComputeEngine,
  | "describeServer"
  | "setPower"
  | "setServerProtection"
  | "setReverseDns"
  | "resetServer"
  | "attachNetwork"
  | "detachNetwork"
>;

export function serverWriter(client: HetznerClient): ServerWriter {
  const action = (id: string, name: string, body: object | undefined, what: string) => ({
    method: "POST" as const,
    path: ["servers", id, "actions", name],
    body,
    what,
  });
  return {
    describeServer: async (id, { name, ...facts }, signal) => {
      const body = { name, labels: labelsFor(facts) };
      const what = `the change of name and labels of server ${id}`;
      await client.change({ method: "PUT", path: ["servers", id], body, what }, signal);
    },
    setPower: (id, power, signal) =>
      // Off is a hard stop: a pipeline that wants the machine to go down by itself asks it first.
      act(client, action(id, `power${power}`, undefined, `the power ${power} of server ${id}`), signal),
    setServerProtection: (id, on, signal) =>
      act(
        client,
        // Both or none: the API refuses one without the other.
        action(id, "change_protection", { delete: on, rebuild: on }, `the protection of server ${id}`),
        signal,
      ),
    setReverseDns: async (id, name, signal) => {
      const found = await findById(client, servers, id, signal);
      const ip = found === "absent" ? undefined : found.addresses.find(({ family }) => family === "ipv4")?.ip;
      if (ip === undefined)
        throw new TerminalError(
          "PROVIDER_REFUSED",
          `Server ${id} has no public IPv4 address to name: take spec.reverseDns out`,
        );
      const what = `the reverse DNS of ${ip}`;
      await act(client, action(id, "change_dns_ptr", { ip, dns_ptr: name }, what), signal);
    },
    resetServer: (id, signal) => act(client, action(id, "reset", undefined, `the reset of server ${id}`), signal),
    attachNetwork: async (id, { name, ip }, signal) => {
      const network = await requireOurs(client, networks, name, signal);
      const body = { network: Number(network.id), ...(ip === undefined ? {} : { ip }) };
      const what = `the attachment of server ${id} to network ${name}`;
      await act(client, action(id, "attach_to_network", body, what), signal, ["server_already_attached"]);
    },
    detachNetwork: async (id, name, signal) => {
      const network = await requireOurs(client, networks, name, signal);
      const what = `the detachment of server ${id} from network ${name}`;
      const body = { network: Number(network.id) };
      await act(client, action(id, "detach_from_network", body, what), signal, ["not_found"]);
    },
  };
}
