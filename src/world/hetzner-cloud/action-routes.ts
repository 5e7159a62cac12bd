import { actionBody } from "./actions.ts";
import { type Call, type HetznerRoute, ok } from "./call.ts";
import { invalidInput, notFound } from "./errors.ts";
import { pageOf, requireChoices, sorted } from "./pages.ts";
import type { Action } from "./rows.ts";

const sortFields = {
  id: (action: Action) => action.id,
  command: (action: Action) => action.command,
  status: (action: Action) => action.status,
  started: (action: Action) => action.startedMs,
  finished: (action: Action) => (action.status === "running" ? Number.MAX_SAFE_INTEGER : action.endsMs),
};

function list(call: Call, all: readonly Action[]) {
  requireChoices(call, { status: ["running", "success", "error"] });
  const statuses = call.query.getAll("status");
  const ids = new Set(call.query.getAll("id").map(Number));
  const wanted = all.filter(
    (action) => (statuses.length === 0 || statuses.includes(action.status)) && (ids.size === 0 || ids.has(action.id)),
  );
  const page = pageOf(call, sorted(call, wanted, sortFields));
  return ok({ actions: page.rows.map((action) => actionBody(action, call.nowMs)), meta: page.meta });
}

function one(call: Call, id: string | undefined, belongs: (action: Action) => boolean) {
  const action = call.project.actions.get(Number(id));
  if (action === undefined || !belongs(action)) throw notFound("action", id ?? "");
  return ok({ action: actionBody(action, call.nowMs) });
}

/** The actions of the project: since 2025 a list of them has to name their ids. */
export const allActionRoutes: readonly HetznerRoute[] = [
  {
    method: "GET",
    path: "/actions",
    answer: (call) => {
      const ids = call.query.getAll("id");
      if (ids.length === 0) throw invalidInput("id", "is required");
      const named = ids.flatMap((id) => call.project.actions.get(Number(id)) ?? []);
      return ok({ actions: named.map((action) => actionBody(action, call.nowMs)) });
    },
  },
  { method: "GET", path: "/actions/{id}", answer: (call) => one(call, call.params["id"], () => true) },
];

/** The actions of one sort of thing, of all of them and of each. */
export function actionRoutesOf(
  path: string,
  type: string,
  [param, idOf]: readonly [string, (call: Call) => string] = ["id", (call) => call.params["id"] ?? ""],
): HetznerRoute[] {
  const isAbout = (action: Action, id?: string) =>
    action.resources.some((resource) => resource.type === type && (id === undefined || String(resource.id) === id));
  return [
    {
      method: "GET",
      path: `/${path}/actions`,
      answer: (call) =>
        list(
          call,
          call.project.actions.all().filter((action) => isAbout(action)),
        ),
    },
    {
      method: "GET",
      path: `/${path}/actions/{id}`,
      answer: (call) => one(call, call.params["id"], (action) => isAbout(action)),
    },
    {
      method: "GET",
      path: `/${path}/{${param}}/actions`,
      answer: (call) => list(call, call.project.actions.where("resource", `${type} ${idOf(call)}`)),
    },
    {
      method: "GET",
      path: `/${path}/{${param}}/actions/{action_id}`,
      answer: (call) => one(call, call.params["action_id"], (action) => isAbout(action, idOf(call))),
    },
  ];
}
