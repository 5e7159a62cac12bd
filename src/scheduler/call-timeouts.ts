import type { Provider } from "../ports/provider.ts";
import type { SchedulerSettings } from "./options.ts";

/**
 * No call starts that could outlast the lease. Right before a renewal the lease has this much left: a provider that takes longer
 * would be held up there, and from a whole lease on it could never write. That is said at the start, and not found out.
 */
export function requireCallsWithinLease(
  providers: Iterable<Pick<Provider, "name" | "callTimeoutMs">>,
  { leaseMs, renewEveryMs }: Pick<SchedulerSettings, "leaseMs" | "renewEveryMs">,
): void {
  const limitMs = leaseMs - renewEveryMs;
  const problems = [...providers]
    .filter(({ callTimeoutMs }) => !(callTimeoutMs > 0 && callTimeoutMs <= limitMs))
    .map(
      ({ name, callTimeoutMs }) =>
        `- provider '${name}' could not write: its callTimeoutMs is ${callTimeoutMs}; expected more than 0 and at most ${limitMs}`,
    );
  if (problems.length === 0) return;
  throw new Error(
    `A call must end while the lease of its shard lasts, within leaseMs (${leaseMs}) less renewEveryMs (${renewEveryMs}):\n` +
      `${problems.join("\n")}\nGive its calls less time, or make leaseMs longer.`,
  );
}
