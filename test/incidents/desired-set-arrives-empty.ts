import { type Incident, numbered } from "./bench.ts";

const ten = numbered(10);

/** A template rendered to nothing and everything was deleted (Skyscanner 2021); a generator failed and its set was empty. */
export const desiredSetArrivesEmpty: Incident = {
  title: "the desired set arrives empty",
  guard: "empty-desired",
  approvals: 0,
  ends: ten,
  arrange: async (bench) => {
    await bench.declare(ten);
    await bench.pass({ minutes: 2 });
  },
  strike: async (bench) => {
    await bench.declare({});
    await bench.pass({ minutes: 30 });
  },
  recover: async (bench) => {
    await bench.declare(ten);
    await bench.pass({ minutes: 2 });
  },
};
