import type { PermitAnswer, PermitRequest } from "../ports/engine-store.ts";
import type { CycleInput } from "../ports/records.ts";
import type { Claim, Engine } from "./claim.ts";
import { type EngineError, RetryableError, toEngineError } from "./errors.ts";
import { withTimeLimit } from "./time-limit.ts";

/** A permit outlives its call by this much, so that a slow answer still falls under it. */
export const PERMIT_MARGIN_MS = 5_000;
/** A permit whose answer took longer than this is not used. */
const PERMIT_FRESH_MS = 1_000;

/** Who is about to write outside, for which subject. */
export interface Fence {
  readonly engine: Engine;
  readonly claim: Pick<Claim, "actor" | "leaseRemainingMs" | "signal">;
  readonly input: Pick<CycleInput, "subject" | "account">;
  readonly callTimeoutMs: number;
  /** What writes, for messages. */
  readonly what: string;
}

/** What is asked of the permit, beside who asks. */
export type Asked = Omit<PermitRequest, "permitId" | "actor" | "subject" | "forMs">;

export type Called<Value> =
  | { readonly ok: true; readonly value: Value | undefined }
  | { readonly ok: false; readonly error: EngineError };

export type Fenced<Value> =
  | Extract<PermitAnswer, { readonly granted: false }>
  | { readonly granted: true; readonly permitId: string; readonly called: Called<Value> };

/**
 * The one function that makes an external write, whoever asks: a cycle or a step of an operation. Permit and intent, then the
 * call. No permit, no call; no database, no call. Whoever asked records the outcome. Without `work` only the record changes.
 */
export async function fenced<Value>(
  fence: Fence,
  asked: Asked,
  work: ((signal: AbortSignal) => Promise<Value>) | undefined,
): Promise<Fenced<Value>> {
  const { engine, claim, input, callTimeoutMs } = fence;
  const permitId = engine.ids.next();
  const isLate = lateAfter(fence);
  const answer = await engine.store.permit({
    ...asked,
    permitId,
    actor: claim.actor,
    subject: input.subject,
    forMs: callTimeoutMs + PERMIT_MARGIN_MS,
  });
  if (!answer.granted) return answer;
  if (isLate()) return { granted: true, permitId, called: tooLate(fence) };
  return { granted: true, permitId, called: await call(fence, work) };
}

/**
 * Whether the answer took so long that the permit must not be used any more: a pause set meanwhile is to be obeyed within a
 * second, and no call starts that could outlive the lease. By the clock that ran more: a stopped machine's monotonic clock stands still.
 */
function lateAfter({ engine: { clock }, claim, callTimeoutMs }: Fence): () => boolean {
  const sentAtMs = clock.nowMs();
  const sentAtMonotonicMs = clock.monotonicMs();
  return () => {
    const elapsedMs = Math.max(clock.nowMs() - sentAtMs, clock.monotonicMs() - sentAtMonotonicMs);
    return elapsedMs > PERMIT_FRESH_MS || claim.leaseRemainingMs() < callTimeoutMs;
  };
}

function tooLate({ what }: Fence): Called<never> {
  const message = `${what}: the permit came too late to be used; the next try asks again`;
  return { ok: false, error: new RetryableError("TIMED_OUT", message, { ambiguous: false }) };
}

async function call<Value>(
  { engine, claim, input, callTimeoutMs, what }: Fence,
  work: ((signal: AbortSignal) => Promise<Value>) | undefined,
): Promise<Called<Value>> {
  if (work === undefined) return { ok: true, value: undefined };
  const limit = { ms: callTimeoutMs, signal: claim.signal, what: `${what}: write` };
  try {
    const value = await engine.accounts.timed(input.account, () => withTimeLimit(engine.clock, limit, work));
    return { ok: true, value };
  } catch (thrown) {
    if (input.account !== undefined) await engine.accounts.noteThrottle(input.account, thrown);
    return { ok: false, error: toEngineError(thrown) };
  }
}
