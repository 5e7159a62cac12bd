import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { freePort } from "../../src/store/embedded/free-port.ts";
import { temporaryFolder } from "../support/postgres.ts";
import { startProduct } from "../support/product.ts";

test("a copy of the data directory starts as a new incarnation, the original does not", async () => {
  using folder = temporaryFolder();
  const original = join(folder.path, "original");
  const copy = join(folder.path, "copy");
  const start = async (dataDirectory: string) => {
    const product = startProduct({ dataDirectory, port: await freePort() });
    try {
      await product.ready();
      const status = await product.must("status");
      return { printed: product.printed(), incarnation: Number(/incarnation\s+(\d+)/.exec(status)?.[1]) };
    } finally {
      await product.end("SIGTERM");
    }
  };
  const first = await start(original);
  assert.equal(first.incarnation, 1);
  execFileSync("cp", ["-a", original, copy]);
  const restored = await start(copy);
  assert.equal(restored.incarnation, 2);
  assert.match(restored.printed, /was restored or copied/);
  assert.equal((await start(copy)).incarnation, 2, "once noticed, it is at home there");
  const again = await start(original);
  assert.equal(again.incarnation, 1);
  assert.doesNotMatch(again.printed, /restored/);
});
