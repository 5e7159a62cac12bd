import { Gauge, type Registry } from "@prometheus-io/client";
import type { Clock } from "../ports/clock.ts";
import type { GovernanceStore, WaitingFigures } from "../ports/governance-store.ts";
import type { PlatformSummary, ReadStore } from "../ports/read-store.ts";
import type { BudgetLevel } from "../ports/records.ts";

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
  {
    name: "setpoint_operations_attention",
    help: "Operations that wait for a person, or hold their resource for over 15 minutes.",
    of: ({ operationsAttention }) => operationsAttention,
  },
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
  stores: { readonly reads: Pick<ReadStore, "summary">; readonly governance: Pick<GovernanceStore, "waiting"> },
  clock: Clock,
): () => Promise<void> {
  const gauges = figures.map(({ name, help, of }) => ({ gauge: new Gauge({ name, help, registers: [registry] }), of }));
  const oldest = new Gauge({
    name: "setpoint_oldest_verdict_age_seconds",
    help: "Age of the verdict that was confirmed longest ago.",
    registers: [registry],
  });
  const make = (name: string, help: string) => new Gauge({ name, help, registers: [registry] });
  const deletes = make("setpoint_pending_deletes", "Deletes that plans want and that were not made.");
  const left = make("setpoint_subjects_left", "Subjects with something left to do.");
  const failing = make("setpoint_subjects_failing", "Subjects whose last look failed.");
  const held = make("setpoint_oldest_held_change_age_seconds", "How long the oldest open held change has waited.");
  const budgets = budgetMetrics(registry);
  const ageSeconds = (atMs: number | undefined) => (atMs === undefined ? 0 : Math.max(0, clock.nowMs() - atMs) / 1_000);
  return async () => {
    const [summary, waiting] = await Promise.all([stores.reads.summary(), stores.governance.waiting()]);
    deletes.set(waiting.pendingDeletes);
    left.set(waiting.left);
    failing.set(waiting.failing);
    held.set(ageSeconds(waiting.oldestHeldAtMs));
    budgets(waiting.chargedMost);
    for (const { gauge, of } of gauges) gauge.set(of(summary));
    oldest.set(ageSeconds(summary.oldestConfirmedAtMs));
  };
}

const LEVELS = ["account", "organization", "platform"] as const satisfies readonly BudgetLevel[];

/** Which account or organization it is would be one series for each: of those, the one that was charged most is shown. */
function budgetMetrics(registry: Registry): (charged: WaitingFigures["chargedMost"]) => void {
  const make = (name: string, help: string) => new Gauge({ name, help, labelNames: ["level"], registers: [registry] });
  const used = make(
    "setpoint_delete_budget_used",
    "Deletes of the last hour, at the account and the organization with the most, and on the platform.",
  );
  const owned = make(
    "setpoint_delete_budget_owned",
    "Things of ours there, of which the budget is a share; 0 where nothing was deleted.",
  );
  return (charged) => {
    for (const level of LEVELS) {
      const most = charged.find((one) => one.level === level);
      used.set({ level }, most?.used ?? 0);
      owned.set({ level }, most?.owned ?? 0);
    }
  };
}
