import type { Config } from "../config.ts";
import type { Http } from "../ports/http.ts";
import type { Log } from "../ports/log.ts";
import type { Tracer } from "../ports/tracer.ts";
import { createHttpClient } from "../runtime/http-client.ts";
import { createOtlpTracer } from "../runtime/otlp-tracer.ts";
import { tracedHttp } from "../runtime/traced-http.ts";
import type { CycleSpans } from "./cycle-spans.ts";

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

/** Calls of providers as spans, where spans are collected: children of the cycle that makes them. */
export function withSpans(http: Http, tracer: Tracer | undefined, cycles: CycleSpans | undefined): Http {
  return tracer === undefined ? http : tracedHttp(http, tracer, () => cycles?.current());
}
