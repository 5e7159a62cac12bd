import assert from "node:assert/strict";
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { after, describe, test } from "node:test";

const bootstrap = new URL("../../../scripts/bootstrap.mjs", import.meta.url).href;

/** A parent that hands over to Node 24 running this program. */
function handingOver(program: string): ChildProcessByStdio<null, Readable, null> {
  const parent = `import { handOver } from ${JSON.stringify(bootstrap)}; await handOver(["-e", ${JSON.stringify(program)}]);`;
  return spawn(process.execPath, ["--input-type=module", "-e", parent], { stdio: ["ignore", "pipe", "inherit"] });
}

/** The first line the program prints: its process id, once its signal handlers are in place. */
async function firstLine(child: ChildProcessByStdio<null, Readable, null>): Promise<string> {
  const [chunk] = (await once(child.stdout, "data")) as [Buffer];
  return chunk.toString().trim();
}

describe("handing over to Node 24", () => {
  const started: ChildProcessByStdio<null, Readable, null>[] = [];
  after(() => {
    for (const child of started) child.kill("SIGKILL");
  });
  const start = (program: string) => {
    const child = handingOver(program);
    started.push(child);
    return child;
  };

  test("runs the Node that npm installed", async () => {
    const child = start("console.log(process.versions.node)");
    assert.match(await firstLine(child), /^24\./);
  });

  test("keeps what it compiled for the next start", async () => {
    const child = start(`console.log(require("node:module").getCompileCacheDir())`);
    assert.match(await firstLine(child), /node_modules[/\\\\]\.cache[/\\\\]setpoint-modules/);
  });

  test("ends with the same exit code", async () => {
    assert.deepEqual(await once(start("process.exit(7)"), "exit"), [7, null]);
  });

  test("ends by the same signal", async () => {
    assert.deepEqual(await once(start(`process.kill(process.pid, "SIGKILL")`), "exit"), [null, "SIGKILL"]);
  });

  for (const [signal, code] of [
    ["SIGINT", 11],
    ["SIGTERM", 12],
  ] as const) {
    test(`passes ${signal} on and waits for an orderly end`, async () => {
      const program = `process.on("${signal}", () => process.exit(${code})); setInterval(() => {}, 1000); console.log(process.pid)`;
      const child = start(program);
      await firstLine(child);
      child.kill(signal);
      assert.deepEqual(await once(child, "exit"), [code, null]);
    });
  }

  test("a signal that comes from the terminal and is passed on too is one wish; a later one is another", async () => {
    const program = `let seen = 0; process.on("SIGINT", () => { seen += 1; });
      performance.now = () => 5000; process.emit("SIGINT"); process.emit("SIGINT");
      performance.now = () => 7000; process.emit("SIGINT"); process.exit(seen);`;
    assert.deepEqual(await once(start(program), "exit"), [2, null]);
  });

  test("leaves no process behind when it is killed", async () => {
    const program = `process.on("SIGTERM", () => { console.log("stopping"); process.exit(0); }); setInterval(() => {}, 1000); console.log(process.pid)`;
    const child = start(program);
    await firstLine(child);
    child.kill("SIGKILL");
    assert.equal(await firstLine(child), "stopping");
    // The pipe closes when the last process holding it has ended.
    await once(child.stdout, "close");
  });
});
