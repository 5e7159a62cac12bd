import assert from "node:assert/strict";
import { request } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { after, before, test } from "node:test";
import { RateLimiter } from "../../src/control-api/limits/rate-limit.ts";
import { defaultRequestLimits } from "../../src/control-api/limits/request-limits.ts";
import type { Log } from "../../src/ports/log.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { startTestApi, type TestApi, token } from "../support/api.ts";

let api: TestApi;
before(async () => {
  api = await startTestApi();
});
after(() => api[Symbol.asyncDispose]());

async function post(payload: string | Buffer) {
  return await api.app.inject({
    method: "POST",
    url: "/v1/organizations",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    payload,
  });
}

test("every answer carries the security headers, whatever it is", async () => {
  const answers = [
    await api.app.inject({ method: "GET", url: "/" }),
    await api.app.inject({ method: "GET", url: "/healthz" }),
    await api.app.inject({ method: "GET", url: "/v1/organizations" }),
    await api.app.inject({ method: "GET", url: "/nothing/here" }),
    await api.app.inject({ method: "GET", url: "/%" }),
    await api.app.inject({ method: "GET", url: "/v1/organizations", headers: { authorization: `Bearer ${token}` } }),
    await post("{"),
  ];
  for (const { headers, statusCode, payload } of answers) {
    const about = `${statusCode} ${payload.slice(0, 60)}`;
    assert.equal(headers["x-content-type-options"], "nosniff", about);
    assert.equal(headers["referrer-policy"], "no-referrer", about);
    assert.match(String(headers["content-security-policy"]), /default-src 'none'.*frame-ancestors 'none'/, about);
    assert.equal(headers["strict-transport-security"], undefined, "only where TLS is used");
  }
});

test("a body that two readers would understand differently is refused, and says why", async () => {
  const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
  const refused: readonly (readonly [string | Buffer, RegExp])[] = [
    ['{"name":"one","name":"two"}', /key "name" twice/],
    ['{"name":"one","n\\u0061me":"two"}', /key "name" twice/],
    ['{"name":{"x":[{"y":1,"y":2}]}}', /key "y" twice/],
    ['{"__proto__":{"name":"x"}}', /__proto__/],
    [deep(65), /deeper than 64/],
    ["[".repeat(100_000), /deeper than 64/],
    [Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]), /not UTF-8/],
    ['{"name":"x"', /not JSON/],
    ['{"name":"x}', /not JSON/],
  ];
  for (const [body, why] of refused) {
    const answer = await post(body);
    assert.equal(answer.statusCode, 400, String(body).slice(0, 60));
    assert.match(answer.json<{ detail: string }>().detail, why);
  }
  assert.equal((await post(deep(64))).statusCode, 422, "as deep as that is read, and is no organization");
  assert.equal((await post('{"name":"same","x":[{"y":1},{"y":2}]}')).statusCode, 422, "one key in two objects is fine");
  assert.equal((await post(`{"name":"${"x".repeat(1024 * 1024)}"}`)).statusCode, 413);
  assert.equal((await post('{"name":"quoted\\\\"}')).statusCode, 422, "a backslash before the quote's end is read");
});

test("a caller may name its request; what is not a name is replaced", async () => {
  const named = async (id: string) =>
    (await api.app.inject({ method: "GET", url: "/healthz", headers: { "x-request-id": id } })).headers["x-request-id"];
  assert.equal(await named("deploy-42.retry_1~a"), "deploy-42.retry_1~a");
  for (const id of ["short", "with space in it", "x".repeat(200), "line\tbreak-and-more"])
    assert.notEqual(await named(id), id);
});

test("a credential that asks too often is told when to come back, and others are not slowed down", async () => {
  const limits = { ...defaultRequestLimits, rate: { perSecond: 0.01, burst: 3 } };
  await using slow = await startTestApi({ limits });
  const first = await slow.send("GET", "/v1/organizations");
  assert.equal(first.headers["ratelimit-policy"], '"credential";q=3;w=300');
  assert.equal(first.headers["ratelimit"], '"credential";r=2;t=100');
  await slow.send("GET", "/v1/organizations");
  assert.equal((await slow.send("GET", "/v1/organizations")).status, 200);
  const refused = await slow.send("GET", "/v1/organizations");
  assert.equal(refused.status, 429);
  assert.equal(refused.body["code"], "RATE_LIMITED");
  assert.equal(refused.headers["retry-after"], "100");
  assert.equal((await slow.send("GET", "/v1/organizations", undefined, { authorization: "Bearer wrong" })).status, 401);
  assert.equal((await slow.app.inject({ method: "GET", url: "/healthz" })).statusCode, 200);
});

test("a bucket fills up again with time, and never beyond its burst", () => {
  const clock = new ManualClock();
  const limiter = new RateLimiter({ perSecond: 2, burst: 4 }, clock);
  const taken = () => Array.from({ length: 6 }, () => limiter.take("a").allowed).filter(Boolean).length;
  assert.equal(taken(), 4);
  clock.advance(1_000);
  assert.equal(taken(), 2);
  clock.advance(3_600_000);
  assert.equal(taken(), 4);
  assert.equal(limiter.take("b").allowed, true);
});

