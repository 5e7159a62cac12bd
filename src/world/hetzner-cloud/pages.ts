import type { Call } from "./call.ts";
import { invalidInput } from "./errors.ts";
import { parseSelector } from "./labels.ts";
import { type ProjectView, projectAsOf } from "./project.ts";
import type { Labels } from "./rows.ts";

const usualPerPage = 25;
const mostPerPage = 50;

/** What a list shows: the project as it is, unless lists lag behind. */
export function viewOf(call: Call): ProjectView {
  const stale = call.faults.strike("stale-list");
  const lagMs = stale === undefined ? call.listLagMs : stale.ageSeconds * 1_000;
  return lagMs > 0 ? projectAsOf(call.project, call.nowMs - lagMs) : call.project;
}

export interface Page<R> {
  readonly rows: readonly R[];
  readonly meta: { readonly pagination: Readonly<Record<string, number | null>> };
}

/** One page of rows, and where it stands, with whatever the fault tray does to lists. */
export function pageOf<R>(call: Call, all: readonly R[], most = mostPerPage): Page<R> {
  const perPage = Math.min(numberOf(call, "per_page", usualPerPage), most, call.pageMax ?? most);
  const asked = numberOf(call, "page", 1);
  const half = call.faults.strike("half-list");
  const kept = half === undefined ? all : all.slice(0, Math.ceil(all.length * half.share));
  const total = half?.total === "kept" ? all.length : kept.length;
  const page = asked > 1 && call.faults.strike("repeated-page") !== undefined ? 1 : asked;
  const isShifted = page > 1 && call.faults.strike("duplicate-page") !== undefined;
  const from = (page - 1) * perPage - (isShifted ? 1 : 0);
  const inOrder = page > 1 && call.faults.strike("reordered-list") !== undefined ? kept.toReversed() : kept;
  const last = Math.max(1, Math.ceil(total / perPage));
  return {
    rows: inOrder.slice(from, from + perPage),
    meta: {
      pagination: {
        page,
        per_page: perPage,
        previous_page: page > 1 ? page - 1 : null,
        next_page: page < last ? page + 1 : null,
        last_page: last,
        total_entries: total,
      },
    },
  };
}

function numberOf(call: Call, name: string, usual: number): number {
  const text = call.query.get(name);
  if (text === null) return usual;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw invalidInput(name, "must be a number of at least 1");
}

/** Refuses a value of the query that is none of those there are. */
export function requireChoices(call: Call, choices: Readonly<Record<string, readonly string[]>>): void {
  for (const [name, values] of Object.entries(choices))
    if (call.query.getAll(name).some((value) => !values.includes(value)))
      throw invalidInput(name, `must be one of ${values.join(", ")}`);
}

/** `sort=name:desc`, as often as wanted; the rows come in the order of their ids already. */
export function sorted<R>(
  call: Call,
  rows: readonly R[],
  fields: Readonly<Record<string, (row: R) => string | number>>,
): readonly R[] {
  const wanted = call.query.getAll("sort").map((text) => {
    const [field = "", direction = "asc"] = text.split(":");
    const valueOf = fields[field];
    if (valueOf === undefined || (direction !== "asc" && direction !== "desc"))
      throw invalidInput("sort", `must be one of ${Object.keys(fields).join(", ")}, each with :asc or :desc`);
    return { valueOf, sign: direction === "asc" ? 1 : -1 };
  });
  if (wanted.length === 0) return rows;
  const order = call.query.getAll("sort").join(" ");
  const known = lastSorted.get(rows);
  if (known?.order === order) return known.rows as readonly R[];
  const inOrder = rows.toSorted((left, right) => {
    for (const { valueOf, sign } of wanted) {
      const [a, b] = [valueOf(left), valueOf(right)];
      if (a !== b) return a < b ? -sign : sign;
    }
    return 0;
  });
  lastSorted.set(rows, { order, rows: inOrder });
  return inOrder;
}

/** A table gives the same array until a row changes: whoever pages through it has it sorted once, and not for every page. */
const lastSorted = new WeakMap<readonly unknown[], { readonly order: string; readonly rows: readonly unknown[] }>();

/** The rows a label selector picks, by the index where the selector names a value. */
export function selected<R extends { readonly labels: Labels }>(
  text: string | null,
  all: () => readonly R[],
  where: (label: string) => readonly R[],
): readonly R[] {
  if (text === null || text === "") return all();
  const selector = parseSelector(text);
  const rows = selector.indexed === undefined ? all() : where(selector.indexed);
  return rows.filter((row) => selector.matches(row.labels));
}
