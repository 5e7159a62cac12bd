import type { AccountRecord } from "../ports/records.ts";

/** What an account of the pool is wanted for. */
export interface Docking {
  /** Where something is to be made there, in the provider's own name; undefined: anywhere. */
  readonly location?: string | undefined;
}

/** An account that is to come from the operator's pool and has none of it yet: nothing of it is outside. */
export function isUndocked({ pool }: Pick<AccountRecord, "pool">): boolean {
  return pool !== undefined && pool.account === undefined;
}

/** Why nothing can be made there yet, and what to do. */
export function noneFree({ name, provider }: AccountRecord, { location }: Docking): string {
  const where = location === undefined ? "" : ` for ${location}`;
  return `no account of ${provider}${where} is free in the operator's pool, for account '${name}'. Ask an operator to add one (setpoint pool add), or use an account of your own`;
}

/** The operator says where things may be made at an account of the pool. */
export function placeProblemOf({ name, pool }: AccountRecord, { location }: Docking): string | undefined {
  const places = pool?.locations ?? [];
  if (location === undefined || places.length === 0 || places.includes(location)) return undefined;
  return `account '${name}' comes from the operator's pool and is for ${places.join(", ")}, not for ${location}: name one of these, or another account`;
}
