import type { Config } from "../config.ts";
import type { Http } from "../ports/http.ts";
import type { Log } from "../ports/log.ts";
import type { Tracer } from "../ports/tracer.ts";
import { createHttpClient } from "../runtime/http-client.ts";
import { createOtlpTracer } from "../runtime/otlp-tracer.ts";
import { tracedHttp } from "../runtime/traced-http.ts";
import type { SchedulerMetrics } from "../scheduler/metrics.ts";

/** Undefined unless a collector is set: then nothing is made that nobody collects. */
export function composeTracing(
  config: Pick<Config, "otlpEndpoint">,
  about: { readonly role: string; readonly version: string; readonly log: Log },
  undo: AsyncDisposableStack,
): Tracer | undefined {
  const { otlpEndpoint: endpoint } = config;
  if (endpoint === undefined) return undefined;
  // A client of its own: spans about sending spans would never end.
  const http = undo.use(createHttpClient());
  const { role, version, log } = about;
  return undo.use(createOtlpTracer({ endpoint, service: `setpoint-${role}`, version, http, log }));
}

/** Calls of providers as spans, where spans are collected. */
export function withSpans(http: Http, tracer: Tracer | undefined): Http {
  return tracer === undefined ? http : tracedHttp(http, tracer);
}

/** Cycles as spans. Those that found nothing to do are counted and not told one by one: there are thousands a second. */
export function withCycleSpans(metrics: SchedulerMetrics, tracer: Tracer | undefined): SchedulerMetrics {
  if (tracer === undefined) return metrics;
  return {
    ...metrics,
    cycleEnded: (sample) => {
      metrics.cycleEnded(sample);
      const { kind, report, trigger, durationSeconds } = sample;
      if (report.idle) return;
      const span = tracer.start(`cycle ${kind}`, {
        kind: "internal",
        beganMsAgo: durationSeconds * 1_000,
        attributes: {
          "setpoint.kind": kind,
          "setpoint.result": report.result,
          "setpoint.trigger": trigger,
          "setpoint.written": report.written,
          "setpoint.held": report.held,
        },
      });
      if (report.result === "failed" || report.result === "stalled") span.fail(report.result);
      span.end();
    },
  };
}
