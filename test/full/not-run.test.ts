import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { systemClock } from "../../src/runtime/system-clock.ts";
import { freePort } from "../../src/store/embedded/free-port.ts";
import { worldToken } from "../../src/world/account-book.ts";
import { serveWorld } from "../../src/world/http-server.ts";
import { World } from "../../src/world/world.ts";
import { productFolder } from "../support/product-folder.ts";
import { type Product, startProduct, until } from "../support/product.ts";

/** The servers of the project, as somebody at the provider's console sees them. */
function serversOf(world: World): readonly string[] {
  const [cloud] = world.clouds;
  assert.ok(cloud);
  const request = { method: "GET", path: "", query: new URLSearchParams(), headers: {}, body: "" };
  const { body } = world.asConsole(cloud, "demo", request, "/servers");
  return (body as { servers: readonly { name: string }[] }).servers.map(({ name }) => name);
}

/** Orders and removals of servers that reached the provider. */
const writesOf = (world: World) =>
  world.log
    .after(0)
    .filter(({ method, path }) => (method === "POST" && path === "/servers") || method === "DELETE")
    .map(({ method }) => method);

async function reached(product: Product, pipeline: string, states: readonly string[]): Promise<void> {
  interface Listed {
    readonly items: readonly { readonly pipeline: string; readonly state: string }[];
  }
  await until(
    `${pipeline} to be ${states.join(", then ")}`,
    async () => JSON.parse(await product.must("ops", "list", "-o", "json")) as Listed,
    ({ items }) => {
      const found = items.filter((one) => one.pipeline === pipeline).map(({ state }) => state);
      return found.toReversed().join() === states.join();
    },
  );
}

/** Whoever lets Setpoint act says so twice: what loosens a rule waits for a person. */
async function loosen({ setpoint, must }: Product): Promise<void> {
  const { stderr } = await setpoint("mode", "organization", "enforce");
  const [, id = "", digest = ""] = /setpoint approve (\S+) --digest (\S+)/.exec(stderr) ?? assert.fail(stderr);
  await must("approve", id, "--digest", digest);
}

test("what is declared while Setpoint only looks is made once it may act, exactly once, and goes the same way", async () => {
  const world = new World(systemClock, { pace: 0.02 });
  const dataDirectory = productFolder("not-run");
  await using served = await serveWorld(world, systemClock, 0);
  const product = startProduct({ dataDirectory, port: await freePort() });
  try {
    await product.ready();
    const { must } = product;
    const settings = ["--set", `url=${served.url}/v1`, "--calls-per-second", "50"];
    await must("account", "add", "cloud", "--provider", "hetzner-cloud", ...settings);
    const token = join(dataDirectory, "token");
    writeFileSync(token, worldToken("demo"));
    await must("secret", "set-credential", "cloud", "--write-file", token);
    const spec = { account: "cloud", type: "cx23", image: "debian-13", location: "fsn1" };
    const file = join(dataDirectory, "host.yaml");
    writeFileSync(file, JSON.stringify({ apiVersion: "setpoint/v1", kind: "Host", metadata: { name: "web-1" }, spec }));

    await must("mode", "organization", "observe");
    await must("apply", "-f", file);
    await reached(product, "host.create", ["not-run"]);
    assert.deepEqual([serversOf(world), writesOf(world)], [[], []]);

    await loosen(product);
    await reached(product, "host.create", ["not-run", "succeeded"]);
    assert.deepEqual([serversOf(world), writesOf(world)], [["web-1"], ["POST"]]);

    await must("mode", "organization", "observe");
    await must("delete", "host/web-1");
    await reached(product, "host.delete", ["not-run"]);
    assert.deepEqual(serversOf(world), ["web-1"]);

    await loosen(product);
    await reached(product, "host.delete", ["not-run", "succeeded"]);
    assert.deepEqual([serversOf(world), writesOf(world)], [[], ["POST", "DELETE"]]);
    await until(
      "the host to be gone",
      () => product.setpoint("get", "host/web-1"),
      ({ code }) => code !== 0,
    );
  } finally {
    await product.end("SIGTERM");
    rmSync(dataDirectory, { recursive: true, force: true });
  }
});
