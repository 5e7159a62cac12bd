import { z } from "zod";
import { afterEffect, RetryableError } from "../../kernel/errors.ts";
import type { HttpAnswer } from "../../ports/http.ts";
import type { RestCall } from "../rest-client.ts";
import { unavailable } from "../silence.ts";
import type { IonosClient } from "./client.ts";
import { everyOf } from "./pages.ts";

/** Every change is a request that goes on behind its answer. Asked at growing distances: every question is a call. */
const pauses = [500, 1_000, 2_000, 3_000] as const;

const targetShape = z.object({ target: z.object({ id: z.string(), type: z.string(), href: z.string().nullish() }) });
const statusShape = z.object({
  metadata: z.object({
    status: z.enum(["QUEUED", "RUNNING", "DONE", "FAILED"]),
    message: z.string().nullish(),
    targets: z.array(targetShape).nullish(),
  }),
});
type Status = z.output<typeof statusShape>["metadata"];

export type WorkState = "done" | "running" | { readonly failed: string };

function readStatus(client: IonosClient, id: string, signal: AbortSignal): Promise<{ metadata: Status } | "absent"> {
  return client.find(statusShape, { path: ["requests", id, "status"], what: `the status of request ${id}` }, signal);
}

export async function requestState(client: IonosClient, id: string, signal: AbortSignal): Promise<WorkState> {
  const found = await readStatus(client, id, signal);
  // Requests are kept for a while only: one that is forgotten is not running any more.
  if (found === "absent" || found.metadata.status === "DONE") return "done";
  if (found.metadata.status === "FAILED") return { failed: found.metadata.message ?? "no reason was given" };
  return "running";
}

/** Which request an answer began, by its header. */
export function requestIdOf(answer: HttpAnswer): string | undefined {
  return /\/requests\/([^/]+)\/status/.exec(answer.headers["location"] ?? "")?.[1];
}

/** A change, until its request is over. What goes on when time is up is left to go on: the next look sees it. */
export async function change(
  client: IonosClient,
  call: RestCall,
  signal: AbortSignal,
  accept: readonly string[] = [],
): Promise<void> {
  const answer = await client.change(call, signal, accept);
  if (answer !== undefined) await awaitRequest(client, call.what, answer, signal);
}

/** Waits for the request that an answer began. */
export async function awaitRequest(
  client: IonosClient,
  what: string,
  answer: HttpAnswer,
  signal: AbortSignal,
): Promise<void> {
  const id = requestIdOf(answer);
  if (id === undefined) return;
  const ask = () => afterEffect(() => requestState(client, id, signal));
  let state = await ask();
  for (const pauseMs of pauses) {
    if (state !== "running" || signal.aborted) break;
    await client.clock.wait(pauseMs, signal);
    state = await ask();
  }
  if (typeof state === "object")
    throw unavailable(`IONOS could not carry out ${what}: ${state.failed}`, { afterMs: 10_000, ambiguous: false });
  if (state === "running")
    throw new RetryableError("DEPENDENCY_NOT_READY", `IONOS still works on ${what} (request ${id})`, {
      afterMs: 15_000,
      ambiguous: true,
    });
}

/** A call of the engine ends by then, and nobody else has its turn before. */
const freshForMs = 10_000;

/**
 * Names are not unique at IONOS: whoever slept between the look and the order (a suspended process) must not order what another one
 * has ordered meanwhile. Begun before the look; what it answers with is called right before the order.
 */
export function beginLook(client: IonosClient, signal: AbortSignal): (what: string) => void {
  const lookedMs = client.clock.monotonicMs();
  return (what) => {
    if (!signal.aborted && client.clock.monotonicMs() - lookedMs <= freshForMs) return;
    throw new RetryableError("TIMED_OUT", `It took too long to look before ${what}`, { ambiguous: false });
  };
}

const requestShape = z.object({
  id: z.string(),
  metadata: z.object({ requestStatus: z.object({ metadata: statusShape.shape.metadata }) }),
  properties: z.object({ method: z.string(), body: z.string().nullish() }),
});

export interface Ordered {
  readonly requestId: string;
  /** Ids of what it makes, by type. */
  readonly targets: readonly { readonly id: string; readonly href: string }[];
}

/**
 * Orders that say this text and have not failed, oldest first. A list of things may lag behind what was made a moment ago; the
 * provider's own record of what was ordered does not. Names are not unique here, so this is what keeps one order from becoming two.
 */
export async function orderedWith(client: IonosClient, text: string, signal: AbortSignal): Promise<readonly Ordered[]> {
  const query = { "filter.method": "POST", "filter.body": text };
  const list = { path: ["requests"], query, shape: requestShape, depth: 2, limit: 1_000, what: "the list of requests" };
  return (await everyOf(client, list, signal))
    .filter(({ properties }) => properties.method === "POST" && properties.body?.includes(text) === true)
    .filter(({ metadata }) => metadata.requestStatus.metadata.status !== "FAILED")
    .map(({ id, metadata }) => ({
      requestId: id,
      targets: (metadata.requestStatus.metadata.targets ?? []).map(({ target }) => ({
        id: target.id,
        href: target.href ?? "",
      })),
    }))
    .toReversed();
}
