import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import fc from "fast-check";
import { startTestApi } from "../support/api.ts";

interface Operation {
  readonly method: "GET" | "PUT" | "POST" | "DELETE";
  readonly path: string;
}

const paths = (
  JSON.parse(readFileSync(new URL("../../docs/openapi.json", import.meta.url), "utf8")) as {
    paths: Record<string, Record<string, unknown>>;
  }
).paths;
const operations: readonly Operation[] = Object.entries(paths).flatMap(([path, methods]) =>
  Object.keys(methods).map((method) => ({ method: method.toUpperCase() as Operation["method"], path })),
);

/** Segments that have broken servers before, beside names that exist. */
const segment = fc.oneof(
  fc.constantFrom(
    "default",
    "example",
    "..",
    "%00",
    "%2e%2e",
    "a".repeat(300),
    "__proto__",
    "constructor",
    "é",
    "🙂",
    "'; drop table x",
    "0",
    "-1",
    "{}",
  ),
  fc.string({ maxLength: 20 }),
);

const body = fc.oneof(
  fc.jsonValue({ maxDepth: 4 }),
  fc.record(
    {
      apiVersion: fc.constantFrom("setpoint/v1", "v0", ""),
      kind: fc.constantFrom("DnsZone", "DnsRecord", "Nothing"),
      metadata: fc.oneof(
        fc.record(
          { name: fc.constantFrom("example", "x", ""), mode: fc.constantFrom("observe", "enforce", "all") },
          { requiredKeys: [] },
        ),
        fc.jsonValue(),
      ),
      spec: fc.oneof(
        fc.record(
          { account: fc.constantFrom("a", ""), zone: fc.constantFrom("example.org", "*", ".") },
          { requiredKeys: [] },
        ),
        fc.jsonValue(),
      ),
      digest: fc.string({ maxLength: 40 }),
      name: fc.oneof(fc.constantFrom("x", "\u0000", "__proto__"), fc.string()),
    },
    { requiredKeys: [] },
  ),
);

/** Goal: whatever is sent, the answer is an answer: below 500, JSON that explains itself, and the server goes on. */
test("no request makes the Control API fail", { timeout: 10 * 60_000 }, async () => {
  await using api = await startTestApi();
  const request = fc.record({
    operation: fc.constantFrom(...operations),
    segments: fc.array(segment, { minLength: 4, maxLength: 4 }),
    query: fc.string({ maxLength: 30 }),
    body,
  });
  await fc.assert(
    fc.asyncProperty(request, async ({ operation, segments, query, body: sent }) => {
      let used = 0;
      const filled = operation.path.replace(/\{[^}]+\}/g, () => encodeURIComponent(segments[used++] ?? "x"));
      const url = `${filled}?${encodeURIComponent(query)}=${encodeURIComponent(query)}`;
      const writes = operation.method === "PUT" || operation.method === "POST";
      const answer = await api.send(operation.method, url, writes ? sent : undefined);
      assert.ok(
        answer.status < 500,
        `${operation.method} ${url} answered ${answer.status}: ${JSON.stringify(answer.body)}`,
      );
      if (answer.status >= 400) {
        assert.match(String(answer.headers["content-type"]), /application\/problem\+json/);
        assert.match(String(answer.body["code"]), /^[A-Z_]+$/);
        assert.doesNotMatch(JSON.stringify(answer.body), /at .*\.ts:\d+/, "no stack trace leaves the server");
      }
    }),
    { numRuns: 4_000, seed: 20_261_115 },
  );
  assert.equal((await api.send("GET", "/v1/organizations")).status, 200);
});
