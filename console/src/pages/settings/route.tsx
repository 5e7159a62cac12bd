import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { partSearch } from "../../components/part-nav.tsx";
import { organizationRoute } from "../../shell/routes.tsx";

export const settingsRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: "settings",
  validateSearch: partSearch(["rules", "notifications", "secrets", "backup"] as const),
  component: lazyRouteComponent(() => import("./page.tsx"), "SettingsPage"),
});
