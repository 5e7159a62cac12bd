import type { Priority } from "../ports/engine-store.ts";
import type { DueEdge, Signal } from "../ports/signal.ts";

const PRIORITIES: readonly Priority[] = ["person", "event", "first", "resync"];

/** From the shards a transaction made something due in, and the subjects it names: a shard without one has too many to name. */
export function signalOf(shards: readonly number[], due: readonly DueEdge[]): Signal {
  const named = new Set(due.map((edge) => edge.shard));
  return { shards: shards.filter((shard) => !named.has(shard)), due };
}

/** A signal as text that fits into a message: shards, then subjects as far as there is room. */
export function signalText(signal: Signal, longest: number): string {
  const named = signal.due.map(
    (edge) => `${edge.subjectId}:${edge.shard}:${PRIORITIES.indexOf(edge.priority)}:${Math.floor(edge.dueAtMs)}`,
  );
  const text = `${[...new Set(signal.shards)].join(",")};${named.join(",")}`;
  if (text.length <= longest) return text;
  // Who gets only the shards asks the store which subjects they are.
  return `${[...new Set([...signal.shards, ...signal.due.map((edge) => edge.shard)])].join(",")};`;
}

/** Undefined for what is not a signal: the channel is open to everybody who can reach the database. */
export function parseSignal(text: string): Signal | undefined {
  const [shardText, dueText, ...rest] = text.split(";");
  if (shardText === undefined || dueText === undefined || rest.length > 0) return undefined;
  const shards = shardText === "" ? [] : shardText.split(",").map(Number);
  const due = dueText === "" ? [] : dueText.split(",").map(parseEdge);
  if (!shards.every(Number.isSafeInteger) || !due.every((edge) => edge !== undefined)) return undefined;
  return { shards, due };
}

function parseEdge(text: string): DueEdge | undefined {
  const [subjectId = Number.NaN, shard = Number.NaN, rank = Number.NaN, dueAtMs = Number.NaN, ...rest] = text
    .split(":")
    .map(Number);
  const priority = PRIORITIES[rank];
  const numbers = [subjectId, shard, dueAtMs];
  if (priority === undefined || rest.length > 0 || !numbers.every(Number.isSafeInteger)) return undefined;
  return { subjectId, shard, priority, dueAtMs };
}
