import { z } from "zod";
import { actionBody } from "./actions.ts";
import { bodyOf, labelsSchema } from "./body.ts";
import { type Call, created, type HetznerRoute, ok } from "./call.ts";
import { notFound, refused } from "./errors.ts";
import { pageOf, selected, sorted, viewOf } from "./pages.ts";
import type { Action, DnsRecord, RrSet, Zone } from "./rows.ts";
import {
  checkedSet,
  recordsSchema,
  rrSetBody,
  rrSetOf,
  rrSetSchema,
  ttlSchema,
  typeSchema,
  withSet,
} from "./zone-records.ts";
import { changeZone, primaryZoneOf } from "./zone.ts";

const list = "/zones/{id_or_name}/rrsets";
const one = `${list}/{rr_name}/{rr_type}`;
const mostRrSetsPerPage = 100;

function findSet(call: Call, zone: Zone): RrSet | undefined {
  const [name, type] = [(call.params["rr_name"] ?? "").toLowerCase(), call.params["rr_type"]];
  return zone.rrsets.find((set) => set.name === name && set.type === type);
}

function setOf(call: Call, zone: Zone): RrSet {
  const set = findSet(call, zone);
  if (set === undefined) throw notFound("RRSet", `${call.params["rr_name"] ?? ""}/${call.params["rr_type"] ?? ""}`);
  return set;
}

function requireChangeable(set: RrSet): void {
  if (set.isProtected) throw refused("protected", "RRSet is change protected", 423);
}

/** The zone with this set in the place of that one; without it, where there is none. */
function replaced(zone: Zone, before: RrSet, after: RrSet | undefined): Zone {
  const rrsets = zone.rrsets.flatMap((set) => (set === before ? (after ?? []) : set));
  return { ...zone, rrsets };
}

function listSets(call: Call) {
  const zone = primaryZoneOf(call);
  const view = viewOf(call).zones.get(zone.id)?.rrsets ?? [];
  const [names, types] = [call.query.getAll("name"), call.query.getAll("type")];
  const picked = selected(
    call.query.get("label_selector"),
    () => view,
    () => view,
  ).filter(
    (set) => (names.length === 0 || names.includes(set.name)) && (types.length === 0 || types.includes(set.type)),
  );
  const fields = {
    id: (set: RrSet) => `${set.name}/${set.type}`,
    name: (set: RrSet) => set.name,
    created: () => zone.createdMs,
  };
  const page = pageOf(call, sorted(call, picked, fields), mostRrSetsPerPage);
  return ok({ rrsets: page.rows.map((set) => rrSetBody(zone, set)), meta: page.meta });
}

function createSet(call: Call) {
  const zone = primaryZoneOf(call);
  const set = rrSetOf(bodyOf(call, rrSetSchema));
  const action = changeZone(call, zone, "create_rrset", withSet(zone, set));
  return created({ rrset: rrSetBody(zone, set), action: actionBody(action, call.nowMs) });
}

/** An action on a set that is there. */
function setAction(verb: string, change: (call: Call, zone: Zone, set: RrSet) => Action, status = 201): HetznerRoute {
  return {
    method: "POST",
    path: `${one}/actions/${verb}`,
    answer: (call) => {
      const zone = primaryZoneOf(call);
      const action = change(call, zone, setOf(call, zone));
      return { status, body: { action: actionBody(action, call.nowMs) } };
    },
  };
}

function recordsOf(call: Call): readonly DnsRecord[] {
  const { records } = bodyOf(call, z.object({ records: recordsSchema }));
  return records.map(({ value, comment }) => ({ value, comment }));
}

/** A set that does not exist yet is made. */
function addRecords(call: Call) {
  const zone = primaryZoneOf(call);
  const before = findSet(call, zone);
  const { ttl } = bodyOf(call, z.object({ ttl: ttlSchema.nullish() }));
  const records = recordsOf(call);
  if (before !== undefined) requireChangeable(before);
  const type = typeSchema.safeParse(call.params["rr_type"]);
  if (!type.success) throw notFound("RRSet", call.params["rr_type"] ?? "");
  const own = { name: (call.params["rr_name"] ?? "").toLowerCase(), type: type.data, labels: {}, isProtected: false };
  const next =
    before === undefined
      ? withSet(zone, checkedSet({ ...own, ttl: ttl ?? undefined, records }))
      : replaced(zone, before, checkedSet({ ...before, records: [...before.records, ...records] }));
  return created({ action: actionBody(changeZone(call, zone, "add_records", next), call.nowMs) });
}

function removeRecords(call: Call, zone: Zone, set: RrSet): Action {
  requireChangeable(set);
  const gone = new Set(recordsOf(call).map(({ value }) => value));
  const records = set.records.filter(({ value }) => !gone.has(value));
  if (set.records.length - records.length < gone.size) throw refused("not_found", "record not found", 404);
  const after = records.length === 0 ? undefined : { ...set, records };
  return changeZone(call, zone, "remove_records", replaced(zone, set, after));
}

function updateComments(call: Call, zone: Zone, set: RrSet): Action {
  requireChangeable(set);
  const comments = new Map(recordsOf(call).map(({ value, comment }) => [value, comment]));
  const records = set.records.map((record) =>
    comments.has(record.value) ? { ...record, comment: comments.get(record.value) } : record,
  );
  return changeZone(call, zone, "update_records", replaced(zone, set, { ...set, records }));
}

export const rrSetRoutes: readonly HetznerRoute[] = [
  { method: "GET", path: list, answer: listSets },
  { method: "POST", path: list, answer: createSet },
  {
    method: "GET",
    path: one,
    answer: (call) => {
      const zone = primaryZoneOf(call);
      return ok({ rrset: rrSetBody(zone, setOf(call, zone)) });
    },
  },
  {
    method: "PUT",
    path: one,
    answer: (call) => {
      const zone = primaryZoneOf(call);
      const set = setOf(call, zone);
      const after = {
        ...set,
        labels: bodyOf(call, z.object({ labels: labelsSchema.optional() })).labels ?? set.labels,
      };
      call.project.zones.put(replaced(zone, set, after));
      return ok({ rrset: rrSetBody(zone, after) });
    },
  },
  {
    method: "DELETE",
    path: one,
    answer: (call) => {
      const zone = primaryZoneOf(call);
      const set = setOf(call, zone);
      requireChangeable(set);
      const action = changeZone(call, zone, "delete_rrset", replaced(zone, set, undefined));
      return created({ action: actionBody(action, call.nowMs) });
    },
  },
  { method: "POST", path: `${one}/actions/add_records`, answer: addRecords },
  setAction("remove_records", removeRecords),
  setAction("update_records", updateComments, 200),
  setAction("set_records", (call, zone, set) => {
    requireChangeable(set);
    return changeZone(call, zone, "set_records", replaced(zone, set, checkedSet({ ...set, records: recordsOf(call) })));
  }),
  setAction("change_ttl", (call, zone, set) => {
    requireChangeable(set);
    const { ttl } = bodyOf(call, z.object({ ttl: ttlSchema.nullable() }));
    return changeZone(call, zone, "change_rrset_ttl", replaced(zone, set, { ...set, ttl: ttl ?? undefined }));
  }),
  setAction("change_protection", (call, zone, set) => {
    const { change } = bodyOf(call, z.object({ change: z.boolean() }));
    return changeZone(call, zone, "change_protection", replaced(zone, set, { ...set, isProtected: change }));
  }),
];
