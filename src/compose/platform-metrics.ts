import { Gauge, type Registry } from "@prometheus-io/client";
import type { Clock } from "../ports/clock.ts";
import type { PlatformSummary, ReadStore } from "../ports/read-store.ts";

const figures: readonly {
  readonly name: string;
  readonly help: string;
  readonly of: (summary: PlatformSummary) => number;
}[] = [
  { name: "setpoint_organizations", help: "Organizations.", of: ({ organizations }) => organizations },
  {
    name: "setpoint_resources",
    help: "Declared resources, those being deleted included.",
    of: ({ resources }) => resources,
  },
  {
    name: "setpoint_subjects",
    help: "Resources at accounts, each with a cycle of its own.",
    of: ({ subjects }) => subjects,
  },
  { name: "setpoint_held_changes_open", help: "Held changes that wait for a person.", of: ({ heldOpen }) => heldOpen },
  { name: "setpoint_pauses_active", help: "Pauses in force.", of: ({ pausesActive }) => pausesActive },
  {
    name: "setpoint_shards_leased",
    help: "Shards that some scheduler holds; 64 when all is well.",
    of: ({ shardsLeased }) => shardsLeased,
  },
  {
    name: "setpoint_subjects_due",
    help: "Subjects with a stored edge or backoff that is due.",
    of: ({ dueNow }) => dueNow,
  },
];

/** Figures of the whole platform, read from the database when somebody asks, and all of them from one read. */
export function registerPlatformMetrics(
  registry: Registry,
  reads: Pick<ReadStore, "summary">,
  clock: Clock,
): () => Promise<void> {
  const gauges = figures.map(({ name, help, of }) => ({ gauge: new Gauge({ name, help, registers: [registry] }), of }));
  const oldest = new Gauge({
    name: "setpoint_oldest_verdict_age_seconds",
    help: "Age of the verdict that was confirmed longest ago.",
    registers: [registry],
  });
  return async () => {
    const summary = await reads.summary();
    for (const { gauge, of } of gauges) gauge.set(of(summary));
    const { oldestConfirmedAtMs } = summary;
    oldest.set(oldestConfirmedAtMs === undefined ? 0 : Math.max(0, clock.nowMs() - oldestConfirmedAtMs) / 1_000);
  };
}
