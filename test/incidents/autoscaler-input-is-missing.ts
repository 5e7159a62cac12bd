import type { Incident, IncidentBench, Items } from "./bench.ts";

const names = Array.from({ length: 9 }, (_, index) => `member-${index + 1}`);
const loads = (load: number | undefined) => Object.fromEntries(names.map((name) => [name, load]));
const nine: Items = Object.fromEntries(names.map((name) => [name, "running"]));

/** An autoscaler read half-migrated data and killed servers in 16 s (Reddit 2016). */
export const autoscalerInputIsMissing: Incident = scaling("the autoscaler's input is missing", (bench) =>
  bench.autoscaler.report(undefined),
);

/** Parts of a quota system reported usage 0, and automation cut the quota of what was in use (Google 2020). */
export const autoscalerInputIsZero: Incident = scaling(
  "the autoscaler's input is zero on every member at once",
  (bench) => bench.autoscaler.report(loads(0)),
);

/** One member of nine no longer reports: its silence is not idleness either. */
export const autoscalerInputHasAHole: Incident = scaling("the autoscaler's input lacks a member", (bench) =>
  bench.autoscaler.report({ ...loads(1), "member-3": undefined }),
);

function scaling(title: string, cause: (bench: IncidentBench) => void): Incident {
  return {
    title,
    guard: "derived-emptiness",
    approvals: 0,
    ends: nine,
    arrange: async (bench) => {
      bench.autoscaler.report(loads(10));
      await bench.autoscaler.declare();
      await bench.pass({ minutes: 2 });
    },
    strike: async (bench) => {
      cause(bench);
      await bench.pass({ minutes: 30 });
    },
    recover: async (bench) => {
      bench.autoscaler.report(loads(10));
      await bench.pass({ minutes: 5 });
    },
  };
}
