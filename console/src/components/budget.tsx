import type { AccountDocument } from "../api/types.ts";
import { Mark } from "./mark.tsx";
import { Until } from "./time.tsx";

/** How many calls an account has left, and whether somebody told us to stay away. */
export function Budget({ account }: { account: AccountDocument }) {
  const { use, callsPerSecond } = account;
  if (use === undefined) return <span className="text-soft">{callsPerSecond} calls a second</span>;
  if (use.blockedUntil !== undefined)
    return (
      <Mark tone="bad" icon="pause">
        no calls; again <Until at={use.blockedUntil} />
      </Mark>
    );
  const left = Math.max(0, use.callsLeft);
  return (
    <span className="inline-flex items-center gap-2">
      <meter
        className="h-2 w-20"
        min={0}
        max={use.callsAtMost}
        low={use.callsAtMost / 5}
        value={left}
        aria-label={`Calls left at ${account.name}`}
      />
      <span className="text-xs text-soft tabular-nums">
        {left} of {use.callsAtMost} calls left, {callsPerSecond} a second
      </span>
    </span>
  );
}
