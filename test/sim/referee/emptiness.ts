import type { Settlement } from "../../../src/ports/engine-store.ts";
import type { SetSpec } from "../sim-kind.ts";
import type { Tables } from "../store/state.ts";
import type { WatchedCycle } from "./snapshot-rules.ts";
import { Violation } from "./witness.ts";

/** Nobody is asked to approve an emptiness that nobody declared: it is refused until somebody says what is wanted. */
export function judgeEmptiness(tables: Tables, { input }: WatchedCycle, settlement: Settlement): void {
  const groups = settlement.held?.groups.filter(({ guard }) => guard === "empty-desired") ?? [];
  if (groups.length === 0 || (input.resource.spec as Partial<SetSpec>).zero === true) return;
  const tombstoned = new Set(input.inputs.filter(({ deletion }) => deletion !== undefined).map(({ uid }) => uid));
  const isDead = (uid: string) => {
    const resource = tables.resources.get(uid);
    return tombstoned.has(uid) || resource === undefined || resource.deletion !== undefined;
  };
  for (const { key } of groups.flatMap(({ items }) => items)) {
    const written = input.memory.owned.find((item) => item.key === key)?.sources ?? [];
    const last = input.memory.lastDesired?.find((item) => item.key === key)?.sources.map(({ uid }) => uid) ?? [];
    const declared = [written, last].some((sources) => sources.length > 0 && sources.every(isDead));
    if (declared) continue;
    const { kind, name } = input.subject;
    throw new Violation("empty desired", `${kind}/${name}: a person is asked to delete ${key}, which nobody deleted`);
  }
}
