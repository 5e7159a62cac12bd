import assert from "node:assert/strict";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { systemClock } from "../../src/runtime/system-clock.ts";
import { freePort } from "../../src/store/embedded/free-port.ts";
import { serveWorld } from "../../src/world/http-server.ts";
import { World } from "../../src/world/world.ts";
import { productFolder } from "../support/product-folder.ts";
import { startProduct, until } from "../support/product.ts";
import { blocksOf } from "./blocks.ts";
import { runBlock } from "./run-block.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const blocks = blocksOf(readFileSync(join(root, "examples/starter/README.md"), "utf8"));
const blocksAbout = (about: string) => blocks.filter((block) => block.about === about).map(({ text }) => text);

interface RecordSet {
  readonly name: string;
  readonly type: string;
  readonly records: readonly { readonly value: string }[];
}
interface Server {
  readonly name: string;
  readonly public_net: { readonly ipv4: { readonly ip: string }; readonly firewalls: readonly object[] };
}

/** What is in the project, as somebody at the provider's console sees it. */
function projectOf(world: World) {
  const [cloud] = world.clouds;
  assert.ok(cloud);
  return <Entry>(path: string, key: string): readonly Entry[] => {
    const request = { method: "GET", path: "", query: new URLSearchParams(), headers: {}, body: "" };
    const { status, body } = world.asConsole(cloud, "demo", request, path);
    assert.equal(status, 200, JSON.stringify(body));
    return (body as Record<string, readonly Entry[]>)[key] ?? [];
  };
}

test("the starter does against the simulated cloud what its page says", async () => {
  const world = new World(systemClock, { pace: 0.02 });
  const list = projectOf(world);
  const addresses = () =>
    list<RecordSet>("/zones/starter.example.com/rrsets", "rrsets")
      .filter(({ name, type }) => name === "www" && type === "A")
      .flatMap(({ records }) => records.map(({ value }) => value));
  const dataDirectory = productFolder("starter");
  await using server = await serveWorld(world, systemClock, 0);
  const product = startProduct({ dataDirectory, port: await freePort() });
  try {
    await product.ready();
    const environment = {
      ...process.env,
      NO_COLOR: "1",
      SETPOINT_DATA: dataDirectory,
      SETPOINT_CONFIG: join(dataDirectory, "config"),
      SETPOINT_URL: product.url,
      CLOUD: `${server.url}/v1`,
    };
    const shell = (block: string) => runBlock(block.replaceAll(".setpoint/", `${dataDirectory}/`), environment);
    const [simulated = "", ...others] = blocksAbout("simulated");
    assert.deepEqual([others, blocksAbout("real").length], [[], 1]);
    await shell(simulated.replaceAll("http://127.0.0.1:7790", server.url));

    const [connect = "", declare = ""] = blocksAbout("starter");
    assert.match(await shell(connect), /ComputeProvider\/starter declared in mode observe/);
    assert.deepEqual(list("/ssh_keys", "ssh_keys"), [], "nothing is left there in observe");

    const declared = await shell(declare);
    assert.match(declared, /Host\/web-1 created/);
    assert.match(declared, /provider\.onboard +ComputeProvider\/starter +succeeded/);
    const [web, ...more] = list<Server>("/servers", "servers");
    assert.deepEqual([web?.name, more], ["web-1", []]);
    assert.equal(list("/ssh_keys", "ssh_keys").length, 1, "the project is claimed");
    await until(
      "the firewall on the server",
      async () => list<Server>("/servers", "servers")[0],
      (one) => one?.public_net.firewalls.length === 1,
    );
    await until(
      "the name to lead to the server",
      async () => addresses(),
      (found) => found[0] === web?.public_net.ipv4.ip,
    );

    const [drift = ""] = blocksAbout("drift");
    assert.match(await shell(drift), /www\.starter\.example\.com\. A/);
    assert.deepEqual(addresses(), [web?.public_net.ipv4.ip], "the name is back");

    const [end = ""] = blocksAbout("end");
    await shell(end);
    assert.deepEqual([list("/servers", "servers"), list("/firewalls", "firewalls"), addresses()], [[], [], []]);
    assert.equal(list("/zones", "zones").length, 1, "the zone was there before");
  } finally {
    await product.end("SIGTERM");
    rmSync(dataDirectory, { recursive: true, force: true });
  }
});
