import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, describe, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { launchChromium } from "../support/chromium.ts";
import { consoleLooks } from "../support/console-pages.ts";
import { endPauses, openContext, operatorCall, requireConsole, signIn } from "../support/console.ts";
import { breakSomething, outsideRecords, outsideZones, startDemo, untilDemoStands } from "../support/demo.ts";
import { type Product, until } from "../support/product.ts";

const edited = "web-3.shop.example.";
const wanted = "198.51.100.12";
const foreign = "192.0.2.66";
const editing = "Somebody edits a record behind our back";

describe("trouble with the provider, another server, and a freeze from the demo's tray", () => {
  const dataDirectory = mkdtempSync(join(tmpdir(), "setpoint-tray-"));
  let product: Product;
  let browser: Browser;

  before(async () => {
    await requireConsole();
    product = await startDemo(dataDirectory);
    browser = await launchChromium();
    await product.ready();
    await untilDemoStands(product);
  });
  after(async () => {
    await browser.close();
    await product.end("SIGTERM");
    rmSync(dataDirectory, { recursive: true, force: true });
  });
  afterEach(() => endPauses(product, "demo"));

  async function opened(work: (page: Page) => Promise<void>): Promise<void> {
    const context = await openContext(browser, consoleLooks[0]);
    try {
      const page = await context.newPage();
      await signIn(page, product);
      await work(page);
    } finally {
      await context.close();
    }
  }

  const ready = async () => {
    const zone = (await operatorCall(product, "GET", "/v1/organizations/demo/projects/shop/dnszones/shop")) as {
      status: { conditions: { type: string; status: string; reason: string; message: string }[] };
    };
    return zone.status.conditions.find(({ type }) => type === "Ready");
  };
  const heals = () =>
    until(
      "the record to be put right",
      async () => outsideRecords(product, edited),
      ([value]) => value === wanted,
      1_200,
    );

  test("a provider that fails and one that is silent: nothing is concluded from it, and it goes on by itself", async () => {
    const before = JSON.stringify(outsideZones(product));
    await opened(async (page) => {
      await breakSomething(page, "The provider answers with errors");
      await page.getByText("LookFailed").first().waitFor();
      const failing = await ready();
      assert.equal(failing?.status, "Unknown", "never green, and no absence either");
      await breakSomething(page, "The provider stops answering");
      await until("the silence to be noticed", ready, (now) => now?.message !== failing?.message, 1_200);
      assert.equal((await ready())?.status, "Unknown");
      assert.equal(JSON.stringify(outsideZones(product)), before, "nothing was written and nothing deleted");
      await until("it to go on by itself", ready, (now) => now?.status === "True", 1_800);
      await page.getByText("LookFailed").first().waitFor({ state: "detached" });
      assert.equal(JSON.stringify(outsideZones(product)), before);
    });
  });

  test("another server at the same address: nothing is written there until the right one is back", async () => {
    const title = "Another server answers at the same address";
    await opened(async (page) => {
      await breakSomething(page, title);
      await page.getByText("account-identity").first().waitFor();
      assert.deepEqual(outsideRecords(product, edited), [foreign], "it differs, and is left as it is");
      await breakSomething(page, title);
      await heals();
      await until("the zone to be ready", ready, (now) => now?.status === "True", 1_200);
    });
  });

  test("a freeze: loops go on looking and write nothing until somebody resumes", async () => {
    await opened(async (page) => {
      await breakSomething(page, "Freeze everything");
      await page.getByText("Frozen", { exact: true }).waitFor();
      await breakSomething(page, editing);
      await page.getByText(foreign).first().waitFor();
      assert.deepEqual(outsideRecords(product, edited), [foreign], "it was seen and not touched");
      await page.getByRole("button", { name: "Resume…" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Resume", exact: true }).click();
      await page.getByText("Nothing is paused any more.").waitFor();
      await heals();
    });
  });
});
