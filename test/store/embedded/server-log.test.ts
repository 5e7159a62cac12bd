import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { currentUser } from "../../../src/store/embedded/run-user.ts";
import { complaintsIn, ServerLog } from "../../../src/store/embedded/server-log.ts";
import { temporaryFolder } from "../../support/postgres.ts";

test("the log is bounded while another process writes it: one earlier file is kept", () => {
  using folder = temporaryFolder();
  using log = new ServerLog(folder.path, currentUser(), 1000);
  const write = (line: string) =>
    spawnSync("/bin/sh", ["-c", 'echo "$1"', "sh", line], { stdio: ["ignore", log.descriptor, log.descriptor] });

  write("first".padEnd(600, "."));
  log.rotate();
  assert.ok(log.sizeBytes() > 600, "below the limit nothing happens");
  write("second".padEnd(600, "."));
  log.rotate();
  write("third");

  assert.equal(readFileSync(log.file, "utf8"), "third\n", "the next line starts at the beginning");
  assert.match(readFileSync(`${log.file}.1`, "utf8"), /^first\.+\nsecond\.+\n$/);
});

test("what the server said since a moment is found, also when the log was cut in between", () => {
  using folder = temporaryFolder();
  using log = new ServerLog(folder.path, currentUser(), 10);
  spawnSync("/bin/sh", ["-c", "echo a long line before"], { stdio: ["ignore", log.descriptor, "ignore"] });
  const before = log.sizeBytes();
  spawnSync("/bin/sh", ["-c", "echo after"], { stdio: ["ignore", log.descriptor, "ignore"] });
  assert.equal(log.readSince(before), "after\n");
  log.rotate();
  spawnSync("/bin/sh", ["-c", "echo new"], { stdio: ["ignore", log.descriptor, "ignore"] });
  assert.equal(log.readSince(before), "new\n");
});

test("complaints are the server's errors and hints in sentences, or its last words when it made none", () => {
  const said = `2026-01-01 00:00:00.000 UTC [7] LOG:  starting PostgreSQL 18.4
2026-01-01 00:00:00.000 UTC [7] FATAL:  could not create lock file "postmaster.pid": Permission denied
2026-01-01 00:00:00.000 UTC [7] HINT:  Ask   somebody.
2026-01-01 00:00:00.000 UTC [7] LOG:  database system is shut down`;
  assert.equal(
    complaintsIn(said),
    'FATAL: could not create lock file "postmaster.pid": Permission denied. HINT: Ask somebody.',
  );
  assert.equal(complaintsIn("initdb: warning\nsegmentation fault\n"), "initdb: warning. segmentation fault.");
});
