import { digestOf } from "../kernel/hash.ts";
import type { IdempotencyScope, StoredAnswer } from "../ports/idempotency-store.ts";
import type { Json } from "../ports/json.ts";
import type { Caller } from "./access/caller.ts";
import type { ApiContext } from "./context.ts";
import { organizationIdOf } from "./names.ts";
import { Problem } from "./problem.ts";
import type { Keeping, Route, RouteAnswer } from "./route.ts";
import { answersSecret } from "./secret-answer.ts";

const keepMs = 24 * 3_600_000;
/** Longer than any request may take. */
const runningMs = 60_000;
const keyPattern = /^[\x21-\x7e]{1,255}$/;
/** Headers that belong to the answer itself; the others belong to one exchange. */
const keptHeaders = ["etag", "location", "setpoint-result"];

export interface RepeatableCall {
  readonly route: Route;
  readonly caller: Caller | undefined;
  readonly parameters: unknown;
  readonly query: unknown;
  readonly body: unknown;
  readonly key: string | undefined;
}

/**
 * A POST that is sent again with the same `Idempotency-Key` gets the answer of the first and happens once. What was refused
 * did nothing, so its key may be used again. Everything else that a POST does passes through here, once, for all routes.
 */
export async function once(
  context: ApiContext,
  call: RepeatableCall,
  handle: (keeping: Keeping | undefined) => Promise<RouteAnswer>,
): Promise<RouteAnswer> {
  const { route, caller, key } = call;
  if (key === undefined || route.method !== "POST" || caller === undefined) return await handle(undefined);
  if (!keyPattern.test(key))
    throw new Problem("BODY_INVALID", "An Idempotency-Key has 1 to 255 visible characters: a new UUID does");
  const scope = scopeOf(call, caller, key);
  const fingerprint = digestOf([route.path, call.parameters, call.query, call.body]);
  const begun = await context.idempotency.begin({ scope, fingerprint, forMs: runningMs, keepMs });
  if (begun.result === "other-request") throw reused();
  if (begun.result === "in-flight") throw inFlight();
  if (begun.result === "answered") return replayed(route, begun.answer);
  const keeping: Keeping = { scope, stored: (answer) => storedAnswer(route, answer), isKept: false };
  try {
    const answer = await handle(keeping);
    if (!keeping.isKept) await context.idempotency.finish({ scope, answer: storedAnswer(route, answer) });
    return answer;
  } catch (thrown) {
    // An answer that was refused did nothing. Of any other failure nobody knows: then the key stays taken for a while.
    if (thrown instanceof Problem && thrown.status < 500) await context.idempotency.forget(scope);
    throw thrown;
  }
}

function scopeOf({ parameters }: RepeatableCall, caller: Caller, key: string): IdempotencyScope {
  const names = parameters as { readonly organization?: string };
  const { type, id } = caller.credential;
  return {
    organizationId: names.organization === undefined ? undefined : organizationIdOf(names.organization),
    // A session ends and another begins while somebody tries again; whose it is stays.
    principal: caller.personId ?? `${type}/${id}`,
    key,
  };
}

function storedAnswer(route: Route, { status, headers = {}, body }: RouteAnswer): StoredAnswer {
  const kept = keptHeaders.flatMap((name) => (typeof headers[name] === "string" ? [[name, headers[name]]] : []));
  const shown = answersSecret(route) || body === undefined ? undefined : (JSON.parse(JSON.stringify(body)) as Json);
  return { status, headers: Object.fromEntries(kept) as Record<string, string>, body: shown };
}

function replayed(route: Route, { status, headers, body }: StoredAnswer): RouteAnswer {
  if (answersSecret(route))
    throw new Problem(
      "IDEMPOTENCY_REUSED",
      "The first request with this key was carried out. Its answer held a secret, which is shown once and not kept: make a new one with another key, and revoke the first",
    );
  return { status, headers: { ...headers, "idempotency-replayed": "true" }, ...(body === undefined ? {} : { body }) };
}

function reused(): Problem {
  return new Problem(
    "IDEMPOTENCY_REUSED",
    "This Idempotency-Key was used for another request within 24 hours: use a new key for a new request",
  );
}

function inFlight(): Problem {
  return new Problem(
    "IDEMPOTENCY_IN_FLIGHT",
    "A request with this Idempotency-Key is still running: repeat it in a moment",
    {
      retryAfterSeconds: 1,
    },
  );
}
