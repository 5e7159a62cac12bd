import { TerminalError } from "../../kernel/errors.ts";
import { epochMsOf, isoTime } from "../../kernel/iso-time.ts";
import {
  defineLoop,
  type InspectContext,
  type Inspection,
  type Inventory,
  type LookContext,
  type Seen,
  type Subject,
} from "../../kernel/loop.ts";
import type { CloudOther, CloudServer, CloudThing, ComputeReader, ComputeWriter } from "../../ports/compute.ts";
import type { JsonObject } from "../../ports/json.ts";
import { catalogueIn, type KeptCatalogue, keptCatalogue, keptRoom } from "../cloud/catalogue-report.ts";
import { leastComplete } from "../cloud/seen-marker.ts";
import { checkCredential, credentialConditions } from "./credential-check.ts";
import { factsOf, type ServerFacts } from "./declaration-of.ts";
import type { ComputeProviderSpec } from "./schema.ts";

/** What is watched of an account: that it is claimed, and everything in it, whoever made it. */
export interface AccountItem {
  readonly type: string;
  readonly name: string;
  /** Whose it is: Setpoint's, by its mark, or unmanaged. */
  readonly owner: "setpoint" | "unmanaged";
  /** Of a server: what its Host would say. */
  readonly server?: ServerFacts;
}

const sentinelKey = "sentinel";
const sentinelItem: AccountItem = { type: "sentinel", name: "the claim of this installation", owner: "setpoint" };

const soonMs = 60_000;

/** What a kind of ours can make is read with every look, by lists that are those of the other kinds. */
const watched: Readonly<Record<string, string>> = {
  servers: "server",
  networks: "network",
  firewalls: "firewall",
  volumes: "volume",
  "load-balancers": "load balancer",
};

const hourSeconds = 3_600;

/**
 * What else is in an account. No kind makes it and nothing is concluded from it, so it is read more rarely. Every server has one or
 * two primary IPs, which Hetzner Cloud lists only all together: each hour, that would be a sixth of all calls.
 */
const alsoThere: Readonly<Record<string, { readonly type: string; readonly withinSeconds: number }>> = {
  "floating-ips": { type: "floating IP", withinSeconds: hourSeconds },
  "placement-groups": { type: "placement group", withinSeconds: hourSeconds },
  certificates: { type: "certificate", withinSeconds: hourSeconds },
  "ssh-keys": { type: "SSH key", withinSeconds: hourSeconds },
  snapshots: { type: "snapshot", withinSeconds: hourSeconds },
  "primary-ips": { type: "primary IP", withinSeconds: 3 * hourSeconds },
};

export const computeProviderLoop = defineLoop<ComputeProviderSpec, AccountItem, ComputeReader, ComputeWriter>({
  kind: "ComputeProvider",
  everySeconds: 600,
  // The claim is written by the engine with the first write of a plan, after the credential's rights were asked for. Wanting it
  // here is what makes that happen when an account is onboarded, and not with the first server.
  desired: (_ctx, { spec }) =>
    hasNumber(spec)
      ? { known: true, items: [], zero: true }
      : { known: true, items: [{ key: sentinelKey, item: sentinelItem }] },
  observe: lookAround,
  read: async (ctx, _subject, { key, externalId }) => {
    if (key !== sentinelKey)
      throw new TerminalError(
        "PROVIDER_REFUSED",
        `${key} (${externalId ?? "no id"}) is only watched here: nothing is done with it`,
      );
    return (await lookForSentinel(ctx)) ?? "absent";
  },
  same: () => [],
  inspect: async (ctx, { spec }, seen) => {
    const credential = await checkCredential(ctx);
    const offers = await offersOf(ctx, seen);
    const { conditions, report } = accountInspection(seen, ctx.reader.callLimit?.());
    return {
      conditions: [...credentialConditions(spec, credential), ...conditions],
      report: { ...report, credential: { ...credential }, ...offers },
    };
  },
  create: async () => ({ externalId: sentinelKey }),
  update: async () => {},
  // An account that is no longer watched keeps its sentinel: other resources of ours may still be there.
  remove: async () => {},
});

/** Families whose accounts have a number of their own: nothing has to be left there to know one again. */
function hasNumber({ family }: ComputeProviderSpec): boolean {
  return family === "ionos";
}

async function lookAround(ctx: LookContext<ComputeReader>, subject: Subject<ComputeProviderSpec>) {
  const looked = new Map<string, Inventory<CloudThing>>();
  for (const name of Object.keys(watched)) looked.set(name, await ctx.inventory<CloudThing>(name));
  await requireLocations(ctx, subject);
  const sentinel = hasNumber(subject.spec) ? undefined : await lookForSentinel(ctx);
  const volumes = looked.get("volumes")?.entries ?? [];
  const items = [...looked].flatMap(([name, { entries }]) => seenIn(watched[name] ?? "thing", entries, volumes));
  const startedAtMonotonicMs = Math.min(...[...looked.values()].map((inventory) => inventory.startedAtMonotonicMs));
  const also: Inventory<CloudOther>[] = [];
  for (const [name, { type, withinSeconds }] of Object.entries(alsoThere)) {
    const inventory = await ctx.inventory<CloudOther>(name, { withinSeconds });
    also.push(inventory);
    items.push(...seenIn(type, inventory.entries.filter(isOfItsOwn), []));
  }
  return {
    // Half of any list is no whole look: what is missing from it is not called gone.
    ...leastComplete([...looked.values(), ...also]),
    startedAtMonotonicMs,
    items: sentinel === undefined ? items : [sentinel, ...items],
  };
}

