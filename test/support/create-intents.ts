import { EngineError } from "../../src/kernel/errors.ts";
import type { Clock } from "../../src/ports/clock.ts";
import type { ComputeEngine, ServerIntent } from "../../src/ports/compute.ts";
import { faultSchema } from "../../src/world/fault-schema.ts";
import { World } from "../../src/world/world.ts";
import { SeededRandom } from "../sim/random.ts";
import { worldProvider } from "./cloud-lab.ts";

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
  const random = new SeededRandom(seed);
  const recorded = new Map<string, string>();
  let ambiguous = 0;
  for (let number = 0; number < intents; number++) {
    const intent = intentOf(number);
    while (!recorded.has(intent.mark.resourceUid)) {
      try {
        const { server } = await writer.ensureServer(intent, new AbortController().signal);
        // The process dies here: it had the answer, and nobody else ever will.
        if (random.next() < 0.07) ambiguous += 1;
        else recorded.set(intent.mark.resourceUid, server.id);
      } catch (thrown) {
        if (!(thrown instanceof EngineError)) throw thrown;
        ambiguous += 1;
      }
    }
  }
  return { intents, ambiguous, ...audit(world, recorded) };
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

/** By the world's own state, and not by anything that was answered. */
function audit(world: World, recorded: ReadonlyMap<string, string>) {
  const saved = JSON.parse(JSON.stringify(world.save())) as unknown;
  const found = new Map<string, string[]>();
  for (const { id, labels } of serversIn(saved)) {
    const uid = labels["setpoint-resource"] ?? "";
    found.set(uid, [...(found.get(uid) ?? []), String(id)]);
  }
  const ids = new Set(recorded.values());
  const all = [...found.values()];
  return {
    duplicates: all.reduce((sum, servers) => sum + servers.length - 1, 0),
    orphans: all.flat().filter((id) => !ids.has(id)).length,
    lost: [...recorded].filter(([uid, id]) => found.get(uid)?.includes(id) !== true).length,
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
