import type { HistoryDocument } from "../../api/types.ts";

/** Changes that one cycle made in the same way, or a guard's word that it said again and again; all else stands alone. */
export type TimelineGroup = readonly [HistoryDocument, ...HistoryDocument[]];

/** What makes two entries one line to read; undefined: nothing does. */
function sameAs({ type, words, action, result, answer, trigger, approved }: HistoryDocument): string | undefined {
  if (type === "verdict") return words;
  return type === "change" ? JSON.stringify([action, result, answer, trigger, approved]) : undefined;
}

/** Three hundred records that were made at once are one line to read, not three hundred. */
export function timelineGroups(entries: readonly HistoryDocument[]): readonly TimelineGroup[] {
  const groups: [HistoryDocument, ...HistoryDocument[]][] = [];
  for (const entry of entries) {
    const last = groups.at(-1);
    const same = sameAs(entry);
    if (last !== undefined && same !== undefined && same === sameAs(last[0]) && isSoonAfter(entry, last.at(-1)))
      last.push(entry);
    else groups.push([entry]);
  }
  return groups;
}

/** Entries are newest first. What lies further apart was not one piece of work. */
const apartMs = 60_000;

function isSoonAfter(older: HistoryDocument, newer: HistoryDocument | undefined): boolean {
  return newer !== undefined && Date.parse(newer.at) - Date.parse(older.at) <= apartMs;
}
