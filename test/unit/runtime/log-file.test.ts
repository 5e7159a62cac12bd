import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openLogFile } from "../../../src/runtime/log-file.ts";

test("a log never takes more than its limit and the few files kept beside it", () => {
  const folder = mkdtempSync(join(tmpdir(), "setpoint-log-"));
  try {
    const path = join(folder, "setpoint.log");
    {
      using log = openLogFile(path, 1_000);
      for (let line = 0; line < 1_000; line++) log.write(`${"x".repeat(49)}\n`);
      log.write("last\n");
    }
    assert.deepEqual(readdirSync(folder).sort(), [
      "setpoint.log",
      "setpoint.log.1",
      "setpoint.log.2",
      "setpoint.log.3",
    ]);
    for (const file of readdirSync(folder)) assert.ok(statSync(join(folder, file)).size <= 1_100, file);
    assert.ok(readFileSync(path, "utf8").endsWith("last\n"));
    assert.equal(statSync(path).mode & 0o077, 0);
    using again = openLogFile(path, 1_000_000);
    again.write("more\n");
    assert.ok(readFileSync(path, "utf8").endsWith("last\nmore\n"), "a new start goes on in the same file");
  } finally {
    rmSync(folder, { recursive: true });
  }
});
