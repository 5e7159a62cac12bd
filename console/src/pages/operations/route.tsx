import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { organizationRoute } from "../../shell/routes.tsx";

export const operationStates = ["running", "held", "attention", "succeeded", "not-run", "cancelled"] as const;
export type OperationState = (typeof operationStates)[number];

export const operationsRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: "operations",
  validateSearch: (search: Record<string, unknown>): { state?: OperationState } => {
    const state = operationStates.find((entry) => entry === search["state"]);
    return state === undefined ? {} : { state };
  },
  component: lazyRouteComponent(() => import("./page.tsx"), "OperationsPage"),
});

export const operationRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: "operations/$id",
  component: lazyRouteComponent(() => import("./operation.tsx"), "OperationPage"),
});
