import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { organizationRoute } from "../../shell/routes.tsx";

/** What the API filters by, word for word. */
export const auditFilters = ["actor", "type", "resource", "from", "to", "outcome"] as const;

export type AuditSearch = { readonly [filter in (typeof auditFilters)[number]]?: string };

export const auditRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: "audit",
  validateSearch: (search: Record<string, unknown>): AuditSearch =>
    Object.fromEntries(
      auditFilters.flatMap((name) => {
        const value = search[name];
        return typeof value === "string" && value !== "" ? [[name, value]] : [];
      }),
    ),
  component: lazyRouteComponent(() => import("./page.tsx"), "AuditPage"),
});
