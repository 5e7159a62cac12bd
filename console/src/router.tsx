import { createRouter } from "@tanstack/react-router";
import { accessRoute } from "./pages/access/route.tsx";
import { auditRoute } from "./pages/audit/route.tsx";
import { connectRoute } from "./pages/connect/route.tsx";
import { driftRoute } from "./pages/drift/route.tsx";
import { heldChangeRoute, heldRoute } from "./pages/held/route.tsx";
import { inventoryRoute } from "./pages/inventory/route.tsx";
import { loopsRoute } from "./pages/loops/route.tsx";
import { mapRoute } from "./pages/map/route.tsx";
import { nowRoute } from "./pages/now/route.tsx";
import { objectRoute } from "./pages/object/route.tsx";
import { operationRoute, operationsRoute } from "./pages/operations/route.tsx";
import { providersRoute } from "./pages/providers/route.tsx";
import { settingsRoute } from "./pages/settings/route.tsx";
import { organizationRoute, rootRoute, startRoute } from "./shell/routes.tsx";

/** Every page, each with its own folder. */
const routeTree = rootRoute.addChildren([
  startRoute,
  organizationRoute.addChildren([
    nowRoute,
    inventoryRoute,
    mapRoute,
    objectRoute,
    heldRoute,
    heldChangeRoute,
    loopsRoute,
    operationsRoute,
    operationRoute,
    driftRoute,
    providersRoute,
    connectRoute,
    accessRoute,
    auditRoute,
    settingsRoute,
  ]),
]);

export const router = createRouter({ routeTree, defaultPreload: "intent", scrollRestoration: true });

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
