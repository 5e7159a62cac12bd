import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { organizationRoute } from "../../shell/routes.tsx";

/** Which account is looked at; none yet: its token is asked for. */
export interface ConnectSearch {
  readonly account?: string;
}

export const connectRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: "connect",
  validateSearch: ({ account }: Record<string, unknown>): ConnectSearch =>
    typeof account === "string" && account !== "" ? { account } : {},
  component: lazyRouteComponent(() => import("./page.tsx"), "ConnectPage"),
});
