import { z } from "zod";
import type { CloudPrices } from "../../ports/compute.ts";
import type { HetznerClient } from "./client.ts";
import { priceText } from "./price-text.ts";

const price = z.object({ net: priceText, gross: priceText });
const monthlyByLocation = z.array(z.object({ location: z.string(), price_monthly: price }));
const pricesShape = z.object({
  pricing: z.object({
    currency: z.string(),
    vat_rate: z.string(),
    volume: z.object({ price_per_gb_month: price }),
    primary_ips: z.array(z.object({ type: z.string(), prices: monthlyByLocation })),
    server_types: z.array(z.object({ name: z.string(), prices: monthlyByLocation })),
    load_balancer_types: z.array(z.object({ name: z.string(), prices: monthlyByLocation })),
  }),
});

/** All prices of the project's owner at once: their currency and VAT are in no other answer. */
export async function readPrices(client: HetznerClient, signal: AbortSignal): Promise<CloudPrices> {
  const { pricing } = await client.get(pricesShape, { path: ["pricing"], what: "the read of the prices" }, signal);
  const named = (types: readonly { readonly name: string; readonly prices: Monthly }[]) =>
    types.flatMap(({ name, prices }) => pricesOf(name, prices));
  return {
    currency: pricing.currency,
    vatPercent: pricing.vat_rate,
    servers: named(pricing.server_types),
    loadBalancers: named(pricing.load_balancer_types),
    addresses: pricing.primary_ips.flatMap(({ type, prices }) => pricesOf(type, prices)),
    volumeGigabyte: pricing.volume.price_per_gb_month,
  };
}

type Monthly = z.output<typeof monthlyByLocation>;

function pricesOf(of: string, prices: Monthly): CloudPrices["servers"] {
  return prices.map(({ location, price_monthly: { net, gross } }) => ({ of, location, net, gross }));
}
