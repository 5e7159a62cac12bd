import { isoTime } from "../kernel/iso-time.ts";
import type { Json } from "../ports/json.ts";
import type { HistoryEntry } from "../ports/read-store.ts";
import type { FieldDifference, Verdict } from "../ports/records.ts";
import type { HistoryDocument } from "./schemas/resource.ts";

const longestValue = 120;

/** One line of the record, as data and as a sentence. */
export function historyDocument(entry: HistoryEntry): HistoryDocument {
  if (entry.type === "verdict") {
    const { guard, answer, reason } = entry.verdict;
    return {
      type: "verdict",
      at: isoTime(entry.atMs),
      words: `guard ${guard} said ${answer}: ${reason}`,
      verdicts: [verdictOf(entry.verdict)],
    };
  }
  return {
    type: "change",
    at: isoTime(entry.atMs),
    words: changeWords(entry),
    action: entry.action,
    key: entry.key,
    trigger: entry.trigger,
    result: entry.result,
    ...(entry.answer === undefined ? {} : { answer: entry.answer }),
    differences: entry.differences.map(differenceOf),
    declaredBy: entry.declaredBy.map(({ uid, author, atMs }) => ({ uid, author, at: isoTime(atMs) })),
    verdicts: entry.verdicts.map(verdictOf),
    approved: entry.grantId !== undefined,
  };
}

function changeWords(entry: HistoryEntry & { readonly type: "change" }): string {
  const { differences } = entry;
  const fields = differences
    .map((difference) => `${difference.field} ${shown(difference.seen)} → ${shown(difference.wanted)}`)
    .join(", ");
  const who = entry.declaredBy.map((source) => `${source.author} at ${isoTime(source.atMs)}`).join("; ");
  const because = [
    fields === "" ? undefined : fields,
    who === "" ? undefined : `declared by ${who}`,
    entry.grantId === undefined ? undefined : "approved",
    `trigger ${entry.trigger}`,
  ].filter((part) => part !== undefined);
  const answer = entry.answer === undefined ? "" : ` (${entry.answer})`;
  return `${entry.action} ${entry.key}: ${entry.result}${answer}; ${because.join("; ")}`;
}

function shown(value: Json | undefined): string {
  const text =
    value === undefined || value === null ? "nothing" : typeof value === "string" ? value : JSON.stringify(value);
  return text.length > longestValue ? `${text.slice(0, longestValue)}…` : text;
}

function differenceOf({ field, wanted, seen }: FieldDifference) {
  return { field, ...(wanted === undefined ? {} : { wanted }), ...(seen === undefined ? {} : { seen }) };
}

function verdictOf(verdict: Verdict) {
  return { ...verdict, numbers: { ...verdict.numbers }, keys: [...verdict.keys] };
}
