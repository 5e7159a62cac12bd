import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { partSearch } from "../../components/part-nav.tsx";
import { organizationRoute } from "../../shell/routes.tsx";

export const providersRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: "providers",
  validateSearch: partSearch(["accounts", "pool"] as const),
  component: lazyRouteComponent(() => import("./page.tsx"), "ProvidersPage"),
});
