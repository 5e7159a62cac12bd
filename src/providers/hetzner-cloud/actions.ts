import { z } from "zod";
import { afterEffect, RetryableError } from "../../kernel/errors.ts";
import type { HttpAnswer } from "../../ports/http.ts";
import { actionError } from "./answer-error.ts";
import type { HetznerClient } from "./client.ts";

/** Asked at growing distances: most actions are over within two seconds, and every question is a call. */
const pauses = [300, 700, 1_500, 2_500] as const;

export const actionShape = z.object({
  id: z.int(),
  command: z.string(),
  status: z.enum(["running", "success", "error"]),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
});
type Action = z.output<typeof actionShape>;

const oneShape = z.object({ action: actionShape });
const startedShape = z.object({ action: actionShape.nullish(), actions: z.array(actionShape).nullish() });

export type WorkState = "done" | "running" | { readonly failed: string };

export async function actionState(client: HetznerClient, id: string, signal: AbortSignal): Promise<WorkState> {
  const call = { path: ["actions", id], what: `the read of action ${id}` };
  const found = await client.find(oneShape, call, signal);
  // Actions are kept for a while only: one that is forgotten is not running any more.
  if (found === "absent" || found.action.status === "success") return "done";
  if (found.action.status === "running") return "running";
  const { code, message } = found.action.error ?? { code: "unknown", message: "no reason was given" };
  return { failed: `${found.action.command}: ${code}: ${message}` };
}

const listShape = z.object({ actions: z.array(actionShape) });

/** The newest action of this command among the last ones of a server. */
export async function newestAction(
  client: HetznerClient,
  server: string,
  command: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const query = { sort: "id:desc", per_page: "50" };
  const call = { path: ["servers", server, "actions"], query, what: `the read of the actions of server ${server}` };
  const { actions } = await client.get(listShape, call, signal);
  const [newest] = actions.filter((action) => action.command === command).map(({ id }) => id);
  return newest === undefined ? undefined : String(newest);
}

/** Waits for the actions that a call started. What is still running when time is up is left to go on: the next look sees it. */
async function awaitActions(
  client: HetznerClient,
  what: string,
  answer: HttpAnswer,
  signal: AbortSignal,
): Promise<void> {
  const started = client.parse(startedShape, what, answer);
  const actions = [...(started.actions ?? []), ...(started.action ? [started.action] : [])];
  for (const action of actions) await awaitAction(client, what, action, signal);
}

async function awaitAction(client: HetznerClient, what: string, first: Action, signal: AbortSignal): Promise<void> {
  let action = first;
  for (const pauseMs of pauses) {
    if (action.status !== "running") break;
    await client.clock.wait(pauseMs, signal);
    if (signal.aborted) break;
    const call = { path: ["actions", String(action.id)], what: `the read of action ${action.id}` };
    action = (await afterEffect(() => client.get(oneShape, call, signal))).action;
  }
  if (action.status === "success") return;
  if (action.status === "error")
    throw actionError(what, action.error ?? { code: "unknown", message: "no reason was given" });
  throw new RetryableError("DEPENDENCY_NOT_READY", `Hetzner Cloud still works on ${what} (action ${action.id})`, {
    afterMs: 5_000,
    ambiguous: true,
  });
}

/** A call that starts actions, until they are over. What is already so, by one of these codes, is done. */
export async function act(
  client: HetznerClient,
  call: Parameters<HetznerClient["change"]>[0],
  signal: AbortSignal,
  accept: readonly string[] = [],
): Promise<void> {
  const answer = await client.change(call, signal, accept);
  if (answer !== undefined) await awaitActions(client, call.what, answer, signal);
}
