import { z } from "zod";

const recordSetSchema = z.object({
  name: z.string(),
  type: z.string(),
  ttl: z.int(),
  records: z.array(z.object({ content: z.string(), disabled: z.boolean() })),
});
type RecordSet = z.output<typeof recordSetSchema>;
const zoneSchema = z.object({ name: z.string(), kind: z.string(), serial: z.int(), rrsets: z.array(recordSetSchema) });
type Zone = z.output<typeof zoneSchema>;
export const powerDnsStateSchema = z.object({
  serverId: z.string(),
  keys: z.array(z.string()),
  zones: z.array(zoneSchema),
});
export type PowerDnsState = z.output<typeof powerDnsStateSchema>;

export interface PowerDnsAnswer {
  readonly status: number;
  readonly body?: unknown;
}

const patchSchema = z.object({
  rrsets: z.array(
    z.object({
      name: z.string(),
      type: z.string(),
      changetype: z.enum(["REPLACE", "DELETE"]),
      ttl: z.int().optional(),
      records: z.array(z.object({ content: z.string(), disabled: z.boolean().default(false) })).default([]),
    }),
  ),
});
const newZoneSchema = z.object({ name: z.string(), kind: z.string(), nameservers: z.array(z.string()).default([]) });

/** As much of PowerDNS's HTTP API of 4.7 as its provider speaks, over records kept here. */
export class SimulatedPowerDns {
  #state: PowerDnsState;

  constructor(state: PowerDnsState = { serverId: "demo-dns-1", keys: [], zones: [] }) {
    this.#state = state;
  }

  get state(): PowerDnsState {
    return this.#state;
  }

  /** Another machine answers at the same address. */
  becomeServer(serverId: string): void {
    this.#state = { ...this.#state, serverId };
  }

  zone(name: string): Zone | undefined {
    return this.#state.zones.find((zone) => zone.name === name);
  }

  /** What somebody does at the server itself. */
  edit(zone: string, change: (sets: readonly RecordSet[]) => readonly RecordSet[]): void {
    const found = this.zone(zone);
    if (found !== undefined) this.#put({ ...found, rrsets: [...change(found.rrsets)] });
  }

  handle(method: string, path: string, query: URLSearchParams, body: string): PowerDnsAnswer {
    const rest = /^\/api\/v1\/servers\/localhost(?:\/(.*))?$/.exec(path);
    if (rest === null) return refusal(404, "Not Found");
    const [what = "", id = ""] = (rest[1] ?? "").split("/").map(decodeURIComponent);
    if (what === "") return { status: 200, body: this.#server() };
    if (what === "config") return { status: 200, body: [{ name: "server-id", value: this.#state.serverId }] };
    if (what === "tsigkeys") return this.#keys(method, id, body);
    if (what === "zones") return id === "" ? this.#zones(method, body) : this.#zone(method, id, query, body);
    return refusal(404, "Not Found");
  }

  #server() {
    return { id: "localhost", daemon_type: "authoritative", url: "/api/v1/servers/localhost", version: "4.7.3" };
  }

  #keys(method: string, id: string, body: string): PowerDnsAnswer {
    const { keys } = this.#state;
    if (method === "GET") return { status: 200, body: keys.map((name) => ({ id: `${name}.`, name })) };
    if (method === "DELETE") {
      this.#state = { ...this.#state, keys: keys.filter((name) => `${name}.` !== id) };
      return { status: 204 };
    }
    const { name } = z.object({ name: z.string() }).parse(JSON.parse(body));
    if (keys.includes(name)) return refusal(409, "A TSIG key with this name already exists");
    this.#state = { ...this.#state, keys: [...keys, name] };
    return { status: 201, body: { id: `${name}.`, name } };
  }

  #zones(method: string, body: string): PowerDnsAnswer {
    if (method === "GET")
      return { status: 200, body: this.#state.zones.map(({ name, kind, serial }) => ({ name, kind, serial })) };
    const { name, kind, nameservers } = newZoneSchema.parse(JSON.parse(body));
    if (this.zone(name) !== undefined) return refusal(409, `Domain '${name}' already exists`);
    this.#put({ name, kind, serial: 1, rrsets: [setOf(name, "NS", 3600, nameservers)] });
    return { status: 201, body: this.zone(name) };
  }

  #zone(method: string, id: string, query: URLSearchParams, body: string): PowerDnsAnswer {
    const found = this.zone(id);
    if (found === undefined) return refusal(404, "Could not find domain");
    if (method === "GET") return { status: 200, body: shown(found, query) };
    if (method === "DELETE") {
      this.#state = { ...this.#state, zones: this.#state.zones.filter(({ name }) => name !== id) };
      return { status: 204 };
    }
    if (method === "PUT") return { status: 204 };
    const { rrsets } = patchSchema.parse(JSON.parse(body));
    const isSame = (one: RecordSet, other: { readonly name: string; readonly type: string }) =>
      one.name === other.name && one.type === other.type;
    const kept = found.rrsets.filter((set) => !rrsets.some((change) => isSame(set, change)));
    const put = rrsets
      .filter(({ changetype }) => changetype === "REPLACE")
      .map(({ name, type, ttl = 300, records }) => ({ name, type, ttl, records }));
    this.#put({ ...found, rrsets: [...kept, ...put] });
    return { status: 204 };
  }

  /** Every change has a serial of its own, and the SOA says it. */
  #put(zone: Zone): void {
    const serial = zone.serial + 1;
    const soa = setOf(zone.name, "SOA", 3600, [
      `ns1.${zone.name} hostmaster.${zone.name} ${serial} 10800 3600 604800 3600`,
    ]);
    const rrsets = [soa, ...zone.rrsets.filter(({ type }) => type !== "SOA")];
    const zones = this.#state.zones.filter(({ name }) => name !== zone.name);
    this.#state = { ...this.#state, zones: [...zones, { ...zone, serial, rrsets }] };
  }
}

export function setOf(name: string, type: string, ttl: number, values: readonly string[]): RecordSet {
  return { name, type, ttl, records: values.map((content) => ({ content, disabled: false })) };
}

function shown(zone: Zone, query: URLSearchParams) {
  const head = {
    id: zone.name,
    name: zone.name,
    kind: zone.kind,
    serial: zone.serial,
    soa_edit_api: "DEFAULT",
    dnssec: false,
  };
  if (query.get("rrsets") === "false") return head;
  const [name, type] = [query.get("rrset_name"), query.get("rrset_type")];
  const rrsets = zone.rrsets.filter(
    (set) => (name === null || set.name === name) && (type === null || set.type === type),
  );
  return { ...head, rrsets };
}

function refusal(status: number, error: string): PowerDnsAnswer {
  return { status, body: { error } };
}
