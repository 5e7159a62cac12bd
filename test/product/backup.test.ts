import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { freePort } from "../../src/store/embedded/free-port.ts";
import { temporaryFolder } from "../support/postgres.ts";
import { type Product, setpointIn, startProduct } from "../support/product.ts";

const manifest = fileURLToPath(new URL("../../examples/colours.yaml", import.meta.url));

async function running(dataDirectory: string, work: (product: Product) => Promise<void>): Promise<void> {
  const product = startProduct({ dataDirectory, port: await freePort() });
  try {
    await product.ready();
    await work(product);
    await product.end("SIGTERM");
  } finally {
    await product.end("SIGKILL");
  }
}

test("what was backed up while it ran comes back frozen, observing and whole", async () => {
  using folder = temporaryFolder();
  const [first, second] = [join(folder.path, "first"), join(folder.path, "second")];
  const file = join(folder.path, "evening.backup");

  await running(first, async ({ must, setpoint }) => {
    await must("apply", "-f", manifest);
    assert.match(await must("backup", "create", file), /The root key is not in this file/);
    assert.match(await must("backup", "verify", file), /is whole/);
    const again = await setpoint("backup", "create", file);
    assert.equal(again.code, 1);
    assert.match(again.stderr, /exists already/);
    const refused = await setpoint("backup", "restore", file);
    assert.match(refused.stderr, /Setpoint is running on/);
  });

  mkdirSync(second);
  const restoring = setpointIn({ ...process.env, NO_COLOR: "1", SETPOINT_DATA: second });
  const without = await restoring("backup", "restore", file);
  assert.equal(without.code, 1);
  assert.match(without.stderr, /There is no root key: put the installation's root\.key into/);
  copyFileSync(join(first, "root.key"), join(second, "root.key"));
  const restored = await restoring("backup", "restore", file);
  assert.equal(restored.code, 0, restored.stderr);
  assert.match(restored.stdout, /incarnation 2 now: frozen, and observing only/);

  await running(second, async (product) => {
    const { must, url } = product;
    assert.doesNotMatch(product.printed(), /restored or copied/, "it is counted once");
    assert.match(await must("get", "keyvalueset/colours", "-o", "json"), /"generation": 1/);
    const token = readFileSync(join(second, "operator.token"), "utf8").trim();
    const freeze = await fetch(`${url}/v1/freeze`, { headers: { authorization: `Bearer ${token}` } });
    assert.match(await freeze.text(), /restored from a backup/);
  });
});
