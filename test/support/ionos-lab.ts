import assert from "node:assert/strict";
import type { JsonObject } from "../../src/ports/json.ts";
import type { WorldOptions } from "../../src/world/world.ts";
import { CloudLab } from "./cloud-lab.ts";

export interface Raw {
  readonly href: string;
  readonly id: string;
  readonly properties: Readonly<Record<string, string | number | boolean | undefined>> & { readonly name?: string };
  readonly entities?: Readonly<Record<string, { readonly items: readonly Raw[] }>>;
}

const order = { account: "demo", type: "2-cores-4-gb-20-gb-ssd", image: "debian:12", location: "main" };

/** The cloud kinds at a contract of IONOS with one data center, `main`, and somebody who edits there by hand. */
export class IonosLab extends CloudLab {
  #datacenter = "";

  static override async open(options: WorldOptions = {}): Promise<IonosLab> {
    const lab = new IonosLab(...(await CloudLab.furnish({ cloud: "ionos", pace: 0.05, ...options })));
    lab.world.clouds.find(({ name }) => name === "ionos")?.configure("demo", { requestsPerMinute: 1_000_000 });
    const body = { properties: { name: "main", location: "de/fra" } };
    lab.#datacenter = (lab.console("POST", "/datacenters", body) as unknown as Raw).id;
    await lab.bench.pass({ minutes: 1 });
    return lab;
  }

  /** Declares a host and makes its server. */
  async host(name: string, spec: JsonObject = {}): Promise<void> {
    await this.redeclare(name, spec);
    const made = await this.finish(await this.start("host.create", `Host/${name}`), 600);
    assert.equal(made.state, "succeeded", made.message);
  }

  async redeclare(name: string, spec: JsonObject): Promise<void> {
    const publicAddresses = { ipv4: true, ipv6: false };
    await this.bench.declare(`Host/${name}`, { ...order, publicAddresses, ...spec });
  }

  async remove(name: string): Promise<void> {
    await this.bench.delete(`Host/${name}`, { confirmedCount: 2 });
    const removed = await this.finish(await this.start("host.delete", `Host/${name}`), 600);
    assert.equal(removed.state, "succeeded", removed.message);
  }

  /** A server of somebody else, with a card in a public LAN of theirs. */
  async theirServer(name: string): Promise<void> {
    const lan = this.make("lans", { name: "theirs", public: true });
    await this.bench.pass({ minutes: 1 });
    const nics = { items: [{ properties: { lan: Number(lan.id), name } }] };
    this.console("POST", `${this.at}/servers`, { properties: { name, cores: 1, ram: 1024 }, entities: { nics } });
    await this.bench.pass({ minutes: 1 });
  }

  get at(): string {
    return `/datacenters/${this.#datacenter}`;
  }

  make(segment: string, properties: object): Raw {
    return this.console("POST", `${this.at}/${segment}`, { properties }) as unknown as Raw;
  }

  all(segment: string): readonly Raw[] {
    return this.console("GET", `${this.at}/${segment}?depth=5`)["items"] as readonly Raw[];
  }

  /** The one whose name begins so; what follows is the mark. */
  one(segment: string, name: string): Raw {
    const found = this.all(segment).filter(({ properties }) => properties.name?.split(" ")[0] === name);
    assert.equal(found.length, 1, `${found.length} ${segment} named ${name}`);
    return found[0] ?? assert.fail();
  }

  /** Everything of a thing but what a request that passed by leaves on it. */
  raw(name: string): string {
    return JSON.stringify(this.one("servers", name));
  }

  /** What the public card of a server lets through, as its rules say it. */
  card(server: string): { readonly active: boolean; readonly type: string; readonly rules: readonly string[] } {
    const { properties } = this.#card(server);
    return {
      active: properties["firewallActive"] as boolean,
      type: properties["firewallType"] as string,
      rules: this.#rules(server)
        .map(({ properties: rule }) => {
          const ports =
            rule["portRangeStart"] === undefined ? "" : [rule["portRangeStart"], rule["portRangeEnd"]].join("-");
          const block = (rule["type"] === "EGRESS" ? rule["targetIp"] : rule["sourceIp"]) ?? "any";
          const name = rule.name?.replace(/ setpoint:.*$/, "") ?? "";
          return [rule["type"], rule["protocol"], ports, block, name].join(" ");
        })
        .sort(),
    };
  }

  addRule(server: string, properties: object): void {
    this.console("POST", `${this.#cardPath(server)}/firewallrules`, { properties });
  }

