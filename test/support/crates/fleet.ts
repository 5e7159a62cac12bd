import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { freePort } from "../../../src/store/embedded/free-port.ts";
import { query, startTestServer, type TestServer, temporaryFolder } from "../postgres.ts";
import { type RoleProcess, startRole } from "../role-process.ts";
import { CrateOutside } from "./crate-outside.ts";

const kindModule = fileURLToPath(new URL("./crate-kind.ts", import.meta.url));
const token = "token-of-a-fleet-of-many-processes";
const AT_ONCE = 16;

export interface FleetProcess extends RoleProcess {
  readonly pid: number;
  kill(signal: NodeJS.Signals): void;
}

export interface Operation {
  readonly id: string;
  readonly version: number;
  readonly state: string;
  readonly message: string;
}

/** An API and any number of workers, each a process of its own, on one PostgreSQL, with crates as their outside. */
export class Fleet implements AsyncDisposable {
  readonly outside: CrateOutside;
  readonly #undo: AsyncDisposableStack;
  readonly #server: TestServer;
  readonly #serverPid: () => number;
  readonly #folder: string;
  readonly #port: number;
  #api: FleetProcess | undefined;

  private constructor(about: {
    readonly outside: CrateOutside;
    readonly undo: AsyncDisposableStack;
    readonly server: TestServer;
    readonly serverPid: () => number;
    readonly folder: string;
    readonly port: number;
  }) {
    this.outside = about.outside;
    this.#undo = about.undo;
    this.#server = about.server;
    this.#serverPid = about.serverPid;
    this.#folder = about.folder;
    this.#port = about.port;
  }

  static async open(): Promise<Fleet> {
    await using undo = new AsyncDisposableStack();
    const outside = undo.use(await CrateOutside.open());
    let serverPid = 0;
    const log = (event: string, fields?: Readonly<Record<string, unknown>>) => {
      if (event === "embedded-postgres.ready") serverPid = Number(fields?.["pid"]);
    };
    const server = undo.use(await startTestServer({ log }));
    const folder = undo.use(temporaryFolder()).path;
    const about = { outside, server, serverPid: () => serverPid, folder, port: await freePort() };
    return new Fleet({ ...about, undo: undo.move() });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#undo.disposeAsync();
  }

  /** The API as that release has it; one that runs already is ended first. */
  async api(release = 1): Promise<void> {
    if (this.#api !== undefined) {
      this.#api.kill("SIGTERM");
      await this.#api.ended;
    }
    const api = this.#start("api", release);
    this.#api = api;
    await until("the API to answer", async () => {
      if (api.printed().includes("role.failed")) throw new Error(api.printed());
      const answer = await fetch(`http://127.0.0.1:${this.#port}/healthz`).catch(() => undefined);
      return answer?.status === 200;
    });
  }

  /** A worker of that release, once it has leased something. */
  async worker(release = 1): Promise<FleetProcess> {
    const worker = this.#start("worker", release);
    await until("the worker to lease shards", async () => {
      if (worker.printed().includes("role.failed")) throw new Error(worker.printed());
      return (await this.shardsOf(worker)) > 0;
    });
    return worker;
  }

  async shardsOf({ pid }: FleetProcess): Promise<number> {
    const rows = await this.query<{ holder: string | null }>(
      "select holder from setpoint.worker_shard where until_ms > setpoint.now_ms()",
    );
    return rows.filter(({ holder }) => holder?.split("/").includes(String(pid))).length;
  }

  query<Row>(text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    return query<Row>(this.#server.url, text, values);
  }

  /** The server ends as on a restart of its machine, and is started again. */
  async restartDatabase(): Promise<void> {
    const before = this.#serverPid();
    process.kill(before, "SIGINT");
    await until("PostgreSQL to run again", async () => this.#serverPid() !== before);
    await this.#server.server.whenReady();
  }

  async send(method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }> {
    const answer = await fetch(`http://127.0.0.1:${this.#port}/v1/organizations${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: await answer.json() };
  }

  /** So many organizations: what is in one of them is always in one worker. */
  async organizations(count: number): Promise<readonly string[]> {
    const names = Array.from({ length: count }, (_, index) => `tenant-${index}`);
    await inTurns(names, async (name) => this.#must(201, await this.send("POST", "", { name })));
    return names;
  }

  /** Declares crates, which starts an operation for each. */
  async pack(crates: readonly { readonly organization: string; readonly name: string }[]): Promise<void> {
    await inTurns(crates, async ({ organization, name }) => {
      const manifest = { apiVersion: "setpoint/v1", kind: "Crate", metadata: { name }, spec: {} };
      this.#must(202, await this.send("POST", `/${organization}/crates`, manifest));
    });
  }

  /** The newest operation on one crate. */
  async operation(organization: string, name: string): Promise<Operation> {
    const { body } = await this.send("GET", `/${organization}/crates/${name}/operations`);
    const [first] = (body as { items: readonly Operation[] }).items;
    if (first === undefined) throw new Error(`There is no operation on crate ${name}`);
    return first;
  }

  /** How many operations there are in each state. */
  async states(): Promise<Readonly<Record<string, number>>> {
    const rows = await this.query<{ state: string; count: number }>(
      "select state, count(*)::integer as count from setpoint.operation group by state",
    );
    return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
  }

  async allSucceed(count: number): Promise<void> {
    await until(`${count} operations to succeed`, async () => {
      const states: Readonly<Record<string, number>> = await this.states().catch(() => ({}));
      const { succeeded = 0, attention = 0, ...rest } = states;
      if (attention > 0) throw new Error(`${attention} operations wait for a person: ${await this.#why()}`);
      return succeeded === count && Object.keys(rest).length === 0;
    });
  }

  async #why(): Promise<string> {
    const rows = await this.query<{ message: string }>(
      "select message from setpoint.operation where state = 'attention' limit 3",
    );
    return rows.map(({ message }) => message).join("; ");
  }

  #must(expected: number, { status, body }: { readonly status: number; readonly body: unknown }): void {
    if (status !== expected) throw new Error(`The API answered ${status}, not ${expected}: ${JSON.stringify(body)}`);
  }

  #start(role: string, release: number): FleetProcess {
    const environment = {
      DATABASE_URL: this.#server.url,
      SETPOINT_DATA: join(this.#folder, "data"),
      SETPOINT_TOKEN: token,
      SETPOINT_PORT: String(this.#port),
      SETPOINT_RATE_PER_SECOND: "10000",
      SETPOINT_RATE_BURST: "10000",
      SETPOINT_KINDS: kindModule,
      CRATES_URL: this.outside.url,
      CRATES_RELEASE: String(release),
    };
    const process = startRole(role, environment);
    const { child } = process;
    const started = { ...process, pid: child.pid ?? 0, kill: (signal: NodeJS.Signals) => void child.kill(signal) };
    this.#undo.defer(async () => {
      started.kill("SIGKILL");
      await started.ended;
    });
    return started;
  }
}

async function inTurns<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const left = items.values();
  const some = async () => {
    for (const item of left) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, some));
}

/** For what other processes do, where there is no event to wait for. Whoever waits in vain is ended by the test's own limit. */
export async function until(what: string, condition: () => Promise<boolean>): Promise<void> {
  const endsAt = performance.now() + 180_000;
  while (!(await condition())) {
    if (performance.now() > endsAt) throw new Error(`Waited three minutes in vain for ${what}`);
    await sleep(25);
  }
}
