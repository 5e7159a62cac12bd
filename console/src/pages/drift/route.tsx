import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { organizationRoute } from "../../shell/routes.tsx";

export const driftRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: "drift",
  component: lazyRouteComponent(() => import("./page.tsx"), "DriftPage"),
});
