/** Every page of the console, in the demo organization, with what must be there before it is looked at. */
export const consolePages = [
  { name: "now", path: "/o/demo/now", shows: "Needs attention" },
  { name: "inventory", path: "/o/demo/inventory", shows: "in all" },
  { name: "inventory-filtered", path: "/o/demo/inventory?kind=DnsZone", shows: "in all" },
  { name: "map", path: "/o/demo/map", shows: "relations" },
  { name: "map-plan", path: "/o/demo/map?project=shop&overlay=plan", shows: "relations" },
  { name: "object", path: "/o/demo/objects/projects/shop/dnszones/shop", shows: "Differences" },
  {
    name: "object-differences",
    path: "/o/demo/objects/projects/shop/dnszones/shop?tab=differences",
    shows: "as declared",
  },
  { name: "object-spec", path: "/o/demo/objects/projects/shop/dnszones/shop?tab=spec", shows: "Field owners" },
  { name: "object-outside", path: "/o/demo/objects/projects/shop/dnszones/shop?tab=outside", shows: "complete look" },
  { name: "object-history", path: "/o/demo/objects/projects/shop/dnszones/shop?tab=history", shows: "Declarations" },
  { name: "object-as", path: "/o/demo/objects/projects/shop/dnszones/shop?tab=as", shows: "As YAML" },
  {
    name: "object-host",
    path: "/o/demo/objects/projects/shop/workspaces/production/hosts/web-1",
    shows: "Differences",
  },
  {
    name: "object-firewall",
    path: "/o/demo/objects/projects/shop/workspaces/production/firewalls/web",
    shows: "What this layer lets through",
  },
  {
    name: "object-load-balancer",
    path: "/o/demo/objects/projects/shop/workspaces/production/loadbalancers/edge",
    shows: "Services and targets",
  },
  {
    name: "object-scaling-group",
    path: "/o/demo/objects/projects/shop/workspaces/production/scalinggroups/api",
    shows: "Size and members",
  },
  { name: "held", path: "/o/demo/held", shows: "take over" },
  { name: "loops", path: "/o/demo/loops", shows: "Caps of this organization" },
  { name: "operations", path: "/o/demo/operations", shows: "dns-zone.create" },
  { name: "drift", path: "/o/demo/drift", shows: "Left alone on purpose" },
  { name: "audit", path: "/o/demo/audit", shows: "resource.created" },
  { name: "providers", path: "/o/demo/providers", shows: "nobody declares" },
  { name: "providers-pool", path: "/o/demo/providers?part=pool", shows: "The operator's pool" },
  { name: "connect", path: "/o/demo/connect", shows: "What happens with it" },
  { name: "access", path: "/o/demo/access", shows: "Nobody was invited yet" },
  { name: "access-roles", path: "/o/demo/access?part=roles", shows: "came with Setpoint" },
  { name: "access-tokens", path: "/o/demo/access?part=tokens", shows: "Of the organization" },
  { name: "access-sessions", path: "/o/demo/access?part=sessions", shows: "this one" },
  { name: "settings", path: "/o/demo/settings", shows: "deletesPerCycle" },
  { name: "settings-notifications", path: "/o/demo/settings?part=notifications", shows: "Nobody is told by webhook" },
  { name: "settings-secrets", path: "/o/demo/settings?part=secrets", shows: "No secret is stored" },
  { name: "settings-backup", path: "/o/demo/settings?part=backup", shows: "On the machine of the installation" },
] as const;

/** Pages of one thing, whose id is not known before it is there. */
export const pagesOfThings = [
  { name: "held-change", list: "held-changes", path: (id: string) => `/o/demo/held/${id}`, shows: "What would happen" },
  {
    name: "operation",
    list: "operations",
    path: (id: string) => `/o/demo/operations/${id}`,
    shows: "Where the time went",
  },
] as const;

export const consoleLooks = [
  { name: "light", width: 1280, colorScheme: "light" },
  { name: "dark", width: 1280, colorScheme: "dark" },
  { name: "narrow", width: 375, colorScheme: "light" },
] as const;
