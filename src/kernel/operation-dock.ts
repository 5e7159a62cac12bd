import { patienceMs } from "./backoff.ts";
import { isUndocked, noneFree, placeProblemOf } from "./docking.ts";
import { type Outcome, type StepScene, storeNowMs } from "./operation-scene.ts";

/**
 * Before anything is planned at an account of the operator's pool, one is claimed for it. That is a record and no call: whoever dies
 * right after it finds it, and nothing is claimed twice. Undefined: there is somebody to ask.
 */
export async function dockFirst(scene: StepScene): Promise<Outcome | undefined> {
  const { engine, claim, operation, pipeline, input, subject } = scene;
  const { account } = input;
  // On the way back nothing is made, and what was never claimed has nothing to be taken back from.
  if (account?.pool === undefined || operation.direction === "back") return undefined;
  const wanted = pipeline.docks?.(subject.spec);
  if (!isUndocked(account)) {
    const problem = wanted === undefined ? undefined : placeProblemOf(account, wanted);
    return problem === undefined ? undefined : { is: "attention", code: "PROVIDER_REFUSED", message: problem };
  }
  const dueInMs = patienceMs(operation.createdAtMs, storeNowMs(scene));
  const unclaimed = `no account of the operator's pool was ever claimed for account '${account.name}'`;
  if (pipeline.ends) return { is: "released", message: `nothing of it is outside: ${unclaimed}` };
  if (wanted === undefined)
    return { is: "waiting", dueInMs, message: `${unclaimed}: the first host that is made there claims one` };
  const answer = await engine.store.dock({ actor: claim.actor, subject: input.subject, location: wanted.location });
  switch (answer.result) {
    case "lost":
      return { is: "lost" };
    case "none-free":
      return { is: "waiting", dueInMs, message: `pool: ${noneFree(account, wanted)}` };
    case "claimed":
      scene.notes.push(`claimed ${answer.poolAccount} of the operator's pool for account '${account.name}'`);
      return { is: "waiting", dueInMs: 0, message: `claimed ${answer.poolAccount} of the operator's pool` };
    case "docked":
      return { is: "waiting", dueInMs: 0, message: `account '${account.name}' has an account of the operator's pool` };
  }
}
