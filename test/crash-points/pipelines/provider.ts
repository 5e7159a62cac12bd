import { labAccount, type OperationLab } from "../../support/operation-lab.ts";
import type { OperationScenario } from "../operations.ts";
import { Cloud } from "./host.ts";

/** An account with something in it that somebody made by hand, which must be there afterwards as it was. */
async function declare(lab: OperationLab): Promise<void> {
  const spec = { account: labAccount, family: "hetzner-cloud" };
  await lab.declareAs("ComputeProvider", "main", spec, { mode: "enforce", accounts: [labAccount] });
}

async function onboard(lab: OperationLab): Promise<string> {
  return (await lab.start("provider.onboard", "main")).id;
}

function furnished(): Cloud {
  const cloud = new Cloud();
  cloud.outside.ask("POST", "/networks", { name: "theirs", ip_range: "10.0.0.0/16" });
  return cloud;
}

export const providerScenarios: readonly OperationScenario[] = [
  { name: "provider.onboard", stage: furnished, prepare: declare, start: onboard },
  {
    name: "provider.onboard, again",
    stage: furnished,
    prepare: async (lab) => {
      await declare(lab);
      const { state, message } = await lab.finish(await onboard(lab));
      if (state !== "succeeded") throw new Error(`The account of the scenario was not claimed: ${message}`);
    },
    start: onboard,
  },
];
