import { z } from "zod";
import { actionBody, startAction } from "./actions.ts";
import { bodyOf, idOrNameSchema, idSchema, labelsSchema } from "./body.ts";
import { type Call, created, type HetznerRoute } from "./call.ts";
import { systemImage } from "./catalogue/images.ts";
import { isos } from "./catalogue/isos.ts";
import { datacenterNamed, findByIdOrName } from "./catalogue/locations.ts";
import { serverTypeNamed, serverTypes } from "./catalogue/server-types.ts";
import { actionRoute, requireRoom, shown } from "./collection.ts";
import { invalidInput, isProtected, refused } from "./errors.ts";
import { findBootable, images } from "./image.ts";
import type { Action, Image, Server } from "./rows.ts";
import { requireUnlocked, servers } from "./server.ts";

const own = (server: Server) => [{ id: server.id, type: "server" }];

/** An action whose change shows at once. */
function change(call: Call, server: Server, command: string, set: Partial<Server>): Action {
  requireUnlocked(call, server);
  return startAction(call, {
    command,
    resources: own(server),
    now: () => call.project.servers.put({ ...server, ...set }),
  });
}

function createImage(call: Call, server: Server) {
  const schema = z.object({
    description: z.string().optional(),
    type: z.enum(["snapshot", "backup"]).default("snapshot"),
    labels: labelsSchema.default({}),
  });
  const { type, labels, description } = bodyOf(call, schema);
  requireUnlocked(call, server);
  requireRoom(call, images);
  if (type === "backup" && server.backupWindow === undefined) {
    throw refused("invalid_input", "backups are not enabled for this server");
  }
  const base =
    server.image === undefined ? undefined : (systemImage(server.image) ?? call.project.images.get(server.image));
  const image: Image = {
    id: call.nextId(),
    createdMs: call.nowMs,
    labels,
    type,
    status: "creating",
    description: description ?? `${server.name} ${call.nowMs}`,
    diskGb: server.diskGb,
    imageGb: undefined,
    from: { id: server.id, name: server.name },
    boundTo: type === "backup" ? server.id : undefined,
    osFlavor: base?.osFlavor ?? "unknown",
    osVersion: base?.osVersion,
    architecture: serverTypeNamed(server.serverType).architecture,
    protection: { delete: false },
  };
  call.project.images.put(image);
  const action = startAction(call, {
    command: "create_image",
    resources: [...own(server), { id: image.id, type: "image" }],
    effects: [{ table: "images", id: image.id, set: { status: "available", imageGb: 2.3 } }],
    otherwise: [{ table: "images", id: image.id, set: undefined }],
  });
  return created({ image: shown(call, images, image.id), action: actionBody(action, call.nowMs) });
}

function rebuild(call: Call, server: Server) {
  const body = bodyOf(call, z.object({ image: idOrNameSchema, user_data: z.string().max(32_768).optional() }));
  if (server.protection.rebuild) throw isProtected("server rebuild");
  requireUnlocked(call, server);
  const image = findBootable(call, body.image, serverTypeNamed(server.serverType).architecture);
  if (image === undefined) throw invalidInput("image", "image not found");
  const action = startAction(call, {
    command: "rebuild_server",
    resources: own(server),
    now: () => call.project.servers.put({ ...server, status: "rebuilding", userData: body.user_data }),
    effects: [{ table: "servers", id: server.id, set: { status: "running", image: image.id } }],
  });
  const password = server.sshKeys.length === 0 ? call.random.text(20) : null;
  return created({ action: actionBody(action, call.nowMs), root_password: password });
}

function changeType(call: Call, server: Server): Action {
  const body = bodyOf(call, z.object({ server_type: idOrNameSchema, upgrade_disk: z.boolean() }));
  const type = findByIdOrName(serverTypes, body.server_type);
  const before = serverTypeNamed(server.serverType);
  const { location } = datacenterNamed(server.datacenter);
  if (type === undefined) throw invalidInput("server_type", "server type not found");
  requireUnlocked(call, server);
  if (server.status !== "off") throw refused("server_not_stopped", "the action requires a stopped server");
  const fits =
    type.name !== before.name &&
    type.architecture === before.architecture &&
    type.disk >= server.diskGb &&
    type.locations.some(({ name }) => name === location);
  if (!fits) throw refused("invalid_server_type", "the server type does not fit for the given server");
  return startAction(call, {
    command: "change_server_type",
    resources: own(server),
    now: () => call.project.servers.put({ ...server, status: "migrating" }),
    effects: [
      {
        table: "servers",
        id: server.id,
        set: { status: "off", serverType: type.name, diskGb: body.upgrade_disk ? type.disk : server.diskGb },
      },
    ],
  });
}

function enableRescue(call: Call, server: Server) {
  bodyOf(call, z.object({ type: z.literal("linux64").default("linux64"), ssh_keys: z.array(idSchema).default([]) }));
  const action = change(call, server, "enable_rescue", { rescue: true });
  return created({ action: actionBody(action, call.nowMs), root_password: call.random.text(20) });
}

export const serverDiskRoutes: readonly HetznerRoute[] = [
  actionRoute(servers, "create_image", createImage),
  actionRoute(servers, "rebuild", rebuild),
  actionRoute(servers, "change_type", changeType),
  actionRoute(servers, "enable_rescue", enableRescue),
  actionRoute(servers, "disable_rescue", (call, server) => change(call, server, "disable_rescue", { rescue: false })),
  actionRoute(servers, "enable_backup", (call, server) =>
    change(call, server, "enable_backup", { backupWindow: "22-02" }),
  ),
  actionRoute(servers, "disable_backup", (call, server) => {
    const action = change(call, server, "disable_backup", { backupWindow: undefined });
    for (const image of call.project.images.where("boundTo", server.id)) call.project.images.remove(image.id);
    return action;
  }),
  actionRoute(servers, "attach_iso", (call, server) => {
    const iso = findByIdOrName(isos, bodyOf(call, z.object({ iso: idOrNameSchema })).iso);
    if (iso === undefined) throw invalidInput("iso", "ISO not found");
    return change(call, server, "attach_iso", { iso: iso.id });
  }),
  actionRoute(servers, "detach_iso", (call, server) => change(call, server, "detach_iso", { iso: undefined })),
];
