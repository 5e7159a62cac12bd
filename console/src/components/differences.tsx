import type { Difference } from "../api/parts.ts";

/** Field by field: what was seen, and what is wanted. */
export function Differences({ differences }: { differences: readonly Difference[] }) {
  if (differences.length === 0) return undefined;
  // Of what is made, nothing was seen: a column that says so on every line says nothing.
  const isSeen = differences.some(({ seen }) => seen !== undefined && seen !== null);
  return (
    <table className="w-full table-fixed text-left text-xs">
      <thead className="sr-only">
        <tr>
          <th>Field</th>
          {isSeen ? <th>Seen</th> : undefined}
          <th>Wanted</th>
        </tr>
      </thead>
      <tbody>
        {differences.map((difference) => (
          <tr key={difference.field} className="align-top">
            <th scope="row" className="w-1/3 py-0.5 pr-3 font-normal break-words text-soft sm:w-1/4">
              <code>{difference.field}</code>
            </th>
            {isSeen ? (
              <td className="py-0.5 pr-3 break-words">
                <Value value={difference.seen} sign="−" tone="bg-bad-wash text-bad" absent="absent" />
              </td>
            ) : undefined}
            <td className="py-0.5 break-words">
              <Value value={difference.wanted} sign="+" tone="bg-good-wash text-good" absent="removed" />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** A list of words has a line for each. */
function textOf(value: unknown): string {
  if (Array.isArray(value) && value.every((one) => typeof one === "string")) return value.join("\n");
  return typeof value === "string" ? value : JSON.stringify(value);
}

export function Value({ value, sign, tone, absent }: { value: unknown; sign: string; tone: string; absent: string }) {
  if (value === undefined || value === null) return <span className="text-soft italic">{absent}</span>;
  const text = textOf(value);
  return (
    <code className={`rounded px-1 py-px whitespace-pre-wrap ${tone}`}>
      <span aria-hidden="true">{sign} </span>
      {text === "" ? (Array.isArray(value) ? "[]" : '""') : text}
    </code>
  );
}