test("many keys do not fill the memory", () => {
  const clock = new ManualClock();
  const limiter = new RateLimiter({ perSecond: 1, burst: 1 }, clock);
  for (let key = 0; key < 30_000; key++) limiter.take(String(key));
  // The latest are still held to their limit.
  assert.equal(limiter.take("29999").allowed, false);
});

test("a request that takes too long is given up with an answer", async () => {
  const limits = { ...defaultRequestLimits, requestMs: 200 };
  const { reads } = api.context;
  const hung = Object.assign(Object.create(reads) as typeof reads, {
    summary: () => new Promise<never>(() => undefined),
  });
  await using slow = await startTestApi({ limits, reads: hung });
  const answer = await slow.send("GET", "/v1/summary");
  assert.equal(answer.status, 503);
  assert.equal(answer.body["code"], "UNAVAILABLE");
  assert.match(String(answer.body["detail"]), /read before you repeat it/);
});

test("ready is not healthy: who is leaving or not up to date gets no requests", async () => {
  await using starting = await startTestApi({ notReady: async () => "Migrating the database." });
  assert.equal((await starting.app.inject({ method: "GET", url: "/healthz" })).statusCode, 200);
  const ready = await starting.app.inject({ method: "GET", url: "/readyz" });
  assert.equal(ready.statusCode, 503);
  assert.equal(ready.json<{ detail: string }>().detail, "Migrating the database.");
});

test("a body that never arrives does not keep its connection for ever", async () => {
  const limits = { ...defaultRequestLimits, requestMs: 300 };
  await using slow = await startTestApi({ limits });
  await slow.app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = slow.app.server.address() as AddressInfo;
  const status = await new Promise<number | string>((resolve) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json", "content-length": "100" };
    const sent = request({ host: "127.0.0.1", port, method: "POST", path: "/v1/organizations", headers }, (answer) => {
      sent.destroy();
      resolve(answer.statusCode ?? 0);
    });
    sent.on("error", (error) => resolve(error.message));
    sent.write('{"name":');
  });
  assert.ok(status === 503 || status === 408 || status === "socket hang up", String(status));
});

test("what cannot be read is not repeated, and what stands in a query is not logged", async () => {
  const lines: string[] = [];
  const note: Log["info"] = (event, fields) => void lines.push(JSON.stringify({ event, ...fields }));
  await using logged = await startTestApi({ log: { debug: note, info: note, warn: note, error: note } });
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const url = "/v1/organizations?token=hunter22";
  for (const payload of ['{"value":hunter22}', '"hunter22', '{"a":1}hunter22', "hunter22"]) {
    const answer = await logged.app.inject({ method: "POST", url, headers, payload });
    assert.equal(answer.statusCode, 400);
    assert.doesNotMatch(answer.body, /hunter/);
    assert.match(answer.body, /The body is not JSON: it /);
  }
  assert.ok(lines.some((line) => line.includes('"url":"/v1/organizations"')));
  assert.doesNotMatch(lines.join("\n"), /hunter/);
});

/** Bytes as they are; the status and the document that came back. */
async function exchanged(port: number, bytes: string): Promise<{ status: number; text: string }> {
  const text = await new Promise<string>((resolve, reject) => {
    let read = "";
    const socket = connect(port, "127.0.0.1", () => socket.write(bytes));
    socket.setEncoding("utf8").on("data", (chunk: string) => (read += chunk));
    socket.once("error", reject).once("close", () => resolve(read));
  });
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]), text };
}

test("what the HTTP parser refuses is answered like every other refusal", async () => {
  await using open = await startTestApi();
  await open.app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = open.app.server.address() as AddressInfo;
  const requests: readonly (readonly [string, number, RegExp])[] = [
    ["\u0016\u0003\u0001", 400, /"code":"BODY_INVALID"/],
    [`GET / HTTP/1.1\r\nHost: x\r\nX: ${"y".repeat(40_000)}\r\n\r\n`, 413, /"code":"TOO_LARGE"/],
    ["GET / HTTP/1.1\r\nConnection: close\r\n\r\n", 400, /names no host/],
  ];
  for (const [bytes, status, says] of requests) {
    const answer = await exchanged(port, bytes);
    assert.equal(answer.status, status, answer.text);
    assert.match(answer.text, /content-type: application\/problem\+json/i);
    assert.match(answer.text, /x-content-type-options: nosniff/i);
    assert.match(answer.text, says);
  }
});

test("however an address is spelled, whoever proves nothing is asked who they are", async () => {
  await using open = await startTestApi();
  await open.app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = open.app.server.address() as AddressInfo;
  for (const target of ["http://elsewhere/v1/openapi.json", "/%761/organizations", "http://x/%76%31/openapi.json"]) {
    const ask = (headers: string) =>
      exchanged(port, `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${headers}\r\n`);
    assert.equal((await ask("")).status, 401, target);
    assert.equal((await ask(`Authorization: Bearer ${token}\r\n`)).status, 200, target);
  }
});
