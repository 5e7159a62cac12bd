import type { IconName } from "../components/icons.tsx";

/** The pages that are linked, in the order of the menu. A page that is not there is not linked. */
export const pages = [
  { title: "Now", to: "/o/$organization/now", icon: "gauge", key: "n" },
  { title: "Inventory", to: "/o/$organization/inventory", icon: "list", key: "i" },
  { title: "Map", to: "/o/$organization/map", icon: "map", key: "m" },
  { title: "Held changes", to: "/o/$organization/held", icon: "hand", key: "h" },
  { title: "Loops", to: "/o/$organization/loops", icon: "loop", key: "l" },
  { title: "Operations", to: "/o/$organization/operations", icon: "bolt", key: "o" },
  { title: "Drift", to: "/o/$organization/drift", icon: "drift", key: "d" },
  { title: "Providers", to: "/o/$organization/providers", icon: "cloud", key: "p" },
  { title: "Access", to: "/o/$organization/access", icon: "person", key: "c" },
  { title: "Audit", to: "/o/$organization/audit", icon: "book", key: "a" },
  { title: "Settings", to: "/o/$organization/settings", icon: "gear", key: "s" },
] as const satisfies readonly { title: string; to: string; icon: IconName; key: string }[];
