import { randomBytes } from "node:crypto";
import type { Http } from "../ports/http.ts";
import type { Log } from "../ports/log.ts";
import type { Span, SpanContext, SpanStart, Tracer } from "../ports/tracer.ts";

const kinds = { internal: 1, server: 2, client: 3 } as const;
const sendEveryMs = 5_000;
const batchSize = 512;
/** A collector that is away must not cost memory: what is beyond this is not kept. */
const queueSize = 4_096;
const sendTimeoutMs = 10_000;

interface Ended {
  readonly name: string;
  readonly kind: number;
  readonly context: SpanContext;
  readonly parentSpanId: string | undefined;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
  readonly failure: string | undefined;
}

export interface OtlpTracer extends Tracer, AsyncDisposable {
  /** Sends what is waiting. Never rejects: spans are lost before anything else is. */
  flush(): Promise<void>;
}

/** Spans as OTLP/HTTP in JSON, in batches. No sampling: whoever sets a collector wants them. */
export function createOtlpTracer(options: {
  readonly endpoint: string;
  readonly service: string;
  readonly version: string;
  readonly http: Http;
  readonly log: Log;
}): OtlpTracer {
  let queue: Ended[] = [];
  let dropped = 0;
  const flush = async (): Promise<void> => {
    while (queue.length > 0) {
      const batch = queue.slice(0, batchSize);
      queue = queue.slice(batchSize);
      await send(options, batch, dropped);
      dropped = 0;
    }
  };
  const keep = (span: Ended) => {
    if (queue.length >= queueSize) dropped += 1;
    else queue.push(span);
  };
  const timer = setInterval(() => void flush(), sendEveryMs);
  timer.unref();
  return {
    start: (name, start) => startSpan(name, start, keep),
    newContext: () => newContext(undefined),
    flush,
    [Symbol.asyncDispose]: async () => {
      clearInterval(timer);
      await flush();
    },
  };
}

function startSpan(name: string, start: SpanStart, keep: (span: Ended) => void): Span {
  const context = start.context ?? newContext(start.parent);
  const startMs = Date.now() - (start.beganMsAgo ?? 0);
  const attributes: Record<string, string | number | boolean> = { ...start.attributes };
  let failure: string | undefined;
  let open = true;
  return {
    context,
    set: (key, value) => {
      attributes[key] = value;
    },
    fail: (message) => {
      failure = message;
    },
    end: () => {
      if (!open) return;
      open = false;
      const parentSpanId = start.parent?.spanId;
      keep({ name, kind: kinds[start.kind], context, parentSpanId, startMs, endMs: Date.now(), attributes, failure });
    },
  };
}

function newContext(parent: SpanContext | undefined): SpanContext {
  const traceId = parent?.traceId ?? randomBytes(16).toString("hex");
  return { traceId, spanId: randomBytes(8).toString("hex") };
}

async function send(
  options: {
    readonly endpoint: string;
    readonly service: string;
    readonly version: string;
    readonly http: Http;
    readonly log: Log;
  },
  batch: readonly Ended[],
  dropped: number,
): Promise<void> {
  const { endpoint, service, version, http, log } = options;
  const resource = { "service.name": service, "service.version": version };
  const body = JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: attributesOf(resource) },
        scopeSpans: [{ scope: { name: "setpoint", version }, spans: batch.map(spanOf) }],
      },
    ],
  });
  const answer = await http.request({
    method: "POST",
    url: `${endpoint}/v1/traces`,
    headers: { "content-type": "application/json" },
    body,
    timeoutMs: sendTimeoutMs,
    bodyLimitBytes: 65_536,
  });
  if (!answer.answered || answer.status >= 300)
    log.warn("trace.not-sent", {
      spans: batch.length,
      dropped,
      why: answer.answered ? `answered ${answer.status}` : answer.message,
    });
}

function spanOf({ name, kind, context, parentSpanId, startMs, endMs, attributes, failure }: Ended) {
  return {
    traceId: context.traceId,
    spanId: context.spanId,
    ...(parentSpanId === undefined ? {} : { parentSpanId }),
    name,
    kind,
    startTimeUnixNano: nanoseconds(startMs),
    endTimeUnixNano: nanoseconds(endMs),
    attributes: attributesOf(attributes),
    status: failure === undefined ? {} : { code: 2, message: failure },
  };
}

function nanoseconds(ms: number): string {
  return (BigInt(Math.round(ms)) * 1_000_000n).toString();
}

function attributesOf(attributes: Readonly<Record<string, string | number | boolean>>) {
  return Object.entries(attributes).map(([key, value]) => ({
    key,
    value:
      typeof value === "string"
        ? { stringValue: value }
        : typeof value === "boolean"
          ? { boolValue: value }
          : Number.isInteger(value)
            ? { intValue: String(value) }
            : { doubleValue: value },
  }));
}
