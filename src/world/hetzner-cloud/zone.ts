import { z } from "zod";
import { isoSecond } from "../../runtime/iso-second.ts";
import { actionRoutesOf } from "./action-routes.ts";
import { actionBody, startAction } from "./actions.ts";
import { bodyOf, labelsSchema } from "./body.ts";
import { type Call, created, type HetznerRoute, ok } from "./call.ts";
import { type Collection, createdText, listRoute, requireFreeName, requireRoom, shown } from "./collection.ts";
import { invalidInput, isProtected, notFound, refused } from "./errors.ts";
import type { Action, Zone } from "./rows.ts";
import {
  checkedSet,
  firstSets,
  nameservers,
  rrSetOf,
  rrSetSchema,
  setsOfFile,
  ttlSchema,
  withNewSerial,
  withSet,
  zoneFile,
} from "./zone-records.ts";

export const zones: Collection<"zones"> = {
  path: "zones",
  one: "zone",
  table: "zones",
  title: "zone",
  show: (zone, _view, call) => ({
    id: zone.id,
    name: zone.name,
    created: createdText(zone),
    mode: zone.mode,
    ttl: zone.ttl,
    labels: zone.labels,
    protection: zone.protection,
    status: "ok",
    record_count: zone.rrsets.reduce((sum, { records }) => sum + records.length, 0),
    registrar: "other",
    ...(zone.mode === "secondary" ? { primary_nameservers: zone.primaryNameservers } : {}),
    authoritative_nameservers: {
      assigned: nameservers,
      delegated: nameservers,
      delegation_last_check: isoSecond(call.nowMs),
      delegation_status: "valid",
    },
  }),
  filters: { mode: (zone, values) => values.includes(zone.mode) },
  choices: { mode: ["primary", "secondary"] },
};

/** Zones are named in a path by their id or their name. */
export function zoneOf(call: Call): Zone {
  const wanted = call.params["id_or_name"] ?? "";
  const zone = call.project.zones.get(Number(wanted)) ?? call.project.zones.where("name", wanted.toLowerCase())[0];
  if (zone === undefined) throw notFound("zone", wanted);
  return zone;
}

export function primaryZoneOf(call: Call): Zone {
  const zone = zoneOf(call);
  if (zone.mode !== "primary") throw refused("incorrect_zone_mode", "this operation needs a zone in primary mode");
  return zone;
}

/** An action whose change shows at once. */
export function changeZone(call: Call, zone: Zone, command: string, next: Zone): Action {
  return startAction(call, {
    command,
    resources: [{ id: zone.id, type: "zone" }],
    now: () => call.project.zones.put(withNewSerial(zone, next, call.nowMs)),
  });
}

const nameserverSchema = z.object({
  address: z.string().min(1),
  port: z.int().min(1).max(65_535).default(53),
  tsig_algorithm: z.enum(["hmac-md5", "hmac-sha1", "hmac-sha256"]).optional(),
  tsig_key: z.string().optional(),
});
const zoneName = /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}$/;
const createSchema = z.object({
  name: z.string().max(255).toLowerCase().regex(zoneName, "is not a valid zone name"),
  mode: z.enum(["primary", "secondary"]),
  ttl: ttlSchema.default(3_600),
  labels: labelsSchema.default({}),
  primary_nameservers: z.array(nameserverSchema).default([]),
  rrsets: z.array(rrSetSchema).default([]),
  zonefile: z.string().optional(),
});

function plainServers(list: readonly z.output<typeof nameserverSchema>[]): Zone["primaryNameservers"] {
  return list.map((each) => JSON.parse(JSON.stringify(each)) as Zone["primaryNameservers"][number]);
}

