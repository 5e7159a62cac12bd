import { z } from "zod";
import { isoTime } from "../../kernel/iso-time.ts";
import type { ServerLoad } from "../../ports/compute.ts";
import type { HetznerClient } from "./client.ts";

const metricsShape = z.object({
  metrics: z.object({
    time_series: z.record(z.string(), z.object({ values: z.array(z.tuple([z.number(), z.string()])) })),
  }),
});

/** The means over a window of time. A series without a single number says nothing, and nothing is made up for it. */
export async function readServerLoad(
  client: HetznerClient,
  id: string,
  { fromMs, untilMs }: { readonly fromMs: number; readonly untilMs: number },
  signal: AbortSignal,
): Promise<ServerLoad> {
  const query = { type: "cpu,network", start: isoTime(fromMs), end: isoTime(untilMs), step: "60" };
  const call = { path: ["servers", id, "metrics"], query, what: `the read of the load of server ${id}` };
  const { metrics } = await client.get(metricsShape, call, signal);
  const mean = (name: string) => meanOf(metrics.time_series[name]?.values ?? []);
  const [received, sent] = [mean("network.0.bandwidth.in"), mean("network.0.bandwidth.out")];
  const bytes = received === undefined || sent === undefined ? undefined : received + sent;
  return { cpuPercent: mean("cpu"), networkMegabits: bytes === undefined ? undefined : (bytes * 8) / 1_000_000 };
}

function meanOf(values: readonly (readonly [number, string])[]): number | undefined {
  const numbers = values.map(([, value]) => Number.parseFloat(value)).filter(Number.isFinite);
  return numbers.length === 0 ? undefined : numbers.reduce((sum, value) => sum + value, 0) / numbers.length;
}
