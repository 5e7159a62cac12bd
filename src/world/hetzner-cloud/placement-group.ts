import { z } from "zod";
import { bodyOf, labelsSchema, nameSchema } from "./body.ts";
import { type Call, created, type HetznerRoute } from "./call.ts";
import {
  type Collection,
  createdText,
  deleteRoute,
  getRoute,
  listRoute,
  requireFreeName,
  requireRoom,
  shown,
  updateRoute,
} from "./collection.ts";
import { refused } from "./errors.ts";
import type { ProjectView } from "./project.ts";
import type { PlacementGroup } from "./rows.ts";

/** How many servers can run on machines of their own. */
export const mostServersOfGroup = 10;

export const placementGroups: Collection<"placementGroups"> = {
  path: "placement_groups",
  one: "placement_group",
  table: "placementGroups",
  title: "placement group",
  show: placementGroupBody,
  filters: { type: (group, values) => values.includes(group.type) },
  choices: { type: ["spread"] },
};

export function placementGroupBody(group: PlacementGroup, view: ProjectView): unknown {
  return {
    id: group.id,
    name: group.name,
    labels: group.labels,
    type: group.type,
    created: createdText(group),
    servers: view.servers.where("placementGroup", group.id).map(({ id }) => id),
  };
}

function createGroup(call: Call) {
  const schema = z.object({ name: nameSchema, type: z.literal("spread"), labels: labelsSchema.default({}) });
  const body = bodyOf(call, schema);
  requireFreeName(call, placementGroups, body.name);
  requireRoom(call, placementGroups);
  const id = call.nextId();
  call.project.placementGroups.put({ id, createdMs: call.nowMs, ...body });
  return created({ placement_group: shown(call, placementGroups, id), action: null });
}

export const placementGroupRoutes: readonly HetznerRoute[] = [
  listRoute(placementGroups),
  getRoute(placementGroups),
  { method: "POST", path: "/placement_groups", answer: createGroup },
  updateRoute(
    placementGroups,
    z.object({ name: nameSchema.optional(), labels: labelsSchema.optional() }),
    (group, { name = group.name, labels = group.labels }) => ({ ...group, name, labels }),
  ),
  deleteRoute(placementGroups, (call, group) => {
    if (call.project.servers.where("placementGroup", group.id).length === 0) return;
    throw refused("resource_in_use", "placement group still has servers", 409);
  }),
];
