import type { Http } from "../ports/http.ts";
import type { SpanContext, Tracer } from "../ports/tracer.ts";

/**
 * Each call as a span of its own: to whom and how it ended, as a child of what it is made for. Paths name tenants' things, so
 * they are left out.
 */
export function tracedHttp(http: Http, tracer: Tracer, parentOfCall: () => SpanContext | undefined): Http {
  return {
    request: async (request) => {
      const span = tracer.start(request.method, {
        kind: "client",
        parent: parentOfCall(),
        attributes: { "http.request.method": request.method, "server.address": hostOf(request.url) },
      });
      try {
        const answer = await http.request(request);
        if (answer.answered) {
          span.set("http.response.status_code", answer.status);
          if (answer.status >= 400) span.fail(`answered ${answer.status}`);
        } else span.fail(answer.reason);
        return answer;
      } finally {
        span.end();
      }
    },
  };
}

function hostOf(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return "unknown";
  }
}
