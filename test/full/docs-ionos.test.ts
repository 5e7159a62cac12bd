import assert from "node:assert/strict";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { systemClock } from "../../src/runtime/system-clock.ts";
import { freePort } from "../../src/store/embedded/free-port.ts";
import { worldToken } from "../../src/world/cloud.ts";
import { serveWorld } from "../../src/world/http-server.ts";
import { World } from "../../src/world/world.ts";
import { productFolder } from "../support/product-folder.ts";
import { startProduct } from "../support/product.ts";
import { blocksOf } from "../docs/blocks.ts";
import { runBlock } from "../docs/run-block.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const declarations = blocksOf(readFileSync(join(root, "docs/providers/ionos.md"), "utf8"))
  .filter(({ language }) => language === "yaml")
  .map(({ text }) => text);

interface Raw {
  readonly id: string;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly entities?: Readonly<Record<string, { readonly items: readonly Raw[] }>>;
}

/** The contract as somebody at the provider's console sees and changes it. */
function contractOf(world: World) {
  const cloud = world.clouds.find(({ name }) => name === "ionos") ?? assert.fail("no IONOS");
  return (method: string, path: string, body?: object): Raw & { readonly items: readonly Raw[] } => {
    const [route = "", query = ""] = path.split("?");
    const text = body === undefined ? "" : JSON.stringify(body);
    const request = { method, path: "", query: new URLSearchParams(query), headers: {}, body: text };
    const answer = world.asConsole(cloud, "demo", request, route);
    assert.ok(answer.status < 300, JSON.stringify(answer.body));
    return answer.body as Raw & { readonly items: readonly Raw[] };
  };
}

test("what the page of IONOS declares becomes so against the simulated contract", async () => {
  const world = new World(systemClock, { pace: 0.01 });
  const ask = contractOf(world);
  const dataDirectory = productFolder("ionos");
  await using server = await serveWorld(world, systemClock, 0);
  const product = startProduct({ dataDirectory, port: await freePort() });
  try {
    const { id: datacenter } = ask("POST", "/datacenters", { properties: { name: "main", location: "de/fra" } });
    writeFileSync(join(dataDirectory, "ionos.token"), worldToken("demo"));
    writeFileSync(join(dataDirectory, "page.yaml"), declarations.join("\n---\n"));
    await product.ready();
    const environment = {
      ...process.env,
      NO_COLOR: "1",
      SETPOINT_DATA: dataDirectory,
      SETPOINT_CONFIG: join(dataDirectory, "config"),
      SETPOINT_URL: product.url,
    };
    const shell = (block: string) => runBlock(block.replaceAll("DATA/", `${dataDirectory}/`), environment);
    assert.equal(declarations.length, 3, "a host, a network and a load balancer");
    const told = await shell(
      `setpoint account add dcd --provider ionos --credential file:DATA/ionos.token --set url=${server.url}/cloudapi/v6
setpoint apply -f DATA/page.yaml
setpoint wait cloudnetwork/backend --timeout 120s
setpoint wait host/web-1 --timeout 300s
setpoint wait loadbalancer/edge --timeout 300s`,
    );
    assert.match(told, /LoadBalancer\/edge created/);
    const [balancer] = ask("GET", `/datacenters/${datacenter}/networkloadbalancers?depth=5`).items;
    const [rule, ...others] = balancer?.entities?.["forwardingrules"]?.items ?? [];
    assert.deepEqual([rule?.properties["listenerPort"], others], [443, []]);
    const [web] = ask("GET", `/datacenters/${datacenter}/servers?depth=5`).items;
    const addresses = (web?.entities?.["nics"]?.items ?? []).flatMap(({ properties }) => properties["ips"] as string[]);
    const targets = rule?.properties["targets"] as readonly { readonly ip: string; readonly port: number }[];
    assert.deepEqual(
      targets.map(({ ip, port }) => [addresses.includes(ip), port]),
      [[true, 8443]],
    );
  } finally {
    await product.end("SIGTERM");
    rmSync(dataDirectory, { recursive: true, force: true });
  }
});
