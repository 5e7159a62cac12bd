import { TerminalError } from "../../kernel/errors.ts";
import { defineLoop, type Inspection, type Subject } from "../../kernel/loop.ts";
import type { CloudServerType, ComputeReader, ComputeWriter } from "../../ports/compute.ts";
import type { Json } from "../../ports/json.ts";
import { offeredWords } from "../cloud/nearest.ts";
import { type KeptPrices, pricesOf } from "./prices.ts";
import type { ComputeProfileSpec } from "./schema.ts";

/** A profile has no things of its own outside: it is looked up, and what is found is its report. */
export const computeProfileLoop = defineLoop<ComputeProfileSpec, Record<string, never>, ComputeReader, ComputeWriter>({
  kind: "ComputeProfile",
  everySeconds: 300,
  listedWithinSeconds: 300,
  desired: () => ({ known: true, items: [], zero: true }),
  observe: async (ctx, subject) => {
    // One list serves all profiles of the account.
    const types = await ctx.inventory<CloudServerType>("server-types");
    const found = types.entries.find(({ name }) => name === subject.spec.type);
    if (types.completeness === "complete") requireOffered(subject, found, types.entries);
    return ctx.from(types, []);
  },
  inspect: async (ctx, { spec }): Promise<Inspection | undefined> => {
    const found = await ctx.read(`type ${spec.type}`, (signal) => ctx.reader.serverType(spec.type, signal));
    return found === "absent" ? undefined : inspectionOf(spec, found, await pricesOf(ctx, spec));
  },
  read: async () => "absent",
  same: () => [],
  create: onlyLookedUp,
  update: onlyLookedUp,
  remove: onlyLookedUp,
});

async function onlyLookedUp(): Promise<never> {
  throw new TerminalError("PROVIDER_REFUSED", "A ComputeProfile is only looked up: nothing is done at the provider");
}

function requireOffered(
  { spec }: Subject<ComputeProfileSpec>,
  found: CloudServerType | undefined,
  all: readonly CloudServerType[],
): void {
  if (found === undefined) {
    const words = offeredWords(
      spec.type,
      all.map(({ name }) => name),
    );
    throw new TerminalError(
      "PROVIDER_REFUSED",
      `The provider has no server type ${spec.type}; ${words}. Correct spec.type`,
    );
  }
  const offered = found.offers.map(({ location }) => location);
  const unknown = spec.locations.filter((location) => !offered.includes(location));
  if (unknown.length === 0) return;
  throw new TerminalError(
    "PROVIDER_REFUSED",
    `The type ${spec.type} is not offered in ${unknown.join(", ")}. It is in: ${offered.join(", ") || "no location"}. Correct spec.locations`,
  );
}

/** What people choose by. The same answer writes nothing, so nothing that moves by itself is in it. */
export function inspectionOf(spec: ComputeProfileSpec, type: CloudServerType, prices?: KeptPrices): Inspection {
  const offers = type.offers
    .filter(({ location }) => spec.locations.length === 0 || spec.locations.includes(location))
    .map(({ location, available, monthly, until }) => ({
      location,
      available,
      ...(monthly === undefined ? {} : { monthly }),
      ...(until === undefined ? {} : { until }),
    }));
  const { cores, memoryGigabytes, diskGigabytes, architecture } = type;
  const size = { type: type.name, cores, memoryGigabytes, diskGigabytes, architecture };
  const report: Json = { ...size, offers, ...(prices === undefined ? {} : { prices }) };
  const meant = type.offers.filter(({ location }) => offers.some((offer) => offer.location === location));
  return { conditions: [...soldOut(type.name, meant), ...deprecated(type.name, meant)], report };
}

type Offers = CloudServerType["offers"];
const locationsOf = (offers: Offers) => offers.map(({ location }) => location).join(", ") || "no location";

function soldOut(type: string, offers: Offers): Inspection["conditions"] {
  const there = offers.filter(({ available }) => available);
  const gone = offers.filter(({ available }) => !available);
  if (gone.length === 0) return [];
  const message = `${type} cannot be ordered now in ${locationsOf(gone)}; it can in: ${locationsOf(there)}`;
  return [{ type: "SoldOut", status: "True", reason: "NotAvailable", message }];
}

function deprecated(type: string, offers: Offers): Inspection["conditions"] {
  const ends = offers.flatMap(({ location, available, until }) =>
    available && until !== undefined ? [`in ${location} until ${until.slice(0, 10)}`] : [],
  );
  if (ends.length === 0) return [];
  const message = `the provider ends ${type}: it can be ordered ${ends.join(", ")}. Name another type before that; servers that are there stay`;
  return [{ type: "Deprecated", status: "True", reason: "EndAnnounced", message }];
}
