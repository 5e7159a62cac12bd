import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { partSearch } from "../../components/part-nav.tsx";
import { organizationRoute } from "../../shell/routes.tsx";

export const accessParts = ["members", "roles", "tokens", "sessions"] as const;
export type AccessPart = (typeof accessParts)[number];

export const accessRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: "access",
  validateSearch: partSearch(accessParts),
  component: lazyRouteComponent(() => import("./page.tsx"), "AccessPage"),
});
