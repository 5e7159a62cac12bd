import type { Json } from "../ports/json.ts";
import { type Call, call } from "./statement.ts";
import { appendLog } from "./sql/log.ts";

/** One line of the log: what happened to what, by whom. Written in the transaction of what it tells of. */
export interface LogEntry {
  /** Undefined: it concerns the whole platform. */
  readonly organizationId: string | undefined;
  readonly type: string;
  readonly uid?: string | undefined;
  readonly revision?: number | undefined;
  readonly actor: string;
  readonly data: { readonly [key: string]: Json | undefined };
}

export function logCall(entry: LogEntry): Call<never> {
  const { organizationId, type, uid, revision, actor, data } = entry;
  return call(appendLog, organizationId ?? null, type, uid ?? null, revision ?? null, actor, JSON.stringify(data));
}
