import { z } from "zod";
import { isoSecond } from "../../runtime/iso-second.ts";
import { actionRoutesOf } from "./action-routes.ts";
import { bodyOf, labelsSchema } from "./body.ts";
import { type Call, gone, type HetznerRoute, ok } from "./call.ts";
import { type SystemImage, systemImage, systemImages } from "./catalogue/images.ts";
import { type Collection, createdText, protectionRoute, shown, thingOf } from "./collection.ts";
import { isProtected, notFound, refused } from "./errors.ts";
import { pageOf, requireChoices, selected, sorted, viewOf } from "./pages.ts";
import type { ProjectView } from "./project.ts";
import type { Image } from "./rows.ts";

export const images: Collection<"images"> = {
  path: "images",
  one: "image",
  table: "images",
  title: "image",
  show: (image) => ({
    id: image.id,
    type: image.type,
    status: image.status,
    name: null,
    description: image.description,
    image_size: image.imageGb ?? null,
    disk_size: image.diskGb,
    created: createdText(image),
    created_from: image.from,
    bound_to: image.boundTo ?? null,
    os_flavor: image.osFlavor,
    os_version: image.osVersion ?? null,
    rapid_deploy: false,
    protection: image.protection,
    deprecated: null,
    deleted: null,
    labels: image.labels,
    architecture: image.architecture,
  }),
};

/** When the catalogue's images were made, as far as this world is concerned. */
const systemCreated = isoSecond(1_750_000_000_000);

function systemBody(image: SystemImage): unknown {
  return {
    id: image.id,
    type: image.type,
    status: "available",
    name: image.name,
    description: image.description,
    image_size: null,
    disk_size: 5,
    created: systemCreated,
    created_from: null,
    bound_to: null,
    os_flavor: image.osFlavor,
    os_version: image.osVersion,
    rapid_deploy: image.type === "system",
    protection: { delete: false },
    deprecated: null,
    deleted: null,
    labels: {},
    architecture: image.architecture,
  };
}

/** Any image a server may have been made of; undefined when it is gone. */
export function imageBody(view: ProjectView, id: number, call: Call): unknown {
  const system = systemImage(id);
  if (system !== undefined) return systemBody(system);
  const own = view.images.get(id);
  return own === undefined ? undefined : images.show(own, view, call);
}

export interface Bootable {
  readonly id: number;
  readonly architecture: "x86" | "arm";
  readonly diskGb: number;
}

/** The image a server is to be made of, by id or name, for its architecture. */
export function findBootable(call: Call, idOrName: string, architecture: "x86" | "arm"): Bootable | undefined {
  const system = systemImages.find(
    (image) => String(image.id) === idOrName || (image.name === idOrName && image.architecture === architecture),
  );
  if (system !== undefined) return { id: system.id, architecture: system.architecture, diskGb: 5 };
  const own = call.project.images.get(Number(idOrName));
  return own?.status === "available" ? own : undefined;
}

interface Listed {
  readonly id: number;
  readonly name: string;
  readonly createdMs: number;
  readonly type: string;
  readonly status: string;
  readonly architecture: string;
  readonly boundTo: number | undefined;
  readonly body: unknown;
}

function listImages(call: Call) {
  const view = viewOf(call);
  const selector = call.query.get("label_selector");
  const own = selected(
    selector,
    () => view.images.all(),
    (label) => view.images.where("label", label),
  );
  const all: Listed[] = [
    ...(selector === null || selector === "" ? systemImages : []).map((image) => ({
      ...image,
      createdMs: 0,
      status: "available",
      boundTo: undefined,
      body: systemBody(image),
    })),
    ...own.map((image) => ({ ...image, name: "", body: images.show(image, view, call) })),
  ];
  requireChoices(call, {
    type: ["system", "app", "snapshot", "backup"],
    status: ["available", "creating", "unavailable"],
    architecture: ["x86", "arm"],
  });
  const asked = (field: string, value: (image: Listed) => string) => (image: Listed) => {
    const values = call.query.getAll(field);
    return values.length === 0 || values.includes(value(image));
  };
  const wanted = all
    .filter(asked("name", ({ name }) => name))
    .filter(asked("type", ({ type }) => type))
    .filter(asked("status", ({ status }) => status))
    .filter(asked("architecture", ({ architecture }) => architecture))
    .filter(asked("bound_to", ({ boundTo }) => String(boundTo ?? "")));
  const fields = {
    id: ({ id }: Listed) => id,
    name: ({ name }: Listed) => name,
    created: ({ createdMs }: Listed) => createdMs,
  };
  const page = pageOf(call, sorted(call, wanted, fields));
  return ok({ images: page.rows.map(({ body }) => body), meta: page.meta });
}

function ownImage(call: Call): Image {
  if (systemImage(Number(call.params["id"])) === undefined) return thingOf(call, images);
  throw refused("invalid_input", "only images of type snapshot and backup can be changed");
}

const updateSchema = z.object({
  description: z.string().optional(),
  type: z.literal("snapshot").optional(),
  labels: labelsSchema.optional(),
});

function updateImage(call: Call) {
  const image = ownImage(call);
  const { description = image.description, labels = image.labels, type } = bodyOf(call, updateSchema);
  const kept = type === undefined ? {} : { type, boundTo: undefined };
  call.project.images.put({ ...image, description, labels, ...kept });
  return ok({ image: shown(call, images, image.id) });
}

function deleteImage(call: Call) {
  const image = ownImage(call);
  if (image.protection.delete) throw isProtected("image");
  call.project.images.remove(image.id);
  return gone;
}

export const imageRoutes: readonly HetznerRoute[] = [
  { method: "GET", path: "/images", answer: listImages },
  {
    method: "GET",
    path: "/images/{id}",
    answer: (call) => {
      const body = imageBody(call.project, Number(call.params["id"]), call);
      if (body === undefined) throw notFound("image", call.params["id"] ?? "");
      return ok({ image: body });
    },
  },
  { method: "PUT", path: "/images/{id}", answer: updateImage },
  { method: "DELETE", path: "/images/{id}", answer: deleteImage },
  ...actionRoutesOf("images", "image"),
  protectionRoute(images, z.object({ delete: z.boolean().optional() })),
];
