import type { Ask } from "./hetzner-walk.ts";

interface Made {
  readonly id?: string;
  readonly items?: readonly { readonly id: string }[];
  readonly properties?: Readonly<Record<string, unknown>>;
}

/** Every operation of IONOS that the world offers, well asked, in an order in which each of them succeeds. */
export class IonosWalk {
  readonly #ask: Ask;

  constructor(ask: Ask) {
    this.#ask = ask;
  }

  async all(): Promise<void> {
    await this.catalogue();
    const center = await this.#make("/datacenters", { name: "walk", location: "de/fra", description: "for a walk" });
    const at = `/datacenters/${center}`;
    await this.#things("/datacenters", center, { name: "walked" }, { name: "walked", location: "de/fra" });
    const lan = await this.#make(`${at}/lans`, { name: "outer", public: true });
    await this.#things(`${at}/lans`, lan, { name: "outside" }, { name: "outside", public: true });
    const server = await this.servers(at, Number(lan));
    await this.volumes(at, server);
    await this.nics(at, server, Number(lan));
    await this.balancers(at, Number(lan));
    await this.ipBlocks();
    for (const [path, id] of [
      ["/datacenters", center],
      [`${at}/servers`, server],
    ] as const) {
      await this.labels(`${path}/${id}`);
    }
    await this.requests();
    await this.#well("DELETE", `${at}/servers/${server}?deleteVolumes=true`);
    await this.#well("DELETE", `${at}/lans/${lan}`);
    await this.#well("DELETE", at);
  }

  async catalogue(): Promise<void> {
    await this.#well("GET", "/");
    await this.#well("GET", "/locations?depth=1");
    await this.#well("GET", "/locations/de");
    await this.#well("GET", "/locations/de/fra");
    const { items = [] } = await this.#well("GET", "/images?depth=1");
    await this.#well("GET", `/images/${items[0]?.id ?? ""}`);
    await this.#well("GET", "/contracts");
  }