  /** By its place in the order of what they let through. */
  changeRule(server: string, index: number, properties: object): void {
    this.console("PATCH", this.#rulePath(server, index), properties);
  }

  removeRule(server: string, index: number): void {
    this.console("DELETE", this.#rulePath(server, index));
  }

  removeRules(server: string): void {
    while (this.#rules(server).length > 0) this.removeRule(server, 0);
  }

  changeCard(server: string, properties: object): void {
    this.console("PATCH", this.#cardPath(server), properties);
  }

  /** As somebody at the console changes a thing, wherever it is. */
  change({ href }: Raw, properties: object): void {
    this.console("PATCH", pathOf(href), properties);
  }

  discard(thing: Raw | undefined): void {
    this.console("DELETE", pathOf(thing?.href ?? assert.fail("there is no such thing")));
  }

  /** A load balancer of somebody else, on an address and in a network of their own. */
  theirBalancer(name: string): void {
    const open = this.all("lans").find(({ properties }) => properties["public"] === true) ?? assert.fail("no LAN");
    const inner = this.make("lans", { name, public: false });
    const block = this.console("POST", "/ipblocks", { properties: { name, location: "de/fra", size: 1 } });
    const { ips } = block["properties"] as { readonly ips: readonly string[] };
    const properties = { name, listenerLan: Number(open.id), targetLan: Number(inner.id), ips };
    const rule = { name: "all", algorithm: "ROUND_ROBIN", protocol: "TCP", listenerIp: ips[0], listenerPort: 443 };
    const forwardingrules = { items: [{ properties: { ...rule, targets: [] } }] };
    this.console("POST", `${this.at}/networkloadbalancers`, { properties, entities: { forwardingrules } });
  }

  /** The IP block that is reserved for something of ours. */
  ownBlock(name: string): Raw {
    const all = this.console("GET", "/ipblocks?depth=1")["items"] as readonly Raw[];
    const found = all.filter(({ properties }) => properties.name?.startsWith(`${name} setpoint:`) === true);
    assert.equal(found.length, 1, `${found.length} IP blocks of ${name}`);
    return found[0] ?? assert.fail();
  }

  /** Where a server is in its one network. */
  innerAddress(server: string): string {
    const inner = this.all("lans").filter(({ properties }) => properties["public"] !== true);
    const numbers = new Set(inner.map(({ id }) => Number(id)));
    const cards = this.one("servers", server).entities?.["nics"]?.items ?? [];
    const card = cards.find(({ properties }) => numbers.has(Number(properties["lan"])));
    const ips = card?.properties["ips"] as unknown as readonly string[] | undefined;
    return ips?.[0] ?? assert.fail(`${server} is in no network`);
  }

  removeCard(server: string, index: number): void {
    const { href = "" } = this.one("servers", server).entities?.["nics"]?.items[index] ?? {};
    this.console("DELETE", pathOf(href));
  }

  wipeLabels(server: string, keys = /./): void {
    const labels = this.labels(server).filter(({ id }) => keys.test(id));
    assert.ok(labels.length > 0, `${server} has no label ${String(keys)}`);
    for (const label of labels) this.discard(label);
  }

  labels(server: string): readonly Raw[] {
    return this.console("GET", `${this.at}/servers/${this.one("servers", server).id}/labels`)[
      "items"
    ] as readonly Raw[];
  }

  /** A name that still carries the mark of the first rule of a card. */
  markedName(server: string, name: string): string {
    return `${name} ${/setpoint:.*$/.exec(this.#rules(server)[0]?.properties.name ?? "")?.[0] ?? ""}`;
  }

  #card(server: string): Raw {
    const open = this.all("lans").filter(({ properties }) => properties["public"] === true);
    const numbers = new Set(open.map(({ id }) => Number(id)));
    const cards = this.one("servers", server).entities?.["nics"]?.items ?? [];
    return (
      cards.find(({ properties }) => numbers.has(Number(properties["lan"]))) ?? assert.fail(`${server} has no card`)
    );
  }

  #rules(server: string): readonly Raw[] {
    const text = ({ properties }: Raw) => [properties["protocol"], properties["sourceIp"], properties.name].join(" ");
    const rules = this.#card(server).entities?.["firewallrules"]?.items ?? [];
    return rules.toSorted((left, right) => (text(left) < text(right) ? -1 : 1));
  }

  #cardPath(server: string): string {
    return `${this.at}/servers/${this.one("servers", server).id}/nics/${this.#card(server).id}`;
  }

  #rulePath(server: string, index: number): string {
    return `${this.#cardPath(server)}/firewallrules/${this.#rules(server)[index]?.id ?? assert.fail("no rule")}`;
  }
}

/** Behind the version of the API. */
function pathOf(href: string): string {
  return href.slice(href.indexOf("/v6/") + 3);
}
