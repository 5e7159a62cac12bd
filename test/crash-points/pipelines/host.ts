import type { Kind } from "../../../src/kernel/kind.ts";
import type { HttpAnswer, HttpSilence } from "../../../src/ports/http.ts";
import type { JsonObject } from "../../../src/ports/json.ts";
import type { Provider } from "../../../src/ports/provider.ts";
import type { PoolAccount } from "../../../src/ports/pool-store.ts";
import { addToPool } from "../../sim/store/pool.ts";
import type { Point } from "../../support/box-kind.ts";
import { labAccount, type OperationLab, organizationId } from "../../support/operation-lab.ts";
import { SimulatedShells } from "../../support/simulated-shells.ts";
import type { OperationScenario, OperationStage } from "../operations.ts";
import type { PointCall } from "../scenario.ts";
import { CloudOutside } from "../scenarios/cloud.ts";

/** A project of Hetzner Cloud in a world, reached by the production client, with shells on its servers: every request is a point. */
export class Cloud implements OperationStage {
  readonly #requests: string[] = [];
  readonly shells = new SimulatedShells();
  readonly outside: CloudOutside;
  nowMs = 1_800_000_000_000;

  constructor() {
    this.outside = new CloudOutside(() => this.nowMs);
  }

  get effects(): readonly string[] {
    return [...this.#requests, ...this.shells.begun];
  }

  canonical() {
    return this.outside.canonical();
  }

  kinds(point: Point): readonly Kind[] {
    return [...this.outside.connect(this.#through(point)).kinds.values()];
  }

  /** A new client for every turn: whoever takes over knows nothing of the one before. */
  providers(point: Point): readonly Provider[] {
    const connect = () => this.outside.connect(this.#through(point)).providers;
    const open: Provider["open"] = (account) =>
      [...connect().values()].map((fresh) => fresh.open(account))[0] ?? never();
    const clouds = [...connect().values()].map((provider) => ({ ...provider, settleMs: 0, open }));
    return [...clouds, this.shells.provider(point)];
  }

  #through(point: Point): PointCall {
    return (label, handle) =>
      point(label, () => {
        const answer = handle(false);
        if (!label.startsWith("GET")) void this.#note(label, answer as Promise<HttpAnswer | HttpSilence>);
        return answer;
      });
  }

  /** Only what the provider did. */
  async #note(label: string, answering: Promise<HttpAnswer | HttpSilence>): Promise<void> {
    const answer = await answering;
    if (answer.answered && answer.status < 300) this.#requests.push(label);
  }
}

function never(): never {
  throw new Error("There is one provider");
}

/** The cloud of the run that is under way: scenarios are played one after the other. */
let cloud = new Cloud();
function newCloud(): Cloud {
  cloud = new Cloud();
  return cloud;
}

/** Where the private key is that signs in to servers. */
export async function withKey(lab: OperationLab): Promise<void> {
  const account = { id: "key", organizationId, name: "key", provider: "ssh", settings: {} };
  await lab.store.createAccount({ ...account, credentialRef: undefined, callsPerSecond: 1_000 });
}

export async function declare(lab: OperationLab, rest: JsonObject = {}, account = labAccount): Promise<void> {
  const made = { type: "cx22", image: "debian-12", location: "fsn1", labels: { role: "web" } };
  const spec = { account, ...made, power: "on", reverseDns: "web-1.test", ...rest };
  await lab.declareAs("Host", "web-1", spec, { accounts: [account] });
}

async function made(lab: OperationLab, rest: { readonly drainSeconds?: number } = {}): Promise<void> {
  await declare(lab, rest);
  const { state, message } = await lab.finish(await create(lab));
  if (state !== "succeeded") throw new Error(`The host of the scenario was not made: ${message}`);
}

async function create(lab: OperationLab): Promise<string> {
  return (await lab.start("host.create", "web-1")).id;
}

/** The server is another type by now, and somebody has approved that it goes. */
async function replace(lab: OperationLab): Promise<string> {
  const [thing] = lab.subject("web-1").memory.made ?? [];
  const input = { replaces: thing?.externalId ?? "", generation: 2, digest: "approved" };
  return (await lab.start("host.replace", "web-1", input)).id;
}

export const pooledAccount = "pooled";

/** An account that comes from the pool, and what is in the pool for it. */
export async function withPool(lab: OperationLab, names: readonly string[]): Promise<void> {
  const account = { id: pooledAccount, organizationId, name: pooledAccount, provider: "outside", settings: {} };
  await lab.store.createAccount({ ...account, credentialRef: undefined, callsPerSecond: 1_000, fromPool: true });
  for (const name of names) addToPool(lab.store.state, poolAccount(name));
}

export function poolAccount(name: string, locations: readonly string[] = ["fsn1"]): PoolAccount {
  const rest = { settings: {}, credentialRef: "env:POOL", callsPerSecond: 1_000 };
  return { name, provider: "outside", locations, ...rest };
}

const bootstrap = { ssh: { account: "key", script: "make ready" } };

export const hostScenarios: readonly OperationScenario[] = [
  { name: "host.create", stage: newCloud, prepare: (lab) => declare(lab), start: create },
  {
    name: "host.create, claiming from the pool",
    stage: newCloud,
    prepare: async (lab) => {
      await withPool(lab, ["one", "two"]);
      await declare(lab, {}, pooledAccount);
    },
    start: create,
  },
  {
    name: "host.create, made ready by SSH",
    stage: newCloud,
    prepare: async (lab) => {
      await withKey(lab);
      await declare(lab, { bootstrap });
    },
    start: create,
  },
  {
    name: "host.create, made ready by SSH and cancelled",
    stage: newCloud,
    prepare: async (lab) => {
      await withKey(lab);
      cloud.shells.ends = false;
      await declare(lab, { bootstrap });
    },
    start: create,
    meanwhile: async (lab, id) => void (await lab.steer(id, { verb: "cancel" })),
  },
  {
    name: "host.create, adopting",
    stage: newCloud,
    prepare: async (lab) => {
      const server = { name: "web-1", server_type: "cx22", image: "debian-12", location: "fsn1" };
      cloud.outside.ask("POST", "/servers", server);
      await declare(lab, { adopt: true });
    },
    start: create,
  },
  {
    name: "host.create, cancelled",
    stage: newCloud,
    // The provider takes its time, and has made the server when somebody cancels.
    prepare: async (lab) => {
      cloud.outside.pace = 1;
      await declare(lab);
    },
    start: create,
    meanwhile: async (lab, id) => {
      await lab.steer(id, { verb: "cancel" });
      cloud.outside.pace = 0;
      cloud.nowMs += 3_600_000;
    },
  },
  {
    name: "host.delete",
    stage: newCloud,
    prepare: async (lab) => {
      await made(lab);
      await lab.remove("web-1", 1);
    },
    start: async (lab) => (await lab.start("host.delete", "web-1")).id,
  },
  {
    name: "host.delete, draining",
    stage: newCloud,
    prepare: async (lab) => {
      await made(lab, { drainSeconds: 3 });
      await lab.remove("web-1", 1);
    },
    start: async (lab) => (await lab.start("host.delete", "web-1")).id,
  },
  {
    name: "host.replace",
    stage: newCloud,
    prepare: async (lab) => {
      await made(lab, { drainSeconds: 3 });
      await declare(lab, { drainSeconds: 3, type: "cx32" });
    },
    start: replace,
  },
  {
    name: "host.replace, made ready by SSH and cancelled",
    stage: newCloud,
    prepare: async (lab) => {
      await withKey(lab);
      await made(lab);
      cloud.shells.ends = false;
      await declare(lab, { type: "cx32", bootstrap });
    },
    start: replace,
    meanwhile: async (lab, id) => void (await lab.steer(id, { verb: "cancel" })),
  },
  {
    name: "host.power, on",
    stage: newCloud,
    prepare: async (lab) => {
      await made(lab);
      const [server] = (
        cloud.outside.ask("GET", "/servers") as { readonly servers: readonly { readonly id: number }[] }
      ).servers;
      cloud.outside.ask("POST", `/servers/${server?.id}/actions/poweroff`);
    },
    start: async (lab) => (await lab.start("host.power", "web-1", { power: "on" })).id,
  },
  {
    name: "host.power, reset",
    stage: newCloud,
    prepare: (lab) => made(lab),
    start: async (lab) => (await lab.start("host.power", "web-1", { power: "reset" })).id,
  },
];
