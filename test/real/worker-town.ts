import { join } from "node:path";
import { Client } from "pg";
import type { OperationDocument } from "../../src/control-api/schemas/operation.ts";
import { freePort } from "../../src/store/embedded/free-port.ts";
import { type GatewayCall, type KeyGateway, startKeyGateway } from "../support/key-gateway.ts";
import { startTestServer, temporaryFolder } from "../support/postgres.ts";
import { type PowerDns, startPowerDns } from "../support/powerdns.ts";
import { setpointIn, until } from "../support/product.ts";
import { type RoleProcess, startRole } from "../support/role-process.ts";

const TOKEN = "token-of-the-worker-town";
const ACCOUNTS = 4;
const organization = "/v1/organizations/default";

/** The API, a scheduler and several workers, each a process of its own, on one PostgreSQL and one PowerDNS. */
export async function startWorkerTown(powerDns: string, { workers }: { readonly workers: number }) {
  await using undo = new AsyncDisposableStack();
  const folder = undo.use(temporaryFolder());
  const server = undo.use(await startTestServer());
  const dns = undo.use(await startPowerDns(powerDns));
  const gateway = undo.use(await startKeyGateway({ url: dns.apiUrl, key: dns.apiKey, onTheWayMs: 15 }));
  gateway.allow("all", dns.apiKey, "all");
  const port = await freePort();
  const environment = {
    DATABASE_URL: server.url,
    SETPOINT_DATA: join(folder.path, "data"),
    SETPOINT_TOKEN: TOKEN,
    SETPOINT_PORT: String(port),
    SETPOINT_URL: `http://127.0.0.1:${port}`,
    SETPOINT_RATE_PER_SECOND: "2000",
    SETPOINT_RATE_BURST: "4000",
    SETPOINT_LOG_LEVEL: "warn",
  };
  const database = new Client(server.url);
  await database.connect();
  undo.defer(() => database.end());
  const town = new WorkerTown({ dns, gateway, environment, database });
  undo.defer(() => town.stop());
  await town.start(workers);
  const owned = undo.move();
  return Object.assign(town, { [Symbol.asyncDispose]: () => owned.disposeAsync() });
}

interface Parts {
  readonly dns: PowerDns;
  readonly gateway: KeyGateway;
  readonly environment: Readonly<Record<string, string>>;
  readonly database: Client;
}