function createZone(call: Call) {
  const body = bodyOf(call, createSchema);
  requireFreeName(call, zones, body.name);
  requireRoom(call, zones);
  const { name, mode, labels } = body;
  if (mode === "secondary" && body.primary_nameservers.length === 0) {
    throw invalidInput("primary_nameservers", "is required for zones in secondary mode");
  }
  const file = body.zonefile === undefined ? undefined : setsOfFile({ name, ttl: body.ttl }, body.zonefile);
  const bare: Zone = {
    id: call.nextId(),
    name,
    labels,
    createdMs: call.nowMs,
    mode,
    ttl: file?.ttl ?? body.ttl,
    primaryNameservers: plainServers(body.primary_nameservers),
    protection: { delete: false },
    rrsets: mode === "primary" ? (file?.sets ?? firstSets(call.nowMs)) : [],
  };
  const zone = body.rrsets.reduce((left, set) => withSet(left, rrSetOf(set)), bare);
  call.project.zones.put(zone);
  const action = startAction(call, { command: "create_zone", resources: [{ id: zone.id, type: "zone" }] });
  return created({ zone: shown(call, zones, zone.id), action: actionBody(action, call.nowMs) });
}

function deleteZone(call: Call) {
  const zone = zoneOf(call);
  if (zone.protection.delete) throw isProtected("zone");
  const action = startAction(call, {
    command: "delete_zone",
    resources: [{ id: zone.id, type: "zone" }],
    now: () => call.project.zones.remove(zone.id),
  });
  return created({ action: actionBody(action, call.nowMs) });
}

function zoneAction(verb: string, change: (call: Call) => Action): HetznerRoute {
  return {
    method: "POST",
    path: `/zones/{id_or_name}/actions/${verb}`,
    answer: (call) => created({ action: actionBody(change(call), call.nowMs) }),
  };
}

function importFile(call: Call): Action {
  const zone = primaryZoneOf(call);
  const { ttl, sets } = setsOfFile(zone, bodyOf(call, z.object({ zonefile: z.string().min(1) })).zonefile);
  if (zone.rrsets.some((set) => set.isProtected)) throw refused("protected", "an RRSet is change protected", 423);
  return changeZone(call, zone, "import_zone", { ...zone, ttl, rrsets: sets.map(checkedSet) });
}

export const zoneRoutes: readonly HetznerRoute[] = [
  listRoute(zones),
  { method: "POST", path: "/zones", answer: createZone },
  {
    method: "GET",
    path: "/zones/{id_or_name}",
    answer: (call) => ok({ zone: shown(call, zones, zoneOf(call).id) }),
  },
  {
    method: "PUT",
    path: "/zones/{id_or_name}",
    answer: (call) => {
      const zone = zoneOf(call);
      const { labels = zone.labels } = bodyOf(call, z.object({ labels: labelsSchema.optional() }));
      call.project.zones.put({ ...zone, labels });
      return ok({ zone: shown(call, zones, zone.id) });
    },
  },
  { method: "DELETE", path: "/zones/{id_or_name}", answer: deleteZone },
  {
    method: "GET",
    path: "/zones/{id_or_name}/zonefile",
    answer: (call) => ok({ zonefile: zoneFile(primaryZoneOf(call)) }),
  },
  ...actionRoutesOf("zones", "zone", ["id_or_name", (call) => String(zoneOf(call).id)]),
  zoneAction("change_ttl", (call) => {
    const zone = primaryZoneOf(call);
    const { ttl } = bodyOf(call, z.object({ ttl: ttlSchema }));
    return changeZone(call, zone, "change_zone_ttl", { ...zone, ttl });
  }),
  zoneAction("change_protection", (call) => {
    const zone = zoneOf(call);
    const body = bodyOf(call, z.object({ delete: z.boolean().optional() }));
    const protection = { delete: body.delete ?? zone.protection.delete };
    return changeZone(call, zone, "change_protection", { ...zone, protection });
  }),
  zoneAction("change_primary_nameservers", (call) => {
    const zone = zoneOf(call);
    if (zone.mode !== "secondary")
      throw refused("incorrect_zone_mode", "this operation needs a zone in secondary mode");
    const body = bodyOf(call, z.object({ primary_nameservers: z.array(nameserverSchema).min(1) }));
    const primaryNameservers = plainServers(body.primary_nameservers);
    return changeZone(call, zone, "change_primary_nameservers", { ...zone, primaryNameservers });
  }),
  zoneAction("import_zonefile", importFile),
];
