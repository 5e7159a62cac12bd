import { cloudScenarios } from "./cloud-scenarios.ts";
import { dnsScenarios } from "./dns-scenarios.ts";
import type { Scenario } from "./scenario.ts";

const freeze: Scenario = {
  id: "freeze",
  title: "Freeze everything",
  where: "setpoint",
  does: "The whole platform is frozen for ten minutes, as you would with the button above.",
  expect: "Within a second no write is made any more. Loops go on looking.",
  guard: "freeze: no permit is given, so no call is made.",
  youCan: "Resume: it shows first what would run.",
  look: "now",
  run: async ({ api }) => {
    await api.send("POST", "/v1/freeze", { level: "writes", reason: "tried from the demo", forSeconds: 600 });
  },
};

export const scenarios: readonly Scenario[] = [...cloudScenarios, ...dnsScenarios, freeze];
