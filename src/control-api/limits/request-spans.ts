import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Span, SpanContext, Tracer } from "../../ports/tracer.ts";

/** One span per request, named by its route: the names in its path are a tenant's. */
export function registerSpans(app: FastifyInstance, tracer: Tracer): void {
  const spans = new WeakMap<FastifyRequest, Span>();
  app.addHook("onRequest", async (request) => {
    const route = request.routeOptions.url ?? "unknown path";
    spans.set(
      request,
      tracer.start(`${request.method} ${route}`, {
        kind: "server",
        parent: parentOf(request.headers["traceparent"]),
        attributes: { "http.request.method": request.method, "http.route": route, "setpoint.request_id": request.id },
      }),
    );
  });
  app.addHook("onResponse", async (request, reply) => {
    const span = spans.get(request);
    span?.set("http.response.status_code", reply.statusCode);
    if (reply.statusCode >= 500) span?.fail(`answered ${reply.statusCode}`);
    span?.end();
  });
}

/** W3C Trace Context, version 00; anything else begins a trace of its own. */
function parentOf(header: string | string[] | undefined): SpanContext | undefined {
  if (typeof header !== "string") return undefined;
  const [, traceId, spanId] = /^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/.exec(header) ?? [];
  if (traceId === undefined || spanId === undefined || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId };
}
