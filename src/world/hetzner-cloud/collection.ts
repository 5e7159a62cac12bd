import type { z } from "zod";
import { isoSecond } from "../../runtime/iso-second.ts";
import type { ReadTable, Table } from "../table.ts";
import { actionBody, startAction } from "./actions.ts";
import { bodyOf } from "./body.ts";
import { type Answer, type Call, created, gone, type HetznerRoute, ok } from "./call.ts";
import { isProtected, notFound, notUnique, overLimit } from "./errors.ts";
import { pageOf, requireChoices, selected, sorted, viewOf } from "./pages.ts";
import type { ProjectView } from "./project.ts";
import type { Action, Labels, Protection, RowOf, TableName } from "./rows.ts";

type ThingTable = Exclude<TableName, "actions">;

/** One sort of thing in the API: where it is, what it is called, how it is shown. */
export interface Collection<N extends ThingTable> {
  readonly path: string;
  readonly one: string;
  readonly table: N;
  /** How errors call it. */
  readonly title: string;
  readonly show: (row: RowOf[N], view: ProjectView, call: Call) => unknown;
  readonly filters?: Readonly<Record<string, (row: RowOf[N], values: readonly string[]) => boolean>>;
  /** Filters that take one of some values alone. */
  readonly choices?: Readonly<Record<string, readonly string[]>>;
  /** What its list can be sorted by, where that is less than usual. */
  readonly sortedBy?: readonly (keyof typeof sortFields)[];
}

export function tableOf<N extends ThingTable>(call: Call, { table }: Collection<N>): Table<RowOf[N]> {
  return call.project[table] as unknown as Table<RowOf[N]>;
}

/** The thing that the path names. */
export function thingOf<N extends ThingTable>(call: Call, collection: Collection<N>): RowOf[N] {
  return thingWithId(call, collection, call.params["id"] ?? "");
}

export function thingWithId<N extends ThingTable>(
  call: Call,
  collection: Collection<N>,
  id: string | number,
): RowOf[N] {
  const row = tableOf(call, collection).get(Number(id));
  if (row === undefined) throw notFound(collection.title, id);
  return row;
}

/** The thing, as its requests and actions show it. */
export function shown<N extends ThingTable>(call: Call, collection: Collection<N>, id: number): unknown {
  const row = tableOf(call, collection).get(id);
  return row === undefined ? undefined : collection.show(row, call.project, call);
}

export function listRoute<N extends ThingTable>(collection: Collection<N>): HetznerRoute {
  const { path, table, filters = {}, choices = {}, sortedBy } = collection;
  const fields = sortedBy === undefined ? sortFields : picked(sortFields, sortedBy);
  return {
    method: "GET",
    path: `/${path}`,
    answer: (call) => {
      requireChoices(call, choices);
      const view = viewOf(call);
      const rows = view[table] as unknown as ReadTable<RowOf[N] & { readonly labels: Labels }>;
      const name = call.query.get("name");
      const chosen = selected(
        call.query.get("label_selector"),
        () => (name === null || table === "images" ? rows.all() : rows.where("name", name)),
        (label) => rows.where("label", label),
      );
      const wanted = Object.entries(filters).reduce(
        (left, [field, holds]) => {
          const values = call.query.getAll(field);
          return values.length === 0 ? left : left.filter((row) => holds(row, values));
        },
        name === null ? chosen : chosen.filter((row) => "name" in row && row.name === name),
      );
      const page = pageOf(call, sorted(call, wanted, fields));
      return ok({ [path]: page.rows.map((row) => collection.show(row, view, call)), meta: page.meta });
    },
  };
}

const sortFields = {
  id: (row: { readonly id: number }) => row.id,
  name: (row: object) => ("name" in row ? String(row.name) : ""),
  created: (row: { readonly createdMs: number }) => row.createdMs,
};

function picked<F extends object, K extends keyof F>(fields: F, names: readonly K[]): Pick<F, K> {
  return Object.fromEntries(names.map((name) => [name, fields[name]])) as Pick<F, K>;
}

export function getRoute<N extends ThingTable>(collection: Collection<N>): HetznerRoute {
  return {
    method: "GET",
    path: `/${collection.path}/{id}`,
    answer: (call) => ok({ [collection.one]: collection.show(thingOf(call, collection), call.project, call) }),
  };
}

/** PUT: some fields are replaced, the others stay. Names stay unique. */
export function updateRoute<N extends ThingTable, S extends z.ZodType<object>>(
  collection: Collection<N>,
  schema: S,
  change: (row: RowOf[N], body: z.output<S>) => RowOf[N],
): HetznerRoute {
  return {
    method: "PUT",
    path: `/${collection.path}/{id}`,
    answer: (call) => {
      const row = thingOf(call, collection);
      const body = bodyOf(call, schema);
      if ("name" in body && typeof body.name === "string") requireFreeName(call, collection, body.name, row.id);
      tableOf(call, collection).put(change(row, body));
      return ok({ [collection.one]: shown(call, collection, row.id) });
    },
  };
}

export function deleteRoute<N extends ThingTable>(
  collection: Collection<N>,
  before: (call: Call, row: RowOf[N]) => void = () => {},
): HetznerRoute {
  return {
    method: "DELETE",
    path: `/${collection.path}/{id}`,
    answer: (call) => {
      const row = thingOf(call, collection);
      if ("protection" in row && row.protection.delete) throw isProtected(collection.title);
      before(call, row);
      tableOf(call, collection).remove(row.id);
      return gone;
    },
  };
}

/** `POST /things/{id}/actions/verb`, answered with the action. */
export function actionRoute<N extends ThingTable>(
  collection: Collection<N>,
  verb: string,
  answer: (call: Call, row: RowOf[N]) => Action | Answer,
): HetznerRoute {
  return {
    method: "POST",
    path: `/${collection.path}/{id}/actions/${verb}`,
    answer: (call) => {
      const result = answer(call, thingOf(call, collection));
      return "command" in result ? created({ action: actionBody(result, call.nowMs) }) : result;
    },
  };
}

/** The one action that most things have in common. */
export function protectionRoute<N extends ThingTable>(
  collection: Collection<N>,
  schema: z.ZodType<Readonly<Partial<Record<"delete" | "rebuild", boolean | undefined>>>>,
): HetznerRoute {
  return actionRoute(collection, "change_protection", (call, row) => {
    const wanted = Object.entries(bodyOf(call, schema)).filter(([, value]) => value !== undefined);
    const before = (row as { readonly protection: Protection }).protection;
    const protection = { ...before, ...Object.fromEntries(wanted) };
    return startAction(call, {
      command: "change_protection",
      resources: [{ id: row.id, type: collection.one }],
      now: () => tableOf(call, collection).put({ ...row, protection }),
    });
  });
}

export function requireFreeName<N extends ThingTable>(
  call: Call,
  collection: Collection<N>,
  name: string,
  except?: number,
): void {
  const others = tableOf(call, collection).where("name", name);
  if (others.some(({ id }) => id !== except)) throw notUnique(collection.title, "name");
}

export function requireRoom<N extends ThingTable>(call: Call, { table, one }: Collection<N>): void {
  if (call.project[table].size >= call.project.limits[table]) throw overLimit(`${one}_limit`);
}

export const createdText = (row: { readonly createdMs: number }): string => isoSecond(row.createdMs);
