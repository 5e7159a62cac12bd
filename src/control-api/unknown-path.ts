import type { ApiContext } from "./context.ts";
import { Problem } from "./problem.ts";
import { scopePaths } from "./scope.ts";

/** What a path that nobody serves was probably meant to be. */
export function unknownPath(context: ApiContext, method: string, url: string): Problem {
  const path = url.split("?")[0] ?? url;
  const below = /^\/v1\/organizations\/[^/]+(?:\/projects\/[^/]+(?:\/workspaces\/[^/]+)?)?\/([^/]+)/.exec(path)?.[1];
  if (below === undefined)
    return new Problem("NOT_FOUND", `There is no ${method} ${path}. GET /v1/openapi.json lists every route`);
  const kinds = [...context.kinds.values()];
  const kind = kinds.find((entry) => entry.plural === below);
  if (kind === undefined) {
    const singular = kinds.find((entry) => entry.kind.toLowerCase() === below.toLowerCase());
    const hint =
      singular === undefined
        ? `Kinds: ${kinds.map((entry) => entry.plural).join(", ")}`
        : `Did you mean ${singular.plural}?`;
    return new Problem("KIND_UNKNOWN", `There is no kind "${below}". ${hint}`);
  }
  const depth = path.includes("/workspaces/") ? "workspace" : path.includes("/projects/") ? "project" : "organization";
  if (!kind.scopes.includes(depth)) {
    const scopes = scopePaths.filter(({ type }) => kind.scopes.includes(type)).map(({ type }) => type);
    return new Problem(
      "SCOPE_NOT_ALLOWED",
      `A ${kind.kind} cannot live in a ${depth}. It can live in: ${scopes.join(", ")}`,
    );
  }
  return new Problem("METHOD_UNKNOWN", `There is no ${method} ${path}. GET /v1/openapi.json lists every route`);
}
