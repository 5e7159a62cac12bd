import { z } from "zod";
import { actionBody, startAction } from "./actions.ts";
import { bodyOf, idOrNameSchema, idSchema, labelsSchema, optionalIdSchema } from "./body.ts";
import { type Call, created, type HetznerRoute } from "./call.ts";
import { strikesCapacity } from "./catalogue-routes.ts";
import {
  type Datacenter,
  datacenterIn,
  datacenters,
  findByIdOrName,
  locationNamed,
  locations,
} from "./catalogue/locations.ts";
import { type ServerType, serverTypes } from "./catalogue/server-types.ts";
import { requireFreeName, requireRoom, shown, thingWithId } from "./collection.ts";
import { HetznerError, invalidInput, notFound, refused } from "./errors.ts";
import { firewalls } from "./firewall.ts";
import { type Bootable, findBootable } from "./image.ts";
import { assignAddress } from "./network-addresses.ts";
import { networks } from "./network.ts";
import { mostServersOfGroup, placementGroups } from "./placement-group.ts";
import { newPrimaryIp } from "./public-addresses.ts";
import type { Action, PrimaryIp, PrivateNet, Server } from "./rows.ts";
import { serverNameSchema, servers } from "./server.ts";

const createSchema = z.object({
  name: serverNameSchema,
  server_type: idOrNameSchema,
  image: idOrNameSchema,
  location: idOrNameSchema.optional(),
  datacenter: idOrNameSchema.optional(),
  start_after_create: z.boolean().default(true),
  labels: labelsSchema.default({}),
  ssh_keys: z.array(idOrNameSchema).default([]),
  volumes: z.array(idSchema).default([]),
  networks: z.array(idSchema).default([]),
  firewalls: z.array(z.object({ firewall: idSchema })).default([]),
  placement_group: idSchema.optional(),
  user_data: z.string().max(32_768, "is too long").optional(),
  automount: z.boolean().optional(),
  public_net: z
    .object({
      enable_ipv4: z.boolean().default(true),
      enable_ipv6: z.boolean().default(true),
      ipv4: optionalIdSchema,
      ipv6: optionalIdSchema,
    })
    .prefault({}),
});
type CreateBody = z.output<typeof createSchema>;

interface Parts {
  readonly type: ServerType;
  readonly image: Bootable;
  readonly datacenter: Datacenter;
  readonly sshKeys: readonly number[];
}

/** Everything is checked before the first thing is made. */
function createServer(call: Call) {
  const body = bodyOf(call, createSchema);
  const parts = partsOf(call, body);
  requireFreeName(call, servers, body.name);
  requireRoom(call, servers);
  requireCapacity(call, parts);
  checkAttachments(call, body, parts.datacenter);
  const server = makeServer(call, body, parts);
  const actions = createActions(call, server, body);
  const [first, ...next] = actions.map((action) => actionBody(action, call.nowMs));
  return created({
    server: shown(call, servers, server.id),
    action: first,
    next_actions: next,
    root_password: body.ssh_keys.length === 0 ? call.random.text(20) : null,
  });
}

function partsOf(call: Call, body: CreateBody): Parts {
  const type = findByIdOrName(serverTypes, body.server_type);
  if (type === undefined) throw invalidInput("server_type", "server type not found");
  const image = findBootable(call, body.image, type.architecture);
  if (image === undefined) throw invalidInput("image", "image not found");
  if (image.architecture !== type.architecture) throw invalidInput("image", "has another architecture than the type");
  if (image.diskGb > type.disk) throw invalidInput("image", "image disk is bigger than server type disk");
  const datacenter = whereOf(body, type);
  const sshKeys = body.ssh_keys.map((wanted) => {
    const key = call.project.sshKeys.get(Number(wanted)) ?? call.project.sshKeys.where("name", wanted)[0];
    if (key === undefined) throw invalidInput("ssh_keys", `SSH key '${wanted}' not found`);
    return key.id;
  });
  return { type, image, datacenter, sshKeys };
}

function whereOf(body: CreateBody, type: ServerType): Datacenter {
  if (body.location !== undefined && body.datacenter !== undefined) {
    throw invalidInput("location", "location and datacenter are mutually exclusive");
  }
  if (body.datacenter !== undefined) {
    const datacenter = findByIdOrName(datacenters, body.datacenter);
    if (datacenter === undefined) throw invalidInput("datacenter", "datacenter not found");
    return datacenter;
  }
  const name = body.location ?? type.locations[0]?.name ?? "";
  const location = findByIdOrName(locations, name);
  if (location === undefined) throw invalidInput("location", "location not found");
  return datacenterIn(location.name);
}

function requireCapacity(call: Call, { type, datacenter }: Parts): void {
  const isOffered = type.locations.some(({ name }) => name === datacenter.location);
  if (!isOffered) throw refused("invalid_input", `unsupported location for server type ${type.name}`);
  if (!strikesCapacity(call, datacenter.location, type.name)) return;
  throw new HetznerError(412, "resource_unavailable", `server location disabled or ${type.name} is out of capacity`);
}

