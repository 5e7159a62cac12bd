import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Secret } from "../../../src/kernel/secret.ts";
import { createCredentials } from "../../../src/runtime/credentials.ts";
import { createJsonLog } from "../../../src/runtime/json-log.ts";
import { systemClock } from "../../../src/runtime/system-clock.ts";
import { createSystemIds } from "../../../src/runtime/system-ids.ts";
import { systemRandom } from "../../../src/runtime/system-random.ts";

test("ids are UUIDs of version 7, unique, and sort in the order they were made", () => {
  const ids = createSystemIds();
  const made = Array.from({ length: 20_000 }, () => ids.next());
  assert.equal(new Set(made).size, made.length);
  assert.deepEqual([...made].sort(), made);
  for (const id of made.slice(0, 100))
    assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

test("a wait ends at once when its signal has fired, or fires", async () => {
  await systemClock.wait(1e12, AbortSignal.abort());
  const soon = new AbortController();
  const waiting = systemClock.wait(1e12, soon.signal);
  soon.abort();
  await waiting;
  await systemClock.wait(-5);
  assert.ok(systemClock.nowMs() > 0 && systemClock.monotonicMs() >= 0);
  assert.ok(
    Number.isInteger(systemClock.nowMs()) && Number.isInteger(systemClock.monotonicMs()),
    "the store keeps whole milliseconds",
  );
  const drawn = systemRandom.next();
  assert.ok(drawn >= 0 && drawn < 1);
});

test("a log line is JSON with the event's name, and secrets do not reach it", () => {
  const lines: string[] = [];
  const log = createJsonLog({ level: "info", base: { role: "test" }, write: (line) => lines.push(line) });
  log.debug("left.out");
  log.warn("account.opened", {
    account: "lab",
    apiKey: "hunter2",
    headers: { Authorization: "Bearer hunter2", list: [{ password: "hunter2" }] },
    wrapped: new Secret("hunter2").toJSON(),
  });
  assert.equal(lines.length, 1);
  const line = JSON.parse(lines[0] ?? "") as Record<string, unknown>;
  assert.equal(line["event"], "account.opened");
  assert.equal(line["role"], "test");
  assert.equal(line["account"], "lab");
  assert.ok(!lines[0]?.includes("hunter2"));
});

test("a log that cannot be written breaks nothing", () => {
  const log = createJsonLog({
    level: "debug",
    base: {},
    write: () => {
      throw new Error("disk full");
    },
  });
  log.error("still.fine");
  const circular: Record<string, unknown> = {};
  circular["self"] = circular;
  log.error("still.fine", circular as never);
});

test("credentials come from where the reference says, and a missing one says what to do", async () => {
  const folder = mkdtempSync(join(tmpdir(), "setpoint-credentials-"));
  try {
    writeFileSync(join(folder, "key"), "from-file\n");
    writeFileSync(join(folder, "empty"), " \n");
    const credentials = createCredentials({ KEY: "from-env", BLANK: "" });
    assert.deepEqual(await credentials.read("env:KEY", "any"), { found: true, value: "from-env" });
    assert.deepEqual(await credentials.read(`file:${join(folder, "key")}`, "any"), { found: true, value: "from-file" });
    const messages = [
      ["env:NONE", /NONE is not set/],
      ["env:BLANK", /BLANK is not set/],
      [`file:${join(folder, "none")}`, /ENOENT/],
      [`file:${join(folder, "empty")}`, /is empty/],
      ["hunter2", /write env:NAME or file:/],
      ["env:", /write env:NAME or file:/],
      ["vault:x", /write env:NAME or file:/],
    ] as const;
    for (const [reference, expected] of messages) {
      const answer = await credentials.read(reference, "any");
      assert.ok(!answer.found);
      assert.match(answer.message, expected);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});