/** The address of a server is the server's, and what an installation left there to know the account by is said apart. */
function isOfItsOwn({ ofServer, sentinel }: CloudOther): boolean {
  return ofServer !== true && sentinel === undefined;
}

/** What stands in an account beside ours, and how much of its calls is left, in tenths: what moves all the time would be written all the time. */
export function accountInspection(
  seen: readonly Seen<AccountItem>[],
  calls: ReturnType<NonNullable<ComputeReader["callLimit"]>>,
): Omit<Inspection, "report"> & { readonly report: JsonObject } {
  const others = seen.filter(({ item }) => item.owner === "unmanaged").map(({ item }) => item.type);
  const types = [...new Set(others)].toSorted((left, right) => (left < right ? -1 : 1));
  const unmanaged = Object.fromEntries(types.map((type) => [type, others.filter((other) => other === type).length]));
  if (calls === undefined) return { conditions: [], report: { unmanaged } };
  // What is back before anybody has read this is not missing: some providers count by the second, and others by the hour.
  const left = calls.fullInMs <= soonMs ? calls.limit : calls.remaining;
  const leftPercent = Math.round((left / Math.max(1, calls.limit)) * 10) * 10;
  const report = { unmanaged, calls: { limit: calls.limit, leftPercent } };
  if (leftPercent > 20) return { conditions: [], report };
  const message = `about ${leftPercent} % of the provider's ${calls.limit} calls are left: looks come later, and so may changes`;
  return { conditions: [{ type: "CallsShort", status: "True", reason: "NearLimit", message }], report };
}

/** Types, images and locations change a few times a year, and their lists are several calls. */
const catalogueEveryMs = 3_600_000;

/**
 * What can be had there, and how much. It is for those who declare, and a look without it is no worse: what could not be read stands
 * as it was, with the time at which it was read.
 */
async function offersOf(
  ctx: InspectContext<ComputeReader>,
  seen: readonly Seen<AccountItem>[],
): Promise<{ readonly catalogue?: KeptCatalogue; readonly room?: JsonObject }> {
  const { reader, before, nowMs } = ctx;
  const kept = catalogueIn(before);
  const read = async <Answer>(what: string, work: (signal: AbortSignal) => Promise<Answer> | undefined) =>
    await ctx.read(what, async (signal) => await work(signal)).catch(() => undefined);
  const room = reader.room === undefined ? undefined : await read("limits", (signal) => reader.room?.(signal));
  // Once the account is claimed, what was read before that is of an account that nobody knows again.
  const isClaimedSince = kept?.account === undefined && seen.some(({ key }) => key === sentinelKey);
  const isOther = isClaimedSince || (room !== undefined && room.account !== kept?.account);
  const isDue = kept === undefined || nowMs - epochMsOf(kept.at) >= catalogueEveryMs || isOther || ctx.fresh;
  const catalogue =
    reader.catalogue !== undefined && isDue
      ? await read("catalogue", (signal) => reader.catalogue?.(signal))
      : undefined;
  const known = catalogue === undefined ? kept : keptCatalogue(catalogue, isoTime(nowMs));
  return {
    ...(known === undefined ? {} : { catalogue: known }),
    ...(room === undefined ? {} : { room: keptRoom(room) }),
  };
}

/** What is Setpoint's is its own resource's to show; here it would only be counted twice. */
function seenIn(
  type: string,
  things: readonly CloudThing[],
  volumes: readonly CloudThing[],
): readonly Seen<AccountItem>[] {
  return (
    things
      .filter(({ mark }) => typeof mark !== "object" || !("installationId" in mark))
      // A network that leads to the internet is the way out of a data center, and nobody's own.
      .filter((thing) => !("public" in thing && thing.public === true))
      .map((thing) => ({
        key: `${type} ${thing.name} (${thing.id})`,
        externalId: `${type} ${thing.id}`,
        item: {
          type,
          name: thing.name,
          owner: "unmanaged",
          ...(type === "server" ? { server: factsOf(thing as CloudServer, volumes) } : {}),
        },
      }))
  );
}

async function lookForSentinel(ctx: LookContext<ComputeReader>): Promise<Seen<AccountItem> | undefined> {
  const found = await ctx.reader.sentinel(ctx.signal);
  if (found === "absent") return undefined;
  // Whichever resource of ours wrote to the account first left it: it is everybody's here, and nobody's to take over.
  const { installationId } = found;
  const marker =
    installationId === ctx.marker.installationId ? ctx.marker : { foreign: `installation ${installationId}` };
  return { key: sentinelKey, externalId: sentinelKey, item: sentinelItem, marker };
}

async function requireLocations(
  ctx: LookContext<ComputeReader>,
  { spec }: Subject<ComputeProviderSpec>,
): Promise<void> {
  if (spec.locations.length === 0) return;
  const { entries, completeness } = await ctx.inventory<{ readonly name: string }>("locations");
  const known = entries.map(({ name }) => name);
  const unknown = spec.locations.filter((name) => !known.includes(name));
  if (unknown.length === 0 || completeness !== "complete") return;
  throw new TerminalError(
    "PROVIDER_REFUSED",
    `The provider has no location ${unknown.join(", ")}. It has: ${known.join(", ") || "none"}. Correct spec.locations`,
  );
}