export class WorkerTown {
  readonly gateway: KeyGateway;
  readonly #parts: Parts;
  readonly #roles = new Set<RoleProcess>();
  readonly #workers = new Map<number, RoleProcess>();
  readonly #declared = new Map<string, string>();
  readonly #removed = new Set<string>();
  #stepsSeen = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.gateway = parts.gateway;
  }

  async start(workers: number): Promise<void> {
    const { environment, dns, gateway } = this.#parts;
    for (const role of ["api", "scheduler"]) this.#roles.add(startRole(role, environment));
    const health = async () => (await fetch(`${environment["SETPOINT_URL"]}/healthz`)).status;
    await until("the API", health, (status) => status === 200, 600);
    const [resolver = ""] = dns.resolver.getServers();
    const setpoint = setpointIn({ ...process.env, ...environment });
    for (let account = 0; account < ACCOUNTS; account++) {
      const settings = [`url=${gateway.url}`, `resolver=${resolver}`, "sentinel=none"].flatMap((one) => ["--set", one]);
      const words = ["--provider", "powerdns", "--calls-per-second", "1000", "--credential", `file:${dns.keyFile}`];
      const { code, stderr } = await setpoint("account", "add", `lab-${account}`, ...words, ...settings);
      if (code !== 0) throw new Error(`account add ended with ${code}: ${stderr}`);
    }
    for (let worker = 0; worker < workers; worker++) this.#startWorker();
  }

  async stop(): Promise<void> {
    const all = [...this.#roles, ...this.#workers.values()];
    for (const { child } of all) child.kill("SIGKILL");
    await Promise.all(all.map(({ ended }) => ended));
  }

  #startWorker(): void {
    const worker = startRole("worker", this.#parts.environment);
    if (worker.child.pid !== undefined) this.#workers.set(worker.child.pid, worker);
  }

  /** Every account's operations belong to one worker; this kills one who has some, and starts another in its place. */
  async killOneThatWorks(): Promise<void> {
    const busy = `select l.holder, count(*) as operations from setpoint.operation as o
      join setpoint.worker_shard as l on l.shard = o.shard
      where o.state = 'running' and l.until_ms > setpoint.now_ms() group by l.holder order by operations desc`;
    const asked = async () => {
      const { rows } = await this.#parts.database.query<{ holder: string }>(busy);
      return rows.map(({ holder }) => Number(holder.split("/").at(-2))).find((pid) => this.#workers.has(pid));
    };
    const pid = await until("a worker that works", asked, (found) => found !== undefined);
    const victim = this.#workers.get(pid ?? 0);
    if (victim === undefined) throw new Error("the worker is gone already");
    victim.child.kill("SIGKILL");
    await victim.ended;
    this.#workers.delete(pid ?? 0);
    this.#startWorker();
  }

  async live(): Promise<readonly OperationDocument[]> {
    const pages = await Promise.all(["running", "held", "attention"].map((state) => this.#operations(state)));
    return pages.flat();
  }

  /**
   * How many are at work, once there are as many as wanted, somebody has them, and some step has been recorded since the last
   * call: whoever is killed before it could do anything shows nothing.
   */
  async untilInFlight(wanted: number): Promise<number> {
    const asked = `select (select count(*)::integer from setpoint.step where result = 'done') as steps,
      (select count(*)::integer from setpoint.operation as o join setpoint.worker_shard as l on l.shard = o.shard
       where o.state = 'running' and l.until_ms > setpoint.now_ms() and not setpoint.worker_is_gone(l.holder)) as busy`;
    const look = async () => (await this.#parts.database.query<{ steps: number; busy: number }>(asked)).rows[0];
    const found = await until(
      `${wanted} operations in flight`,
      look,
      (seen) => seen !== undefined && seen.busy >= wanted && seen.steps > this.#stepsSeen,
      1_200,
    );
    this.#stepsSeen = found?.steps ?? 0;
    return found?.busy ?? 0;
  }

  async declareZone(): Promise<void> {
    const name = `town-${this.#declared.size}`;
    const account = `lab-${this.#declared.size % ACCOUNTS}`;
    this.#declared.set(name, `${name}.test.`);
    const spec = { account, zone: `${name}.test`, nameservers: [`ns1.${name}.test`], makesZone: true };
    await this.#apply("dnszones", { kind: "DnsZone", metadata: { name, mode: "enforce" }, spec });
    const record = { zone: name, name: "www", type: "A", values: ["192.0.2.10"], ttlSeconds: 60 };
    await this.#apply("dnsrecords", { kind: "DnsRecord", metadata: { name: `${name}-www` }, spec: record });
  }

  /** Zones whose operation has ended, each given out once. */
  takeMade(count: number, live: readonly OperationDocument[]): readonly string[] {
    const busy = new Set(live.map(({ resource }) => resource.name));
    const made = [...this.#declared.keys()].filter((name) => !busy.has(name) && !this.#removed.has(name));
    const taken = made.slice(0, count);
    for (const name of taken) this.#removed.add(name);
    return taken;
  }

  async remove(name: string): Promise<void> {
    const path = `${organization}/dnszones/${name}`;
    const found = await this.#call("GET", path);
    const ifMatch = { "if-match": found.headers.get("etag") ?? "" };
    await this.#must(await this.#call("DELETE", `${path}?confirm=1`, undefined, ifMatch));
  }

  /** What a person would say to those that wait for one. They may have moved on meanwhile, which is just as well. */
  async help(live: readonly OperationDocument[]): Promise<void> {
    const drained = live.filter(({ step, state }) => step === "drained" && state === "running");
    // A machine that stood still for long has let every attempt at a step time out.
    const failed = live.filter(({ state }) => state === "attention");
    const resume = { reason: "the machine is well again" };
    await Promise.all([
      ...drained.map((operation) => this.#skipDrained(operation)),
      ...failed.map(({ id }) => this.#call("POST", `${organization}/operations/${id}:resume`, resume)),
    ]);
  }

  async #skipDrained({ id }: OperationDocument): Promise<void> {
    await this.#call("POST", `${organization}/operations/${id}:skip`, {
      step: "drained",
      reason: "nobody asks any more",
    });
  }

  async untilAllEnded(): Promise<readonly OperationDocument[]> {
    const end = async () => {
      const live = await this.live();
      await this.help(live);
      return live.map(({ id, step, message }) => `${id} ${step}: ${message}`);
    };
    await until("every operation to end", end, (live) => live.length === 0, 1_200);
    return await this.#operations(undefined);
  }

  async zonesOutside(): Promise<readonly string[]> {
    const { body } = await this.#parts.dns.call("GET", "/zones");
    return (body as { name: string }[]).map(({ name }) => name).sort();
  }

  zonesDeclared(): readonly string[] {
    return [...this.#declared].flatMap(([name, zone]) => (this.#removed.has(name) ? [] : [zone])).sort();
  }

  async stepsDoneTwice(operations: readonly OperationDocument[]): Promise<readonly string[]> {
    const twice = `select operation_id || ' ' || step as step from setpoint.step
      where result = 'done' and step <> 'admit' group by operation_id, step, direction having count(*) > 1`;
    const { rows } = await this.#parts.database.query<{ step: string }>(twice);
    const known = new Set(operations.map(({ id }) => id));
    return rows.map(({ step }) => step).filter((step) => known.has(step.split(" ")[0] ?? ""));
  }

  async #operations(state: string | undefined): Promise<readonly OperationDocument[]> {
    const found: OperationDocument[] = [];
    let page: string | undefined;
    do {
      const query = new URLSearchParams({ pageSize: "500", ...(state && { state }), ...(page && { page }) });
      const answer = await this.#must(await this.#call("GET", `${organization}/operations?${query.toString()}`));
      const body = (await answer.json()) as { items: OperationDocument[]; nextPage?: string };
      found.push(...body.items);
      page = body.nextPage;
    } while (page !== undefined);
    return found;
  }

  async #apply(
    kinds: string,
    document: {
      readonly kind: string;
      readonly metadata: { readonly name: string; readonly mode?: string };
      readonly spec: object;
    },
  ): Promise<void> {
    const path = `${organization}/${kinds}/${document.metadata.name}?fieldManager=town`;
    const type = { "content-type": "application/apply+json" };
    await this.#must(await this.#call("PATCH", path, { apiVersion: "setpoint/v1", ...document }, type));
  }

  async #call(method: string, path: string, body?: object, headers: Record<string, string> = {}): Promise<Response> {
    const json = body === undefined ? {} : { "content-type": "application/json" };
    const asked = () =>
      fetch(`${this.#parts.environment["SETPOINT_URL"]}${path}`, {
        method,
        headers: { authorization: `Bearer ${TOKEN}`, ...json, ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    // A connection that was kept may be closed just when it is used again.
    return await asked().catch(asked);
  }

  async #must(answer: Response): Promise<Response> {
    if (!answer.ok) throw new Error(`${answer.url} answered ${answer.status}: ${await answer.text()}`);
    return answer;
  }
}

/** Writes that the server took although it had taken the very same before: each zone is made, changed and deleted once. */
export function duplicatesIn(calls: readonly GatewayCall[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { method, path, status, body } of calls) {
    if (method === "GET" || status >= 300) continue;
    const what = `${method} ${path} ${body}`;
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  return [...counts].flatMap(([what, count]) => (count > 1 ? [`${what}: ${count} times`] : []));
}
