import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { organizationRoute } from "../../shell/routes.tsx";

export const objectTabs = ["overview", "differences", "spec", "history", "outside", "as"] as const;
export type ObjectTab = (typeof objectTabs)[number];

/** The rest of the address is the place of the resource in the API, below its organization. */
export const objectRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: "objects/$",
  validateSearch: (search: Record<string, unknown>): { tab?: ObjectTab } => {
    const tab = objectTabs.find((entry) => entry === search["tab"]);
    return tab === undefined ? {} : { tab };
  },
  component: lazyRouteComponent(() => import("./page.tsx"), "ObjectPage"),
});
