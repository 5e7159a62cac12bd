import { TerminalError } from "../../kernel/errors.ts";
import { defineLoop, type Inspection, type Subject } from "../../kernel/loop.ts";
import type { CloudServerType, ComputeReader, ComputeWriter } from "../../ports/compute.ts";
import type { Json } from "../../ports/json.ts";
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
  inspect: async (ctx, { spec }) => {
    const found = await ctx.read(`type ${spec.type}`, (signal) => ctx.reader.serverType(spec.type, signal));
    return found === "absent" ? undefined : inspectionOf(spec, found);
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
    const names = all.map(({ name }) => name).join(", ");
    throw new TerminalError(
      "PROVIDER_REFUSED",
      `The provider has no server type ${spec.type}. It has: ${names}. Correct spec.type`,
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
export function inspectionOf(spec: ComputeProfileSpec, type: CloudServerType): Inspection {
  const offers = type.offers
    .filter(({ location }) => spec.locations.length === 0 || spec.locations.includes(location))
    .map(({ location, available, monthly }) => ({
      location,
      available,
      ...(monthly === undefined ? {} : { monthly }),
    }));
  const { cores, memoryGigabytes, diskGigabytes, architecture } = type;
  const report: Json = { type: type.name, cores, memoryGigabytes, diskGigabytes, architecture, offers };
  const [there, gone] = [true, false].map((wanted) =>
    offers.filter(({ available }) => available === wanted).map(({ location }) => location),
  ) as [string[], string[]];
  if (gone.length === 0) return { conditions: [], report };
  const message = `${type.name} cannot be ordered now in ${gone.join(", ")}; it can in: ${there.join(", ") || "no location"}`;
  return { conditions: [{ type: "SoldOut", status: "True", reason: "NotAvailable", message }], report };
}
