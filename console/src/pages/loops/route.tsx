import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { organizationRoute } from "../../shell/routes.tsx";

export const loopsRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: "loops",
  component: lazyRouteComponent(() => import("./page.tsx"), "LoopsPage"),
});