  async servers(at: string, lan: number): Promise<string> {
    const disk = {
      properties: { name: "boot", size: 10, type: "SSD", imageAlias: "debian:12", sshKeys: ["ssh-rsa x"] },
    };
    const rule = { properties: { protocol: "TCP", portRangeStart: 22, portRangeEnd: 22, name: "ssh" } };
    const card = {
      properties: { lan, dhcp: true, firewallActive: true },
      entities: { firewallrules: { items: [rule] } },
    };
    const made = await this.#well("POST", `${at}/servers?depth=3`, {
      properties: { name: "web-1", cores: 2, ram: 4096, availabilityZone: "AUTO" },
      entities: { volumes: { items: [disk] }, nics: { items: [card] } },
    });
    const id = made.id ?? "";
    await this.#things(`${at}/servers`, id, { cores: 4 }, { name: "web-1", cores: 4, ram: 4096 });
    for (const verb of ["stop", "start", "reboot", "suspend", "resume", "upgrade"]) {
      await this.#well("POST", `${at}/servers/${id}/${verb}`);
    }
    return id;
  }

  async volumes(at: string, server: string): Promise<void> {
    const volume = await this.#make(`${at}/volumes`, { name: "data", size: 20, type: "HDD", licenceType: "OTHER" });
    await this.#things(`${at}/volumes`, volume, { size: 30 }, { name: "data", size: 30 });
    await this.labels(`${at}/volumes/${volume}`);
    const attached = `${at}/servers/${server}/volumes`;
    await this.#well("POST", attached, { id: volume, properties: { size: 30 } });
    await this.#well("GET", `${attached}?depth=1`);
    await this.#well("GET", `${attached}/${volume}`);
    await this.#well("DELETE", `${attached}/${volume}`);
    const { id: snapshot = "" } = await this.#well("POST", `${at}/volumes/${volume}/create-snapshot`);
    await this.#well("GET", "/snapshots?depth=1");
    await this.#well("GET", `/snapshots/${snapshot}`);
    await this.#well("DELETE", `/snapshots/${snapshot}`);
    await this.#well("DELETE", `${at}/volumes/${volume}`);
  }

  async nics(at: string, server: string, lan: number): Promise<void> {
    const path = `${at}/servers/${server}/nics`;
    const nic = await this.#make(path, { name: "second", lan, dhcp: true });
    await this.#things(path, nic, { firewallActive: true }, { name: "second", lan, firewallActive: true });
    await this.#well("GET", `${at}/lans/${lan}/nics?depth=2`);
    await this.#well("GET", `${at}/lans/${lan}/nics/${nic}`);
    const rules = `${path}/${nic}/firewallrules`;
    const rule = await this.#make(rules, { protocol: "ICMP", icmpType: 8, icmpCode: 0 });
    await this.#things(rules, rule, { name: "ping", protocol: "ICMP" }, { protocol: "ICMP", name: "ping" });
    await this.#well("DELETE", `${rules}/${rule}`);
    await this.#well("DELETE", `${path}/${nic}`);
  }

  async balancers(at: string, lan: number): Promise<void> {
    const inner = Number(await this.#make(`${at}/lans`, { name: "inner", public: false }));
    const path = `${at}/networkloadbalancers`;
    const block = await this.#make("/ipblocks", { name: "front", location: "de/fra", size: 1 });
    const { properties = {} } = await this.#well("GET", `/ipblocks/${block}`);
    const [ip = ""] = properties["ips"] as readonly string[];
    const whole = { name: "front", listenerLan: lan, targetLan: inner, ips: [ip] };
    const balancer = await this.#make(path, whole);
    await this.#things(path, balancer, { ...whole, name: "edge" }, whole);
    const rules = `${path}/${balancer}/forwardingrules`;
    const rule = {
      name: "http",
      algorithm: "ROUND_ROBIN",
      protocol: "TCP",
      listenerIp: ip,
      listenerPort: 80,
      targets: [{ ip: "10.7.1.10", port: 8080, weight: 1, healthCheck: { check: true, checkInterval: 2000 } }],
    };
    const id = await this.#make(rules, rule);
    await this.#things(rules, id, { ...rule, listenerPort: 81 }, rule);
    await this.#well("DELETE", `${rules}/${id}`);
    await this.#well("DELETE", `${path}/${balancer}`);
    await this.#well("DELETE", `/ipblocks/${block}`);
    await this.#well("DELETE", `${at}/lans/${inner}`);
  }

  async ipBlocks(): Promise<void> {
    const block = await this.#make("/ipblocks", { name: "fixed", location: "de/fra", size: 2 });
    const whole = { name: "kept", location: "de/fra", size: 2 };
    await this.#things("/ipblocks", block, whole, whole);
    await this.labels(`/ipblocks/${block}`);
    await this.#well("DELETE", `/ipblocks/${block}`);
  }

  async labels(path: string): Promise<void> {
    await this.#well("POST", `${path}/labels`, { properties: { key: "role", value: "walk" } });
    await this.#well("GET", `${path}/labels?depth=1`);
    await this.#well("GET", "/labels?depth=1");
    await this.#well("PUT", `${path}/labels/role`, { properties: { key: "role", value: "walked" } });
    await this.#well("GET", `${path}/labels/role`);
    await this.#well("DELETE", `${path}/labels/role`);
  }

  async requests(): Promise<void> {
    const { items = [] } = await this.#well("GET", "/requests?depth=1&limit=2");
    await this.#well("GET", `/requests/${items[0]?.id ?? ""}`);
    await this.#well("GET", `/requests/${items[0]?.id ?? ""}/status`);
  }

  async #make(path: string, properties: unknown): Promise<string> {
    return (await this.#well("POST", path, { properties })).id ?? "";
  }

  /** List, get and both ways to change, as all elements have them. */
  async #things(path: string, id: string, patch: unknown, put: unknown): Promise<void> {
    for (const depth of [0, 1, 2]) await this.#well("GET", `${path}?depth=${depth}`);
    await this.#well("GET", `${path}/${id}?depth=3`);
    await this.#well("PATCH", `${path}/${id}`, patch);
    await this.#well("PUT", `${path}/${id}`, { properties: put });
  }

  async #well(method: string, path: string, body?: unknown): Promise<Made> {
    const answer = await this.#ask(method, path, body);
    if (answer.status < 300) return answer.body ?? {};
    throw new Error(`${method} ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  }
}
