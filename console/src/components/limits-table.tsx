import type { LimitsDocument } from "../api/types.ts";

/** Each limit with what holds, its default and its ceiling, and who says so. */
export function LimitsTable({ limits }: { limits: LimitsDocument["limits"] }) {
  return (
    <div tabIndex={0} role="region" aria-label="Caps" className="overflow-x-auto">
      <table className="w-full min-w-[36rem] text-left text-sm">
        <thead className="text-xs text-soft">
          <tr className="border-b border-line">
            <th className="px-3.5 py-2 font-medium">Limit</th>
            <th className="px-3.5 py-2 font-medium">In force</th>
            <th className="px-3.5 py-2 font-medium">Default, set by</th>
            <th className="px-3.5 py-2 font-medium">Ceiling</th>
          </tr>
        </thead>
        <tbody className="divide-y divide-line">
          {limits.map((limit) => (
            <tr key={limit.name}>
              <th scope="row" className="px-3.5 py-2 font-medium">
                {limit.name}
              </th>
              <td className="px-3.5 py-2 tabular-nums">{valueText(limit.value)}</td>
              <td className="px-3.5 py-2 text-soft tabular-nums">
                {valueText(limit.default.value)}, {limit.default.from}
              </td>
              <td className="px-3.5 py-2 text-soft tabular-nums">
                {limit.ceiling === undefined ? "none" : `${valueText(limit.ceiling.value)}, ${limit.ceiling.from}`}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function valueText(value: LimitsDocument["limits"][number]["value"]): string {
  return typeof value === "number" ? String(value) : `${value.count} or ${value.percent} %, at least ${value.atLeast}`;
}
