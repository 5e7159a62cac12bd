import assert from "node:assert/strict";
import { createServer, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { createHttpClient } from "../../../src/runtime/http-client.ts";

async function serve(listener: RequestListener) {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${port}/`, [Symbol.asyncDispose]: stop };
}

test("an answer comes back whole, with its status, headers and wish for a pause", async () => {
  await using http = createHttpClient();
  await using server = await serve((request, response) => {
    response.writeHead(429, { "Retry-After": "7", "X-Echo": request.headers["x-api-key"] });
    request.pipe(response);
  });
  const answer = await http.request({
    method: "PATCH",
    url: server.url,
    headers: { "x-api-key": "k" },
    body: "hällo",
    timeoutMs: 5_000,
  });
  assert.ok(answer.answered);
  assert.equal(answer.status, 429);
  assert.equal(answer.headers["x-echo"], "k");
  assert.equal(answer.text, "hällo");
  assert.equal(answer.retryAfterMs, 7_000);
});

test("redirects are not followed: a credential goes only where it was meant to go", async () => {
  await using http = createHttpClient();
  let calls = 0;
  await using server = await serve((_request, response) => {
    calls++;
    response.writeHead(302, { location: "/elsewhere" }).end();
  });
  const answer = await http.request({ method: "GET", url: server.url, timeoutMs: 5_000 });
  assert.ok(answer.answered && answer.status === 302);
  assert.equal(calls, 1);
});

test("a server that never answers is a timeout, and the request may have taken effect", async () => {
  await using http = createHttpClient();
  await using server = await serve(() => {});
  const answer = await http.request({ method: "GET", url: server.url, timeoutMs: 50 });
  assert.deepEqual(answer, { answered: false, reason: "timeout", sent: true, message: "no answer within 50 ms" });
});

test("a body that stalls is a timeout too, never a short body", async () => {
  await using http = createHttpClient();
  await using server = await serve((_request, response) => {
    response.writeHead(200, { "content-length": "100" }).write("half");
  });
  const answer = await http.request({ method: "GET", url: server.url, timeoutMs: 100 });
  assert.ok(!answer.answered && answer.reason === "timeout");
});

test("a body that is cut off is no answer", async () => {
  await using http = createHttpClient();
  await using server = await serve((_request, response) => {
    response.writeHead(200, { "content-length": "100" });
    response.write("half", () => response.destroy());
  });
  const answer = await http.request({ method: "GET", url: server.url, timeoutMs: 5_000 });
  assert.ok(!answer.answered && answer.reason === "connection" && answer.sent);
});

test("a longer body than allowed is refused instead of cut", async () => {
  await using http = createHttpClient();
  await using server = await serve((_request, response) => response.end("x".repeat(1_000)));
  const answer = await http.request({ method: "GET", url: server.url, timeoutMs: 5_000, bodyLimitBytes: 999 });
  assert.ok(!answer.answered && answer.reason === "too-large");
  const whole = await http.request({ method: "GET", url: server.url, timeoutMs: 5_000, bodyLimitBytes: 1_000 });
  assert.ok(whole.answered);
});

test("a refused connection and an unknown host surely did nothing", async () => {
  await using http = createHttpClient();
  const gone = await serve(() => {});
  await gone[Symbol.asyncDispose]();
  for (const url of [gone.url, "http://name.invalid/", "not a url"]) {
    const answer = await http.request({ method: "GET", url, timeoutMs: 5_000 });
    assert.ok(!answer.answered && answer.reason === "connection", url);
    assert.equal(answer.sent, false, url);
  }
});

test("the caller's signal ends the call, and a call that was ended before is not made", async () => {
  await using http = createHttpClient();
  const caller = new AbortController();
  let calls = 0;
  await using server = await serve(() => {
    calls++;
    caller.abort();
  });
  const ended = await http.request({ method: "GET", url: server.url, timeoutMs: 5_000, signal: caller.signal });
  assert.ok(!ended.answered && ended.reason === "aborted" && ended.sent);
  const never = await http.request({ method: "GET", url: server.url, timeoutMs: 5_000, signal: caller.signal });
  assert.ok(!never.answered && never.reason === "aborted" && !never.sent);
  assert.equal(calls, 1);
});

test("a call that waited for a connection while the process was suspended is not sent when it wakes", async () => {
  let nowMs = 0;
  const clock = { nowMs: () => nowMs, monotonicMs: () => 0 };
  await using http = createHttpClient(clock);
  const waiting: ServerResponse[] = [];
  let seen = 0;
  const all = Promise.withResolvers<void>();
  await using server = await serve((_request, response) => {
    waiting.push(response);
    if (++seen === 16) all.resolve();
  });
  const call = () => http.request({ method: "POST", url: server.url, timeoutMs: 5_000 });
  // One more than there are connections.
  const [sent, queued] = [Array.from({ length: 16 }, call), call()];
  await all.promise;
  nowMs += 45_000;
  for (const response of waiting) response.end("ok");
  assert.deepEqual(await queued, {
    answered: false,
    reason: "timeout",
    sent: false,
    message: "not sent within 5000 ms",
  });
  assert.ok((await Promise.all(sent)).every(({ answered }) => answered));
  assert.equal(seen, 16);
});
