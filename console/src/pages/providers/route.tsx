import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { organizationRoute } from "../../shell/routes.tsx";

export const providersRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: "providers",
  component: lazyRouteComponent(() => import("./page.tsx"), "ProvidersPage"),
});
