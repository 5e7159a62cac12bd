export interface Location {
  readonly id: number;
  readonly name: string;
  readonly description: string;
  readonly country: string;
  readonly city: string;
  readonly latitude: number;
  readonly longitude: number;
  readonly network_zone: string;
}

const row = (
  id: number,
  name: string,
  [city, country, network_zone, latitude, longitude]: readonly [string, string, string, number, number],
): Location => ({
  id,
  name,
  description: `${city} DC Park 1`,
  country,
  city,
  latitude,
  longitude,
  network_zone,
});

export const locations: readonly Location[] = [
  row(1, "fsn1", ["Falkenstein", "DE", "eu-central", 50.47612, 12.370071]),
  row(2, "nbg1", ["Nuremberg", "DE", "eu-central", 49.452102, 11.076665]),
  row(3, "hel1", ["Helsinki", "FI", "eu-central", 60.169855, 24.938379]),
  row(4, "ash", ["Ashburn", "US", "us-east", 39.045821, -77.487073]),
  row(5, "hil", ["Hillsboro", "US", "us-west", 45.54222, -122.951924]),
  row(6, "sin", ["Singapore", "SG", "ap-southeast", 1.283333, 103.833333]),
];

export interface Datacenter {
  readonly id: number;
  readonly name: string;
  readonly description: string;
  readonly location: string;
}

export const datacenters: readonly Datacenter[] = [
  { id: 4, name: "fsn1-dc14", description: "Falkenstein 1 virtual DC 14", location: "fsn1" },
  { id: 2, name: "nbg1-dc3", description: "Nuremberg 1 virtual DC 3", location: "nbg1" },
  { id: 3, name: "hel1-dc2", description: "Helsinki 1 virtual DC 2", location: "hel1" },
  { id: 5, name: "ash-dc1", description: "Ashburn virtual DC 1", location: "ash" },
  { id: 6, name: "hil-dc1", description: "Hillsboro virtual DC 1", location: "hil" },
  { id: 7, name: "sin-dc1", description: "Singapore virtual DC 1", location: "sin" },
];

const locationByName = new Map(locations.map((location) => [location.name, location]));
const datacenterByName = new Map(datacenters.map((datacenter) => [datacenter.name, datacenter]));
const datacenterByLocation = new Map(datacenters.map((datacenter) => [datacenter.location, datacenter]));

/** What is stored names what the catalogue has, so these never fail for a stored row. */
export function locationNamed(name: string): Location {
  return known(locationByName.get(name), "location", name);
}

export function datacenterNamed(name: string): Datacenter {
  return known(datacenterByName.get(name), "datacenter", name);
}

export function datacenterIn(location: string): Datacenter {
  return known(datacenterByLocation.get(location), "datacenter in", location);
}

function known<T>(found: T | undefined, what: string, name: string): T {
  if (found === undefined) throw new Error(`The catalogue has no ${what} "${name}".`);
  return found;
}

export function findByIdOrName<T extends { readonly id: number; readonly name: string | null }>(
  rows: readonly T[],
  idOrName: string,
): T | undefined {
  return rows.find(({ id, name }) => String(id) === idOrName || name === idOrName);
}
