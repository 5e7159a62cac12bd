import type { LimitsDocument } from "../api/types.ts";
import { took } from "./time.tsx";

/** What each of them keeps within bounds. */
const meanings: Readonly<Record<string, string>> = {
  deletesPerCycle: "what one cycle may delete of one resource's things; more than that waits for a person",
  "deletesPerHour.account": "what may be deleted at one account within an hour",
  "deletesPerHour.organization": "what may be deleted in this organization within an hour",
  "deletesPerHour.platform": "what may be deleted in all organizations within an hour",
  changesPerCycle: "what one cycle may change; the rest follows in the next",
  confirmAfterMs: "until something nobody declares is looked for once more before it is deleted",
  suspectPercent: "of an account's subjects that go bad together: from there on the observer is suspected",
  suspectAtLeast: "and at least so many of them together",
};

const cell = "block tabular-nums sm:table-cell sm:px-3.5 sm:py-2";

/** Each limit with what holds, its default and its ceiling, and who says so. */
export function LimitsTable({ limits }: { limits: LimitsDocument["limits"] }) {
  return (
    <div tabIndex={0} role="region" aria-label="Caps" className="overflow-x-auto">
      <table className="w-full text-left text-sm">
        <thead className="hidden text-xs text-soft sm:table-header-group">
          <tr className="border-b border-line">
            <th className="w-2/5 px-3.5 py-2 font-medium">Limit</th>
            <th className="px-3.5 py-2 font-medium">In force</th>
            <th className="px-3.5 py-2 font-medium">Default, set by</th>
            <th className="px-3.5 py-2 font-medium">Ceiling</th>
          </tr>
        </thead>
        <tbody className="divide-y divide-line">
          {limits.map((limit) => (
            // On a narrow screen each limit is a small list of its own: nothing hides behind a scroll.
            <tr key={limit.name} className="block px-3.5 py-2 sm:table-row sm:p-0">
              <th scope="row" className="block font-medium break-words sm:table-cell sm:px-3.5 sm:py-2">
                {limit.name}
                <span className="block text-xs font-normal text-soft">{meanings[limit.name]}</span>
              </th>
              <td className={cell}>{valueText(limit.name, limit.value)}</td>
              <td className={`${cell} text-soft`}>
                <span className="sm:hidden">default </span>
                {valueText(limit.name, limit.default.value)}, {limit.default.from}
              </td>
              <td className={`${cell} text-soft`}>
                <span className="sm:hidden">ceiling </span>
                {limit.ceiling === undefined
                  ? "none"
                  : `${valueText(limit.name, limit.ceiling.value)}, ${limit.ceiling.from}`}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** With its unit, which the names of numbers end in. */
function valueText(name: string, value: LimitsDocument["limits"][number]["value"]): string {
  if (typeof value !== "number")
    return `${value.count} or ${value.percent}\u00A0%, whichever is less, but at least ${value.atLeast}`;
  if (name.endsWith("Ms")) return took(value);
  return name.endsWith("Percent") ? `${value}\u00A0%` : String(value);
}
