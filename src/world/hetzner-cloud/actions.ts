import { isoSecond } from "../../runtime/iso-second.ts";
import type { Table, WorldTime } from "../table.ts";
import type { Call } from "./call.ts";
import type { Project } from "./project.ts";
import type { Action, Consequence, RowOf, TableName } from "./rows.ts";
import { letGoOfServer } from "./server-detach.ts";

/** How long each command usually takes; the others take a second. */
const usualSeconds: Readonly<Record<string, number>> = {
  create_server: 8,
  start_server: 3,
  stop_server: 3,
  shutdown_server: 5,
  reboot_server: 6,
  reset_server: 4,
  delete_server: 2,
  rebuild_server: 15,
  change_server_type: 20,
  create_image: 20,
  create_volume: 3,
  attach_volume: 2,
  detach_volume: 2,
  resize_volume: 3,
  create_load_balancer: 4,
  issue_certificate: 20,
};

export interface Plan {
  readonly command: string;
  readonly resources: Action["resources"];
  /** What happens at once, unless the action is going to fail. */
  readonly now?: () => void;
  /** What happens when it ends well. */
  readonly effects?: readonly Consequence[];
  /** What happens when it fails. */
  readonly otherwise?: readonly Consequence[];
  /** The action it waits for. */
  readonly after?: Action;
}

export function startAction(call: Call, plan: Plan): Action {
  const { project, nowMs } = call;
  const failure = call.faults.strike(
    "failed-actions",
    ({ command }) => command === undefined || command === plan.command,
  );
  const factor = call.faults.strike("slow-actions")?.factor ?? 1;
  const usualMs = (usualSeconds[plan.command] ?? 1) * 1_000;
  const startedMs = Math.max(nowMs, plan.after?.endsMs ?? nowMs);
  const doomed = failure ?? plan.after?.error;
  const action: Action = {
    id: call.nextActionId(),
    command: plan.command,
    status: "running",
    startedMs,
    endsMs: startedMs + Math.round(usualMs * call.pace * factor * (0.8 + 0.4 * call.random.next())),
    resources: plan.resources,
    error: doomed === undefined ? undefined : { code: doomed.code, message: doomed.message },
    effects: (doomed === undefined ? plan.effects : plan.otherwise) ?? [],
  };
  if (doomed === undefined) plan.now?.();
  project.actions.put(action);
  project.running = inserted(project, action);
  if (action.endsMs <= nowMs) settleOne(project, action);
  return project.actions.get(action.id) ?? action;
}

/** Ends every action whose time has come, in that order and at that time. */
export function settleActions(project: Project, time: WorldTime): void {
  const { nowMs } = time;
  for (let action = head(project); action !== undefined && action.endsMs <= nowMs; action = head(project)) {
    time.nowMs = action.endsMs;
    settleOne(project, action);
  }
  time.nowMs = nowMs;
}

export function actionBody(action: Action, nowMs: number): unknown {
  const { id, command, status, resources, error } = action;
  const isOver = status !== "running";
  const share = (nowMs - action.startedMs) / Math.max(1, action.endsMs - action.startedMs);
  return {
    id,
    command,
    status,
    progress: isOver ? 100 : Math.min(99, Math.max(0, Math.floor(share * 100))),
    started: isoSecond(action.startedMs),
    finished: isOver ? isoSecond(action.endsMs) : null,
    resources,
    error: status === "error" ? (error ?? null) : null,
  };
}

/** The running action of a thing, where there is one that keeps others out. */
export function runningOn(project: Project, type: string, id: number): readonly Action[] {
  if (project.running.length === 0) return [];
  return project.actions.where("resource", `${type} ${id}`).filter(({ status }) => status === "running");
}

function head(project: Project): Action | undefined {
  const [first] = project.running;
  return first === undefined ? undefined : project.actions.get(first);
}

function inserted(project: Project, action: Action): readonly number[] {
  const endsMs = (id: number) => project.actions.get(id)?.endsMs ?? 0;
  let at = project.running.length;
  while (at > 0 && endsMs(project.running[at - 1] ?? 0) > action.endsMs) at -= 1;
  return project.running.toSpliced(at, 0, action.id);
}

function settleOne(project: Project, action: Action): void {
  project.running = project.running.filter((id) => id !== action.id);
  project.actions.put({ ...action, status: action.error === undefined ? "success" : "error" });
  for (const consequence of action.effects) follow(project, consequence);
}

/** A thing that went meanwhile stays gone. */
function follow(project: Project, { table, id, set }: Consequence): void {
  const rows = project[table] as unknown as Table<RowOf[TableName]>;
  const row = rows.get(id);
  if (row === undefined) return;
  if (set === undefined) {
    if (table === "servers") letGoOfServer(project, row as RowOf["servers"]);
    rows.remove(id);
  } else
    rows.put({ ...row, ...Object.fromEntries(Object.entries(set).map(([key, value]) => [key, value ?? undefined])) });
}
