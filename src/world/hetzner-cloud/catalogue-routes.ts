import { type Answer, type Call, type HetznerRoute, ok } from "./call.ts";
import { isos } from "./catalogue/isos.ts";
import { loadBalancerTypes } from "./catalogue/load-balancer-types.ts";
import { type Datacenter, datacenters, locationNamed, locations } from "./catalogue/locations.ts";
import { currency, price, timePrice, vatRate } from "./catalogue/prices.ts";
import { serverTypes } from "./catalogue/server-types.ts";
import { notFound } from "./errors.ts";
import { pageOf, requireChoices, sorted } from "./pages.ts";

interface Entry {
  readonly id: number;
  readonly name: string;
}

/** A list and its entries, which nobody changes. */
function readOnly<E extends Entry>(
  [path, one, title]: readonly [string, string, string],
  entries: readonly E[],
  show: (entry: E, call: Call) => unknown = (entry) => entry,
  more: Readonly<Record<string, unknown>> = {},
): HetznerRoute[] {
  const list = (call: Call): Answer => {
    const name = call.query.get("name");
    requireChoices(call, { architecture: ["x86", "arm"] });
    const architecture = call.query.get("architecture");
    const wanted = entries
      .filter((entry) => name === null || entry.name === name)
      .filter((entry) => architecture === null || !("architecture" in entry) || entry.architecture === architecture);
    const page = pageOf(call, sorted(call, wanted, { id: (entry: E) => entry.id, name: (entry: E) => entry.name }));
    return ok({ [path]: page.rows.map((entry) => show(entry, call)), meta: page.meta, ...more });
  };
  const get = (call: Call): Answer => {
    const entry = entries.find(({ id }) => String(id) === call.params["id"]);
    if (entry === undefined) throw notFound(title, call.params["id"] ?? "");
    return ok({ [one]: show(entry, call) });
  };
  return [
    { method: "GET", path: `/${path}`, answer: list },
    { method: "GET", path: `/${path}/{id}`, answer: get },
  ];
}

/** What can be had where, right now: capacity that is gone takes a type out of `available`. */
export function datacenterBody(datacenter: Datacenter, call?: Pick<Call, "faults">): unknown {
  const supported = serverTypes.filter(({ locations }) => locations.some(({ name }) => name === datacenter.location));
  const isOut = (type: string) => call !== undefined && isOutOfCapacity(call, datacenter.location, type);
  const available = supported.filter(({ name }) => !isOut(name)).map(({ id }) => id);
  return {
    id: datacenter.id,
    name: datacenter.name,
    description: datacenter.description,
    location: locationNamed(datacenter.location),
    server_types: { supported: supported.map(({ id }) => id), available, available_for_migration: available },
  };
}

type Where = { readonly location?: string | undefined; readonly type?: string | undefined };

const meant = (location: string, type: string) => (fault: Where) =>
  (fault.location === undefined || fault.location === location) && (fault.type === undefined || fault.type === type);

/** What the catalogue shows while capacity may be gone. */
function isOutOfCapacity({ faults }: Pick<Call, "faults">, location: string, type: string): boolean {
  return faults.holds("region-outage", meant(location, type)) || faults.holds("no-capacity", meant(location, type));
}

/** Whether somebody who orders is refused for it. */
export function strikesCapacity({ faults }: Pick<Call, "faults">, location: string, type: string): boolean {
  const struck =
    faults.strike("region-outage", meant(location, type)) ?? faults.strike("no-capacity", meant(location, type));
  return struck !== undefined;
}

const monthly = (net: number) => locations.map(({ name }) => ({ location: name, price_monthly: price(net) }));
const withoutTraffic = (net: number) =>
  locations.map(({ name }) => {
    const { location, price_hourly, price_monthly } = timePrice(name, net, 0);
    return { location, price_hourly, price_monthly };
  });
const listed = ({ id, name, prices }: { id: number; name: string; prices: readonly unknown[] }) => ({
  id,
  name,
  prices,
});

const pricing = {
  currency,
  vat_rate: vatRate,
  image: { price_per_gb_month: price(0.011) },
  volume: { price_per_gb_month: price(0.044) },
  server_backup: { percentage: "20.0000000000" },
  floating_ip: { price_monthly: price(3) },
  floating_ips: [
    { type: "ipv4", prices: monthly(3) },
    { type: "ipv6", prices: monthly(1) },
  ],
  primary_ips: [
    { type: "ipv4", prices: withoutTraffic(0.5) },
    { type: "ipv6", prices: withoutTraffic(0) },
  ],
  server_types: serverTypes.map(listed),
  load_balancer_types: loadBalancerTypes.map(listed),
};

export const catalogueRoutes: readonly HetznerRoute[] = [
  ...readOnly(["locations", "location", "location"], locations),
  ...readOnly(["datacenters", "datacenter", "datacenter"], datacenters, datacenterBody, { recommendation: 4 }),
  ...readOnly(["server_types", "server_type", "server type"], serverTypes),
  ...readOnly(["load_balancer_types", "load_balancer_type", "load balancer type"], loadBalancerTypes),
  ...readOnly(["isos", "iso", "ISO"], isos),
  { method: "GET", path: "/pricing", answer: () => ok({ pricing }) },
];
