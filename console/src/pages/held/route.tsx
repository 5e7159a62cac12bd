import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { organizationRoute } from "../../shell/routes.tsx";

export const heldStates = ["open", "approved", "rejected", "withdrawn"] as const;
export type HeldState = (typeof heldStates)[number];

export const heldRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: "held",
  validateSearch: (search: Record<string, unknown>): { state?: HeldState } => {
    const state = heldStates.find((entry) => entry === search["state"]);
    return state === undefined || state === "open" ? {} : { state };
  },
  component: lazyRouteComponent(() => import("./page.tsx"), "HeldPage"),
});

export const heldChangeRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: "held/$id",
  component: lazyRouteComponent(() => import("./change.tsx"), "HeldChangePage"),
});
