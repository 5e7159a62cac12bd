import type { DockAnswer, EngineStore } from "../../../src/ports/engine-store.ts";
import type { PoolAccount } from "../../../src/ports/pool-store.ts";
import { compareText, isCurrent, type State, wake } from "./state.ts";

/** Puts an account into the pool, as an operator would. */
export function addToPool({ tables }: State, account: PoolAccount): void {
  if (tables.pool.has(account.name)) throw new Error(`${account.name} is in the pool already`);
  tables.pool.set(account.name, { ...account, state: "free", organizationId: undefined, accountId: undefined });
}

export function dock({ tables, nowMs }: State, request: Parameters<EngineStore["dock"]>[0]): DockAnswer {
  const { actor, location } = request;
  const now = nowMs();
  const subject = tables.subjects.get(request.subject.id);
  if (subject === undefined || !isCurrent(tables, subject, actor, now)) return { result: "lost" };
  const account = subject.accountId === undefined ? undefined : tables.accounts.get(subject.accountId);
  if (account?.record.pool === undefined || account.record.pool.account !== undefined) return { result: "docked" };
  const fits = ({ locations }: PoolAccount) =>
    locations.length === 0 || location === undefined || locations.includes(location);
  const [picked] = [...tables.pool.values()]
    .filter((row) => row.state === "free" && row.provider === account.record.provider && fits(row))
    .sort(
      (left, right) =>
        Number(left.locations.length === 0) - Number(right.locations.length === 0) ||
        compareText(left.name, right.name),
    );
  if (picked === undefined) return { result: "none-free" };
  const { name, settings, credentialRef, locations, callsPerSecond } = picked;
  Object.assign(picked, { state: "claimed", organizationId: subject.organizationId, accountId: subject.accountId });
  account.record = { ...account.record, settings, credentialRef, pool: { account: name, locations } };
  account.callsPerSecond = callsPerSecond;
  for (const one of tables.subjects.values()) {
    if (one.accountId !== subject.accountId) continue;
    wake(one, "event", now, true);
    one.policyVersion += 1;
  }
  return { result: "claimed", poolAccount: name };
}
