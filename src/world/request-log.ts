import type { WorldTime } from "./table.ts";

export interface LoggedRequest {
  readonly number: number;
  readonly atMs: number;
  readonly cloud: string;
  readonly account: string | undefined;
  readonly actor: "api" | "console";
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly status: number;
  /** What became of the answer. */
  readonly sent: "answer" | "nothing" | "cut";
}

/** How many requests are kept one by one; the counts go on. */
const mostKept = 10_000;

/** What was asked of the world: the last requests in full, and how many there were of each sort. */
export class RequestLog {
  readonly #time: WorldTime;
  #kept: LoggedRequest[] = [];
  #counts = new Map<string, number>();
  #number = 0;

  constructor(time: WorldTime) {
    this.#time = time;
  }

  add(entry: Omit<LoggedRequest, "number" | "atMs">): void {
    this.#number += 1;
    this.#kept.push({ ...entry, number: this.#number, atMs: this.#time.nowMs });
    if (this.#kept.length > 2 * mostKept) this.#kept = this.#kept.slice(-mostKept);
    const sort = [entry.cloud, entry.account ?? "-", entry.method, patternOf(entry.path)].join(" ");
    if (entry.actor === "api") this.#counts.set(sort, (this.#counts.get(sort) ?? 0) + 1);
  }

  after(number: number): readonly LoggedRequest[] {
    return this.#kept.slice(-mostKept).filter((entry) => entry.number > number);
  }

  /** Requests by cloud, account, method and path, ids left out; those of the console do not count. */
  counts(): { readonly total: number; readonly bySort: Readonly<Record<string, number>> } {
    const bySort = Object.fromEntries([...this.#counts].toSorted(([left], [right]) => (left < right ? -1 : 1)));
    return { total: [...this.#counts.values()].reduce((sum, count) => sum + count, 0), bySort };
  }

  clear(): void {
    this.#kept = [];
    this.#counts = new Map();
  }
}

function patternOf(path: string): string {
  return path.replace(/\/(\d+|[0-9a-f]{8}-[0-9a-f-]{27})(?=\/|$)/g, "/{id}");
}