function checkAttachments(call: Call, body: CreateBody, datacenter: Datacenter): void {
  for (const id of body.volumes) {
    const volume = call.project.volumes.get(id);
    if (volume === undefined) throw notFound("volume", id);
    if (volume.server !== undefined) throw refused("invalid_input", `volume ${id} is already attached`);
    if (volume.location !== datacenter.location) throw invalidInput("volumes", "must be in the server's location");
  }
  for (const { firewall } of body.firewalls) thingWithId(call, firewalls, firewall);
  const zone = locationNamed(datacenter.location).network_zone;
  for (const id of body.networks) assignAddress(call, thingWithId(call, networks, id), { zone });
  const { enable_ipv4, enable_ipv6, ipv4, ipv6 } = body.public_net;
  if (!enable_ipv4 && !enable_ipv6 && body.networks.length === 0) {
    throw refused("invalid_input", "a server needs at least one network interface");
  }
  if (ipv4 !== undefined) requirePrimaryIp(call, ipv4, "ipv4", datacenter);
  if (ipv6 !== undefined) requirePrimaryIp(call, ipv6, "ipv6", datacenter);
  if (body.placement_group === undefined) return;
  const group = thingWithId(call, placementGroups, body.placement_group);
  if (call.project.servers.where("placementGroup", group.id).length >= mostServersOfGroup) {
    throw refused("placement_error", "the placement group has no room for another server", 412);
  }
}

function requirePrimaryIp(call: Call, id: number, type: PrimaryIp["type"], datacenter: Datacenter): void {
  const ip = call.project.primaryIps.get(id);
  if (ip === undefined) throw notFound("primary IP", id);
  if (ip.server !== undefined) throw refused("primary_ip_assigned", "primary IP is already assigned");
  if (ip.type !== type) throw refused("primary_ip_version_mismatch", "primary IP has the wrong IP version");
  if (ip.datacenter !== datacenter.name) {
    throw refused("primary_ip_datacenter_mismatch", "primary IP is in a different datacenter");
  }
}

function makeServer(call: Call, body: CreateBody, { type, image, datacenter, sshKeys }: Parts): Server {
  const server = call.project.servers.put({
    id: call.nextId(),
    name: body.name,
    labels: body.labels,
    createdMs: call.nowMs,
    status: "initializing",
    serverType: type.name,
    diskGb: type.disk,
    image: image.id,
    datacenter: datacenter.name,
    iso: undefined,
    rescue: false,
    backupWindow: undefined,
    placementGroup: body.placement_group,
    privateNets: privateNets(call, body.networks, datacenter),
    protection: { delete: false, rebuild: false },
    userData: body.user_data,
    sshKeys,
  });
  givePrimaryIps(call, server, body.public_net);
  for (const { firewall } of body.firewalls) {
    const row = thingWithId(call, firewalls, firewall);
    call.project.firewalls.put({ ...row, servers: [...row.servers, server.id] });
  }
  return server;
}

export function privateNets(call: Call, ids: readonly number[], datacenter: Datacenter): readonly PrivateNet[] {
  const zone = locationNamed(datacenter.location).network_zone;
  return ids.map((id) => {
    const ip = assignAddress(call, thingWithId(call, networks, id), { zone });
    return { network: id, ip, aliasIps: [], macAddress: macAddress(call) };
  });
}

export function macAddress(call: Call): string {
  const pairs = Array.from({ length: 4 }, () => call.random.text(2, "0123456789abcdef"));
  return `86:00:${pairs.join(":")}`;
}

function givePrimaryIps(call: Call, server: Server, wanted: CreateBody["public_net"]): void {
  const give = (type: PrimaryIp["type"], isWanted: boolean, id: number | undefined) => {
    if (!isWanted) return;
    const own = id === undefined ? undefined : call.project.primaryIps.get(id);
    if (own !== undefined) {
      call.project.primaryIps.put({ ...own, server: server.id });
      return;
    }
    const name = `primary_ip-${call.random.text(8, "0123456789")}`;
    newPrimaryIp(call, { type, name, datacenter: server.datacenter, server: server.id, autoDelete: true, labels: {} });
  };
  give("ipv4", wanted.enable_ipv4, wanted.ipv4);
  give("ipv6", wanted.enable_ipv6, wanted.ipv6);
}

function createActions(call: Call, server: Server, body: CreateBody): readonly Action[] {
  const own = { id: server.id, type: "server" };
  const off = { table: "servers", id: server.id, set: { status: "off" } } as const;
  const isStarted = body.start_after_create;
  const first = startAction(call, {
    command: "create_server",
    resources: [own],
    effects: [isStarted ? { ...off, set: { status: "starting" } } : off],
    otherwise: [{ ...off, set: undefined }],
  });
  const starting = !isStarted
    ? []
    : [
        startAction(call, {
          command: "start_server",
          resources: [own],
          after: first,
          effects: [{ ...off, set: { status: "running" } }],
        }),
      ];
  const attaching = body.volumes.map((id) =>
    startAction(call, {
      command: "attach_volume",
      resources: [own, { id, type: "volume" }],
      after: first,
      effects: [{ table: "volumes", id, set: { server: server.id } }],
    }),
  );
  return [first, ...starting, ...attaching];
}

export const serverCreateRoute: HetznerRoute = { method: "POST", path: "/servers", answer: createServer };
