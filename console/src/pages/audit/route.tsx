import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { organizationRoute } from "../../shell/routes.tsx";

export interface AuditSearch {
  readonly actor?: string;
  readonly type?: string;
}

export const auditRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: "audit",
  validateSearch: (search: Record<string, unknown>): AuditSearch => {
    const { actor, type } = search;
    return {
      ...(typeof actor === "string" && actor !== "" ? { actor } : {}),
      ...(typeof type === "string" && type !== "" ? { type } : {}),
    };
  },
  component: lazyRouteComponent(() => import("./page.tsx"), "AuditPage"),
});
