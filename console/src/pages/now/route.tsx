import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { organizationRoute } from "../../shell/routes.tsx";

export const nowRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: "now",
  component: lazyRouteComponent(() => import("./page.tsx"), "NowPage"),
});
