import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { organizationRoute } from "../../shell/routes.tsx";

/** Every filter is in the address, so that what one sees can be sent to somebody. */
export interface MapSearch {
  readonly kind?: string;
  readonly project?: string;
  /** The uid of the resource whose neighbourhood is shown. */
  readonly focus?: string;
  readonly hops?: 1 | 2 | 3 | 4;
  readonly overlay?: "plan";
  readonly as?: "list";
  /** The uid or group that is looked at more closely. */
  readonly card?: string;
}

const words: Readonly<Record<string, readonly string[]>> = {
  hops: ["1", "2", "3", "4"],
  overlay: ["plan"],
  as: ["list"],
};

export const mapRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: "map",
  validateSearch: (search: Record<string, unknown>): MapSearch => {
    const known = ["kind", "project", "focus", "hops", "overlay", "as", "card"];
    const given = known.flatMap((key) => {
      const value = search[key];
      const text = typeof value === "string" || typeof value === "number" ? String(value) : "";
      if (text === "" || (words[key] !== undefined && !words[key].includes(text))) return [];
      return [[key, key === "hops" ? Number(text) : text]];
    });
    return Object.fromEntries(given) as MapSearch;
  },
  component: lazyRouteComponent(() => import("./page.tsx"), "MapPage"),
});
