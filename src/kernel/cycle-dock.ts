import type { AccountRecord, CycleInput } from "../ports/records.ts";
import { backoffMs } from "./backoff.ts";
import type { Claim, Engine } from "./claim.ts";
import { type Docking, isUndocked, noneFree } from "./docking.ts";

/** What a cycle waits for, and for how long. */
export interface DockingWait {
  readonly message: string;
  readonly attempts: number;
  readonly nextInMs: number;
}

/**
 * A loop that declares what is made at an account of the operator's pool claims one for it, as the operation that makes the first
 * thing there would. Undefined: there is somebody to ask, or it is not this one's to claim.
 */
export async function dockInCycle(
  engine: Engine,
  claim: Claim,
  input: CycleInput,
  wanted: Docking | undefined,
): Promise<DockingWait | undefined> {
  const { account } = input;
  if (account === undefined || wanted === undefined || !isUndocked(account)) return undefined;
  // A pause of writes keeps claims waiting too: what is claimed is claimed to be written to.
  const waits = input.hold !== undefined || input.pauses.some(({ level }) => level === "writes");
  if (waits || input.resource.deletion !== undefined) return undefined;
  const { result } = await engine.store.dock({ actor: claim.actor, subject: input.subject, location: wanted.location });
  if (result !== "none-free")
    return { message: `${nameOf(account)} is claimed: looking next`, attempts: 0, nextInMs: 1 };
  const attempts = input.memory.attempts + 1;
  return { message: `pool: ${noneFree(account, wanted)}`, attempts, nextInMs: backoffMs(attempts, engine.random) };
}

function nameOf({ name }: AccountRecord): string {
  return `an account of the operator's pool for '${name}'`;
}
