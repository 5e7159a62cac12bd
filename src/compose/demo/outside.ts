import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../ports/clock.ts";
import type { Cloud } from "../../world/cloud.ts";
import type { WorldAnswer } from "../../world/exchange.ts";
import type { Fault } from "../../world/fault-schema.ts";
import { powerDnsStateSchema, SimulatedPowerDns, setOf } from "../../world/powerdns/simulated-powerdns.ts";
import { World } from "../../world/world.ts";
import { drainedLabel } from "../../kinds/cloud/layers.ts";
import { nameservers } from "./dns-declarations.ts";
import { demo } from "./names.ts";
import { Traffic } from "./traffic.ts";

/** Work of the clouds takes a quarter of the usual time: long enough to be watched, and nobody waits for it. */
const pace = 0.25;

interface HetznerThing {
  readonly id: number;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Of a server. */
  readonly status?: string;
  /** Of a firewall. */
  readonly rules?: readonly { readonly port?: string | null }[];
}

/** The outside of the demo: a DNS server and two clouds, as they were left when it ended. */
export class Outside {
  readonly dns: SimulatedPowerDns;
  readonly clouds: World;
  readonly traffic: Traffic;
  /** How the DNS server behaves: as it should, not at all, or with errors; until it is told otherwise. */
  trouble: "none" | "silent" | "failing" = "none";
  readonly #dnsFile: string;
  readonly #cloudsFile: string;

  constructor(folder: string, clock: Clock) {
    mkdirSync(folder, { recursive: true });
    this.traffic = new Traffic(clock);
    this.#dnsFile = join(folder, "dns.json");
    this.#cloudsFile = join(folder, "clouds.json");
    const dns = readJson(this.#dnsFile);
    this.dns = new SimulatedPowerDns(powerDnsStateSchema.safeParse(dns).data);
    fillDns(this.dns);
    this.clouds = new World(clock, { accounts: [demo.tenant], pace });
    const clouds = readJson(this.#cloudsFile);
    if (clouds === undefined) this.#fillClouds();
    else this.clouds.load(clouds);
  }

  /** Written beside and put in place, so that nobody reads half of it. */
  save(what: "dns" | "clouds"): void {
    const [file, state] = what === "dns" ? [this.#dnsFile, this.dns.state] : [this.#cloudsFile, this.clouds.save()];
    writeFileSync(`${file}.new`, JSON.stringify(state));
    renameSync(`${file}.new`, file);
  }

  /** Somebody at the console of a cloud. */
  atConsole(cloud: "hetzner-cloud" | "ionos", method: string, path: string, body?: unknown): WorldAnswer {
    const text = body === undefined ? "" : JSON.stringify(body);
    // The longest page there is: the demo has fewer than that of anything.
    const query = new URLSearchParams(method === "GET" ? { per_page: "50" } : {});
    const request = { method, path, query, headers: {}, body: text };
    const answer = this.clouds.asConsole(this.#cloud(cloud), demo.tenant, request, path);
    if (answer.status >= 400) throw new Error(`${method} ${path} at ${cloud}: ${JSON.stringify(answer.body)}`);
    return answer;
  }

  /** Something of Hetzner's by the name it has there. */
  atHetzner(collection: "servers" | "firewalls", name: string): HetznerThing | undefined {
    return this.#listed(collection).find((thing) => thing.name === name);
  }

  /** The share of a list that ends right before something. In which order servers were made is nobody's choice. */
  shareBefore(collection: "servers" | "firewalls", name: string): number {
    const all = this.#listed(collection);
    const place = all.findIndex((thing) => thing.name === name);
    if (place < 0) throw new Error(`There is no ${name} at Hetzner yet: wait until the demo has made it.`);
    return Math.max(0, place - 0.5) / all.length;
  }

  #listed(collection: "servers" | "firewalls"): readonly HetznerThing[] {
    const { body } = this.atConsole("hetzner-cloud", "GET", `/${collection}`);
    return (body as Record<string, readonly HetznerThing[]>)[collection] ?? [];
  }

  /** What visitors ask for is shared by the servers that load balancers send them to, as it is at this moment. */
  spreadTraffic(): void {
    const serving = this.#listed("servers").filter(
      ({ labels, status }) =>
        labels["role"] === demo.group && status === "running" && labels[drainedLabel] === undefined,
    );
    const cpu = this.traffic.cpuOfEach(serving.length);
    const load = Object.fromEntries(serving.map(({ name }) => [name, { cpu }]));
    // Whoever gets no visitors is not at rest: a server has work of its own.
    this.#cloud("hetzner-cloud").configure(demo.tenant, { load: { "*": { cpu: 3 }, ...load } });
  }

  /** Lays a fault into the way of everybody who asks Hetzner. */
  breakHetzner(fault: Fault): number {
    return this.clouds.core.tray.place({ ...fault, cloud: "hetzner-cloud" }).id;
  }

  #cloud(name: string): Cloud {
    const cloud = this.clouds.clouds.find((each) => each.name === name);
    if (cloud === undefined) throw new Error(`The demo has no cloud ${name}.`);
    return cloud;
  }

  /** What was there before Setpoint came: a data center, and two servers that nobody has declared. */
  #fillClouds(): void {
    this.atConsole("ionos", "POST", "/datacenters", { properties: { name: demo.datacenter, location: "de/fra" } });
    this.#cloud("hetzner-cloud").fill(demo.tenant, { servers: 2, prefix: "legacy", labels: { owner: "agency" } });
  }
}

function readJson(file: string): unknown {
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined;
}

/** What is at the DNS server before Setpoint comes. A zone that this demo did not have yet is added to one from before. */
function fillDns(dns: SimulatedPowerDns): void {
  const known = new Set(dns.state.zones.map(({ name }) => name));
  const first = known.size === 0;
  for (const zone of ["shop.example.", "brand.example.", "mail.example.", "status.example."].filter(
    (name) => !known.has(name),
  ))
    dns.handle(
      "POST",
      "/api/v1/servers/localhost/zones",
      new URLSearchParams(),
      JSON.stringify({ name: zone, kind: "Native", nameservers }),
    );
  if (!first) return;
  dns.edit("brand.example.", (sets) => [
    ...sets.filter(({ type }) => type === "NS"),
    setOf("www.brand.example.", "A", 300, ["203.0.113.79"]),
    setOf("press.brand.example.", "A", 300, ["203.0.113.81"]),
  ]);
  dns.edit("mail.example.", (sets) => [
    ...sets.filter(({ type }) => type === "NS"),
    setOf("mx1.mail.example.", "A", 300, ["198.51.100.200"]),
  ]);
}
