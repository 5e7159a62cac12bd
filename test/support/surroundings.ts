import type { Surroundings } from "../../src/kernel/kind.ts";

/** Nothing around that anybody asked for. */
export const around: Surroundings = {
  scope: "organization/o",
  linked: () => undefined,
  publishes: () => undefined,
  account: () => Promise.resolve(undefined),
  hasScope: () => Promise.resolve(true),
};
