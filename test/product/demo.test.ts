import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { test } from "node:test";
import { operatorCall } from "../support/console.ts";
import { firstOfTwoPorts, outsideRecords, startDemo, untilDemoStands } from "../support/demo.ts";
import { temporaryFolder } from "../support/postgres.ts";
import { type Product, startProduct, until } from "../support/product.ts";

const shop = "/v1/organizations/demo/projects/shop/dnszones/shop";

async function organizations(product: Product): Promise<readonly string[]> {
  const { items } = (await operatorCall(product, "GET", "/v1/organizations")) as { items: { name: string }[] };
  return items.map(({ name }) => name).sort();
}

async function tray(product: Product): Promise<readonly string[]> {
  const { items } = (await operatorCall(product, "GET", "/demo/scenarios")) as { items: { id: string }[] };
  return items.map(({ id }) => id);
}

test("npm start brings the demo, --empty leaves it out, and --reset begins anew and keeps what was there", async () => {
  using folder = temporaryFolder();
  const dataDirectory = join(folder.path, "data");
  const start = async (...npmStart: readonly string[]) =>
    startProduct({ dataDirectory, port: await firstOfTwoPorts(), npmStart });
  const empty = await start("--empty");
  try {
    await empty.ready();
    assert.deepEqual(await organizations(empty), ["default"]);
    assert.deepEqual(await tray(empty), []);
    await operatorCall(empty, "POST", "/v1/organizations", { name: "kept" });
  } finally {
    await empty.end("SIGTERM");
  }
  const demo = await start();
  try {
    await demo.ready();
    await until(
      "the demo to be declared beside what was there",
      () => organizations(demo),
      (names) => names.includes("demo"),
    );
    assert.deepEqual(await organizations(demo), ["default", "demo", "kept"]);
    assert.ok((await tray(demo)).includes("mass-delete"));
  } finally {
    await demo.end("SIGTERM");
  }
  const anew = await start("--empty", "--reset");
  try {
    await anew.ready();
    assert.deepEqual(await organizations(anew), ["default"], "nothing of before");
    const aside = readdirSync(dirname(dataDirectory)).filter((name) => name !== basename(dataDirectory));
    assert.equal(aside.length, 1);
    assert.ok(anew.printed().includes(aside[0] ?? "nowhere"), "it says where the old data is");
    assert.ok(existsSync(join(folder.path, aside[0] ?? "", "operator.token")), "and there it is, whole");
  } finally {
    await anew.end("SIGTERM");
  }
});

test("started on another port the demo goes on: its clouds stay where its accounts say they are", async () => {
  using folder = temporaryFolder();
  const dataDirectory = join(folder.path, "data");
  const first = await startDemo(dataDirectory);
  await first.ready();
  await untilDemoStands(first);
  await first.end("SIGTERM");
  const second = await startDemo(dataDirectory);
  try {
    assert.notEqual(second.url, first.url);
    await second.ready();
    await operatorCall(second, "POST", "/demo/scenarios/edited-record");
    assert.deepEqual(outsideRecords(second, "web-3.shop.example."), ["192.0.2.66"]);
    await operatorCall(second, "POST", `${shop}:reconcile`);
    await until(
      "the record to be put right",
      async () => outsideRecords(second, "web-3.shop.example."),
      ([value]) => value === "198.51.100.12",
      1_200,
    );
  } finally {
    await second.end("SIGTERM");
  }
});
