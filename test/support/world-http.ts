import type { Clock } from "../../src/ports/clock.ts";
import type { Http, HttpAnswer, HttpRequest, HttpSilence } from "../../src/ports/http.ts";
import type { World } from "../../src/world/world.ts";

/** The world behind the HTTP port without a network between, so that its waits and silences pass in the caller's time. */
export function worldHttp(world: World, clock: Clock): Http {
  return { request: (request) => ask(world, clock, request) };
}

async function ask(world: World, clock: Clock, request: HttpRequest): Promise<HttpAnswer | HttpSilence> {
  const url = new URL(request.url);
  const headers = Object.fromEntries(
    Object.entries(request.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const { method, body = "" } = request;
  const reaction = world.handle({ method, path: url.pathname, query: url.searchParams, headers, body });
  if (reaction.waitMs > 0) await clock.wait(Math.min(reaction.waitMs, request.timeoutMs), request.signal);
  if (reaction.send === "nothing" || reaction.waitMs >= request.timeoutMs) {
    await clock.wait(Math.max(0, request.timeoutMs - reaction.waitMs), request.signal);
    return { answered: false, reason: "timeout", sent: true, message: `no answer within ${request.timeoutMs} ms` };
  }
  if (reaction.send === "cut")
    return { answered: false, reason: "connection", sent: true, message: "the connection was cut" };
  const { status, body: answer } = reaction.answer;
  const given = Object.entries(reaction.answer.headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  const flat = Object.fromEntries(given);
  const retryAfter = flat["retry-after"];
  return {
    answered: true,
    status,
    headers: flat,
    text: answer === undefined ? "" : typeof answer === "string" ? answer : JSON.stringify(answer),
    retryAfterMs: retryAfter === undefined ? undefined : Number(retryAfter) * 1_000,
  };
}
