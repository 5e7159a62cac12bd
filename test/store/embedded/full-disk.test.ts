import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { temporaryFolder } from "../../support/postgres.ts";

const CHILD = path.join(import.meta.dirname, "../../support/embedded-server-child.ts");
/** Mounts a disk of 20 MB that only this shell and its children see. */
const ON_A_SMALL_DISK =
  'mount -t tmpfs -o size=20m,mode=755 setpoint-test "$1" && "$2" "$3" "$1/data"; ls -A "$1/data"';
const canMount = spawnSync("unshare", ["-m", "mount", "-t", "tmpfs", "setpoint-test", "/mnt"]).status === 0;
const onlyWhereWeMayMount = canMount ? {} : { skip: "needs root and the right to mount" };

test(
  "as root with the right to mount: a full disk during initdb is one message, and nothing half made stays",
  onlyWhereWeMayMount,
  () => {
    using folder = temporaryFolder();
    const disk = path.join(folder.path, "disk");
    mkdirSync(disk, { mode: 0o755 });
    const words = ["-m", "/bin/sh", "-c", ON_A_SMALL_DISK, "sh", disk, process.execPath, CHILD];
    const { stdout } = spawnSync("unshare", words, { encoding: "utf8" });
    const [answer = "", ...left] = stdout.trim().split("\n");
    const { error } = JSON.parse(answer) as { error: string };
    assert.match(
      error,
      /^No space is left on the disk that holds .*\/disk\/data\. Free some space .* then start again\./,
    );
    assert.deepEqual(left.toSorted(), ["claims", "password", "setpoint-data.json", "socket"]);
  },
);
