const signs: Readonly<Record<string, { sign: string; tone: string }>> = {
  delete: { sign: "−", tone: "text-bad" },
  replace: { sign: "±", tone: "text-bad" },
  update: { sign: "~", tone: "text-warn" },
  create: { sign: "+", tone: "text-good" },
};

/** What has no sign of its own is said in words. */
const words: Readonly<Record<string, string>> = { takeover: "take over ", adopt: "adopt ", forget: "forget " };

/** How much a plan does, deletes first: −3 ~2 +1. */
export function Counts({ counts }: { counts: Readonly<Record<string, number>> }) {
  const order = ["delete", "replace", "takeover", "update", "adopt", "create", "forget"];
  const given = Object.entries(counts)
    .filter(([, count]) => count > 0)
    .toSorted(([left], [right]) => order.indexOf(left) - order.indexOf(right));
  if (given.length === 0) return <span className="text-soft">nothing</span>;
  return (
    <span className="inline-flex flex-wrap gap-x-2 font-medium tabular-nums">
      {given.map(([action, count]) => {
        const { sign, tone } = signs[action] ?? { sign: words[action] ?? `${action} `, tone: "text-hold" };
        return (
          <span key={action} className={tone} title={`${count} to ${action}`}>
            {sign}
            {count}
            {signs[action] === undefined ? undefined : <span className="sr-only"> {action}</span>}
          </span>
        );
      })}
    </span>
  );
}
