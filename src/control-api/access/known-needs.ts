import type { Route } from "../route.ts";
import { needText } from "./need.ts";
import type { PermissionCatalogue } from "./permission-keys.ts";

/** A route that asks for something no role can have is a mistake, and is found when the API starts. */
export function requireKnownNeeds(routes: readonly Route[], catalogue: PermissionCatalogue): void {
  for (const route of routes) {
    const { need } = route;
    if (need.at === "nobody" || need.at === "self") continue;
    const known = catalogue.get(need.key);
    const action = need.at === "visible" ? "read" : need.action;
    const isPlatform = known?.scope === "platform";
    if (known?.actions.includes(action) === true && isPlatform === (need.at === "platform")) continue;
    throw new Error(
      `${route.method} ${route.path} needs ${needText(need)}, which is not in the catalogue of permissions at that scope. Add it to src/control-api/access/permission-keys.ts`,
    );
  }
}
