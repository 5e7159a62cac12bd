import { z } from "zod";
import { epochMsOf, isoTime } from "../../kernel/iso-time.ts";
import type { InspectContext } from "../../kernel/loop.ts";
import type { CloudPrices, ComputeReader } from "../../ports/compute.ts";
import type { ComputeProfileSpec } from "./schema.ts";

/** Prices change a few times a year. */
const pricesEveryMs = 3_600_000;
const pricesShape = z.object({
  at: z.string(),
  currency: z.string(),
  vatPercent: z.string(),
  locations: z.record(z.string(), z.object({ monthlyGross: z.string(), ipv4Monthly: z.string().exactOptional() })),
});
export type KeptPrices = z.output<typeof pricesShape>;

/** What the type costs with tax, and an IPv4 address beside it; what could not be read stands as it was. */
export async function pricesOf(
  ctx: InspectContext<ComputeReader>,
  { type, locations }: ComputeProfileSpec,
): Promise<KeptPrices | undefined> {
  const { reader, nowMs } = ctx;
  const kept = z.object({ type: z.literal(type), prices: pricesShape }).safeParse(ctx.before).data?.prices;
  const isDue = ctx.fresh || kept === undefined || nowMs - epochMsOf(kept.at) >= pricesEveryMs;
  const isOther = kept !== undefined && locations.some((location) => kept.locations[location] === undefined);
  if (!isDue && !isOther) return kept;
  const asked = (signal: AbortSignal) => reader.prices?.(signal) ?? Promise.resolve(undefined);
  const all = reader.prices === undefined ? undefined : await ctx.read("prices", asked).catch(() => undefined);
  return all === undefined ? kept : keptPrices(all, { type, locations, at: isoTime(nowMs) });
}

function keptPrices(
  { currency, vatPercent, servers, addresses }: CloudPrices,
  { type, locations, at }: Pick<ComputeProfileSpec, "type" | "locations"> & { readonly at: string },
): KeptPrices {
  const isMeant = (location: string) => locations.length === 0 || locations.includes(location);
  const own = servers.filter(({ of, location }) => of === type && isMeant(location));
  const entries = own.map(({ location, gross }) => {
    const address = addresses.find((one) => one.of === "ipv4" && one.location === location);
    return [location, { monthlyGross: gross, ...(address === undefined ? {} : { ipv4Monthly: address.net }) }] as const;
  });
  return { at, currency, vatPercent, locations: Object.fromEntries(entries) };
}
