import { EngineError } from "../../src/kernel/errors.ts";
import type { Clock } from "../../src/ports/clock.ts";
import type { ComputeEngine, ServerIntent } from "../../src/ports/compute.ts";
import { faultSchema } from "../../src/world/fault-schema.ts";
import { World } from "../../src/world/world.ts";
import { SeededRandom } from "../sim/random.ts";
import { worldProvider } from "./cloud-lab.ts";
import { IonosContract } from "./ionos-contract.ts";

export interface IntentsOutcome {
  readonly intents: number;
  /** Calls whose answer was lost, and records that were. */
  readonly ambiguous: number;
  /** Servers that carry the mark of an intent that another one carries too. */
  readonly duplicates: number;
  /** Servers whose id nobody has on record. */
  readonly orphans: number;
  /** Intents without a server that is there and carries their mark. */
  readonly lost: number;
}

/**
 * Makes servers by intent while a fifth of the outcomes is ambiguous: no answer or an error after the effect, and a process that
 * dies between the call and its record. Each intent is repeated until it is on record, as an operation's step is.
 */
export async function playIntents(intents: number, seed: number): Promise<IntentsOutcome> {
  let nowMs = 1_800_000_000_000;
  const clock: Clock = { nowMs: () => nowMs, monotonicMs: () => nowMs, wait: async (ms) => void (nowMs += ms) };
  const world = new World(clock, { accounts: ["demo"], seed, pace: 0 });
  const [cloud] = world.clouds;
  cloud?.configure("demo", { requestsPerHour: 1_000_000_000, limits: { servers: intents + 1 } });
  for (const kind of ["timeout", "error"])
    world.core.tray.place(faultSchema.parse({ kind, when: "after", method: "POST", path: "^/servers$", chance: 0.07 }));
  const account = { id: "demo", organizationId: "o", name: "demo", provider: "hetzner-cloud", settings: {} };
  const record = { ...account, credentialRef: undefined, fingerprint: undefined, claimedIncarnation: undefined };
  const { writer } = worldProvider(world, clock).open(record) as { readonly writer: ComputeEngine };
  const { recorded, ambiguous } = await pursue(
    writer,
    Array.from({ length: intents }, (_, number) => intentOf(number)),
    seed,
  );
  return { intents, ambiguous, ...audit(labelledServers(world), recorded) };
}

/** The same at IONOS, where names are not unique and lists lag behind: what was ordered is known by the provider's own record. */
export async function playIonosIntents(intents: number, seed: number): Promise<IntentsOutcome> {
  const contract = new IonosContract({ seed, pace: 0.01 });
  contract.world.core.settings.listLagSeconds = 30;
  const path = "^/datacenters/[^/]+/servers$";
  for (const kind of ["timeout", "error"])
    contract.world.core.tray.place(faultSchema.parse({ kind, when: "after", method: "POST", path, chance: 0.07 }));
  const wanted = Array.from({ length: intents }, (_, number) => contract.intent(`server-${number}`));
  const { recorded, ambiguous } = await pursue(contract.open().writer, wanted, seed, (ms) => contract.pass(ms));
  contract.pass();
  await contract.open().identity(contract.signal);
  const found = contract.list("servers").map(({ id, properties }) => ({
    uid: properties.name.split(":")[2] ?? "",
    id,
  }));
  const ids = new Map([...recorded].map(([uid, id]) => [uid, id.split(":")[1] ?? ""]));
  return { intents, ambiguous, ...audit(found, ids) };
}

/** Each intent is repeated until it is on record. */
async function pursue(
  writer: ComputeEngine,
  intents: readonly ServerIntent[],
  seed: number,
  wait: (ms: number) => void = () => {},
) {
  const random = new SeededRandom(seed);
  const recorded = new Map<string, string>();
  let ambiguous = 0;
  for (const intent of intents) {
    while (!recorded.has(intent.mark.resourceUid)) {
      try {
        const { server } = await writer.ensureServer(intent, new AbortController().signal);
        // The process dies here: it had the answer, and nobody else ever will.
        if (random.next() < 0.07) ambiguous += 1;
        else recorded.set(intent.mark.resourceUid, server.id);
      } catch (thrown) {
        if (!(thrown instanceof EngineError)) throw thrown;
        wait(5_000);
        if (thrown.code !== "RATE_LIMITED") ambiguous += 1;
      }
    }
  }
  return { recorded, ambiguous };
}

function intentOf(number: number): ServerIntent {
  return {
    name: `server-${number}`,
    labels: {},
    mark: { installationId: "i", resourceUid: `r-${number}` },
    type: "cx22",
    image: "debian-12",
    location: "fsn1",
    networks: [],
    firewalls: [],
    sshKeys: [],
    publicAddresses: { ipv4: false, ipv6: true },
  };
}

interface Found {
  readonly uid: string;
  readonly id: string;
}

function labelledServers(world: World): readonly Found[] {
  const saved = JSON.parse(JSON.stringify(world.save())) as unknown;
  return serversIn(saved).map(({ id, labels }) => ({ uid: labels["setpoint-resource"] ?? "", id: String(id) }));
}

/** By the world's own state, and not by anything that was answered. */
function audit(servers: readonly Found[], recorded: ReadonlyMap<string, string>) {
  const found = Map.groupBy(servers, ({ uid }) => uid);
  const ids = new Set(recorded.values());
  return {
    duplicates: servers.length - found.size,
    orphans: servers.filter(({ id }) => !ids.has(id)).length,
    lost: [...recorded].filter(([uid, id]) => found.get(uid)?.some((server) => server.id === id) !== true).length,
  };
}

interface RawServer {
  readonly id: number;
  readonly labels: Readonly<Record<string, string>>;
}

/** Wherever the saved world keeps them. */
function serversIn(value: unknown): readonly RawServer[] {
  if (typeof value !== "object" || value === null) return [];
  if ("servers" in value) {
    const { servers } = value as { readonly servers: unknown };
    const rows = Array.isArray(servers) ? servers : Object.values(servers ?? {}).flat();
    const found = rows.filter((row): row is RawServer => typeof row === "object" && row !== null && "labels" in row);
    if (found.length > 0) return found;
  }
  return Object.values(value).flatMap(serversIn);
}
