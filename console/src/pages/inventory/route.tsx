import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { queryClient } from "../../api/query-client.ts";
import { organizationRoute } from "../../shell/routes.tsx";
import { resourcesQuery } from "./queries.ts";

/** Every filter is in the address, so that what one sees can be sent to somebody. */
export interface InventorySearch {
  readonly kind?: string;
  readonly project?: string;
  readonly name?: string;
  readonly labels?: string;
  readonly ready?: "yes" | "no" | "unknown";
  readonly mode?: "observe" | "propose" | "enforce";
  readonly only?: "drifted" | "held" | "deleting";
}

const words: Readonly<Record<string, readonly string[]>> = {
  ready: ["yes", "no", "unknown"],
  mode: ["observe", "propose", "enforce"],
  only: ["drifted", "held", "deleting"],
};

export const inventoryRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: "inventory",
  validateSearch: (search: Record<string, unknown>): InventorySearch => {
    const known = ["kind", "project", "name", "labels", "ready", "mode", "only"];
    const given = known.flatMap((key) => {
      const value = search[key];
      const text =
        typeof value === "string" || typeof value === "boolean" || typeof value === "number" ? String(value) : "";
      return text === "" || (words[key] !== undefined && !words[key].includes(text)) ? [] : [[key, text]];
    });
    return Object.fromEntries(given) as InventorySearch;
  },
  // The first rows are asked for while the page itself is still on its way; whoever shows them says what went wrong.
  loaderDeps: ({ search }) => search,
  loader: ({ params, deps }) => {
    void queryClient.infiniteQuery(resourcesQuery(params.organization, deps)).catch(() => undefined);
  },
  component: lazyRouteComponent(() => import("./page.tsx"), "InventoryPage"),
});
