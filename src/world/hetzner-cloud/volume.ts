import { z } from "zod";
import { actionRoutesOf } from "./action-routes.ts";
import { actionBody, runningOn, startAction } from "./actions.ts";
import { bodyOf, idOrNameSchema, idSchema, labelsSchema, nameSchema } from "./body.ts";
import { type Call, created, type HetznerRoute } from "./call.ts";
import { datacenterNamed, findByIdOrName, locationNamed, locations } from "./catalogue/locations.ts";
import {
  actionRoute,
  type Collection,
  createdText,
  deleteRoute,
  getRoute,
  listRoute,
  protectionRoute,
  requireFreeName,
  requireRoom,
  shown,
  thingWithId,
  updateRoute,
} from "./collection.ts";
import { HetznerError, invalidInput, refused } from "./errors.ts";
import type { Action, Server, Volume } from "./rows.ts";
import { requireUnlocked, servers } from "./server.ts";

export const volumes: Collection<"volumes"> = {
  path: "volumes",
  one: "volume",
  table: "volumes",
  title: "volume",
  show: (volume) => ({
    id: volume.id,
    name: volume.name,
    status: volume.status,
    size: volume.sizeGb,
    location: locationNamed(volume.location),
    server: volume.server ?? null,
    linux_device: `/dev/disk/by-id/scsi-0HC_Volume_${volume.id}`,
    format: volume.format ?? null,
    protection: volume.protection,
    labels: volume.labels,
    created: createdText(volume),
  }),
  filters: { status: (volume, values) => values.includes(volume.status) },
  choices: { status: ["available", "creating"] },
};

const sizeSchema = z.int().min(10, "must be at least 10").max(10_240, "must be at most 10240");
const createSchema = z.object({
  name: nameSchema,
  size: sizeSchema,
  server: idSchema.optional(),
  location: idOrNameSchema.optional(),
  format: z.enum(["ext4", "xfs"]).optional(),
  automount: z.boolean().optional(),
  labels: labelsSchema.default({}),
});

function createVolume(call: Call) {
  const body = bodyOf(call, createSchema);
  requireFreeName(call, volumes, body.name);
  requireRoom(call, volumes);
  const server = body.server === undefined ? undefined : thingWithId(call, servers, body.server);
  const location = server === undefined ? whereOf(body.location) : datacenterNamed(server.datacenter).location;
  if (call.faults.strike("region-outage", (fault) => fault.location === location) !== undefined) {
    throw refused("no_space_left_in_location", "there is no volume space left in the given location", 412);
  }
  const volume = call.project.volumes.put({
    id: call.nextId(),
    name: body.name,
    labels: body.labels,
    createdMs: call.nowMs,
    status: "creating",
    sizeGb: body.size,
    location,
    server: undefined,
    format: body.format,
    protection: { delete: false },
  });
  const making = startAction(call, {
    command: "create_volume",
    resources: [{ id: volume.id, type: "volume" }],
    effects: [{ table: "volumes", id: volume.id, set: { status: "available" } }],
    otherwise: [{ table: "volumes", id: volume.id, set: undefined }],
  });
  const next = server === undefined ? [] : [attachTo(call, volume, server, making)];
  return created({
    volume: shown(call, volumes, volume.id),
    action: actionBody(making, call.nowMs),
    next_actions: next.map((action) => actionBody(action, call.nowMs)),
  });
}

function whereOf(location: string | undefined): string {
  const found = findByIdOrName(locations, location ?? "");
  if (found === undefined) throw invalidInput("location", "is needed, or a server");
  return found.name;
}

function attachTo(call: Call, volume: Volume, server: Server, after?: Action): Action {
  return startAction(call, {
    command: "attach_volume",
    resources: [
      { id: server.id, type: "server" },
      { id: volume.id, type: "volume" },
    ],
    ...(after === undefined ? {} : { after }),
    effects: [{ table: "volumes", id: volume.id, set: { server: server.id } }],
  });
}

function requireIdle(call: Call, volume: Volume): void {
  if (runningOn(call.project, "volume", volume.id).length === 0) return;
  throw new HetznerError(423, "locked", "volume is locked by a running action");
}

function attach(call: Call, volume: Volume): Action {
  const body = bodyOf(call, z.object({ server: idSchema, automount: z.boolean().optional() }));
  const server = thingWithId(call, servers, body.server);
  requireIdle(call, volume);
  if (volume.server !== undefined) throw refused("invalid_input", "volume is already attached");
  if (datacenterNamed(server.datacenter).location !== volume.location) {
    throw invalidInput("server", "must be in the volume's location");
  }
  requireUnlocked(call, server);
  return attachTo(call, volume, server);
}

function detach(call: Call, volume: Volume): Action {
  requireIdle(call, volume);
  const server = volume.server === undefined ? undefined : call.project.servers.get(volume.server);
  if (server === undefined) throw refused("invalid_input", "volume is not attached");
  return startAction(call, {
    command: "detach_volume",
    resources: [
      { id: server.id, type: "server" },
      { id: volume.id, type: "volume" },
    ],
    effects: [{ table: "volumes", id: volume.id, set: { server: null } }],
  });
}

function resize(call: Call, volume: Volume): Action {
  const { size } = bodyOf(call, z.object({ size: sizeSchema }));
  requireIdle(call, volume);
  if (size <= volume.sizeGb) throw invalidInput("size", "must be larger than it is");
  return startAction(call, {
    command: "resize_volume",
    resources: [{ id: volume.id, type: "volume" }],
    effects: [{ table: "volumes", id: volume.id, set: { sizeGb: size } }],
  });
}

export const volumeRoutes: readonly HetznerRoute[] = [
  listRoute(volumes),
  getRoute(volumes),
  { method: "POST", path: "/volumes", answer: createVolume },
  updateRoute(
    volumes,
    z.object({ name: nameSchema.optional(), labels: labelsSchema.optional() }),
    (volume, { name = volume.name, labels = volume.labels }) => ({ ...volume, name, labels }),
  ),
  deleteRoute(volumes, (call, volume) => {
    requireIdle(call, volume);
    if (volume.server !== undefined) throw refused("resource_in_use", "volume is still attached to a server", 423);
  }),
  ...actionRoutesOf("volumes", "volume"),
  actionRoute(volumes, "attach", attach),
  actionRoute(volumes, "detach", detach),
  actionRoute(volumes, "resize", resize),
  protectionRoute(volumes, z.object({ delete: z.boolean().optional() })),
];
