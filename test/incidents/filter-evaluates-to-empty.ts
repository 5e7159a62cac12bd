import { type Incident, numbered } from "./bench.ts";

const nine = numbered(9);

/** An empty filter meant "all" (Cloudflare 2026, a CDN's disks before 2016). Here the text that makes a name comes out empty. */
export const filterEvaluatesToEmpty: Incident = {
  title: "a filter evaluates to empty",
  guard: "no-wildcards",
  approvals: 0,
  ends: nine,
  arrange: async (bench) => {
    await bench.declare(nine);
    await bench.pass({ minutes: 2 });
  },
  strike: async (bench) => {
    await bench.declare({ ...nine, "": "v1" });
    await bench.pass({ minutes: 30 });
  },
  recover: async (bench) => {
    await bench.declare(nine);
    await bench.pass({ minutes: 2 });
  },
  // The guard stands in front of every call and cannot be taken out here; this is what the call would do.
  counterproof: { strike: (bench) => bench.deleteWithoutName() },
};
