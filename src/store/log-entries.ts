import { hash } from "node:crypto";
import { canonical } from "../kernel/hash.ts";
import type { Json } from "../ports/json.ts";
import type { EntryTrail } from "../ports/read-store.ts";
import type { Principal } from "../ports/records.ts";
import type { Transaction } from "./database.ts";
import { type Call, call } from "./statement.ts";
import { appendLog } from "./sql/log.ts";

/** One line of the log: what happened to what, by whom. Written in the transaction of what it tells of. */
export type LogEntry = {
  /** Undefined: it concerns the whole platform. */
  readonly organizationId: string | undefined;
  readonly type: string;
  readonly uid?: string | undefined;
  readonly revision?: number | undefined;
  /** Never a secret: whoever may read the log reads this. */
  readonly data: { readonly [key: string]: Json | undefined };
  /** What it was and what it became. Only digests are kept. */
  readonly before?: unknown;
  readonly after?: unknown;
} & (
  | { readonly author: Principal; readonly actor?: undefined }
  /** Setpoint itself, or an operation. */
  | { readonly actor: string; readonly author?: undefined }
);

export function logCall(entry: LogEntry): Call<never> {
  const { organizationId, type, uid, revision, author, data } = entry;
  const actor = author?.name ?? entry.actor ?? "setpoint";
  const trail = trailOf(entry);
  return call(
    appendLog,
    organizationId ?? null,
    type,
    uid ?? null,
    revision ?? null,
    actor,
    JSON.stringify(data),
    trail === undefined ? null : JSON.stringify(trail),
  );
}

function trailOf({ author, before, after }: LogEntry): EntryTrail | undefined {
  if (author === undefined && before === undefined && after === undefined) return undefined;
  return {
    ...(author === undefined ? {} : { type: author.type, ...author.via }),
    ...(before === undefined ? {} : { before: valueDigest(before) }),
    ...(after === undefined ? {} : { after: valueDigest(after) }),
  };
}

/** SHA-256 of a value's canonical form: whoever has the value can show that it is the one. */
function valueDigest(value: unknown): string {
  return hash("sha256", canonical(value), "hex");
}

/** Tells the log, in a transaction whose statements depend on each other. */
export async function append(tx: Transaction, entry: LogEntry): Promise<void> {
  const { statement, values } = logCall(entry);
  await tx.run(statement, ...values);
}
