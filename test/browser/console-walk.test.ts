import assert from "node:assert/strict";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { freePort } from "../../src/store/embedded/free-port.ts";
import { launchChromium } from "../support/chromium.ts";
import { Complaints, consoleUrl, openContext, operatorCall, requireConsole, signIn } from "../support/console.ts";
import { productFolder } from "../support/product-folder.ts";
import { startProduct, until } from "../support/product.ts";

const set = "/v1/organizations/default/keyvaluesets";
const colours = {
  apiVersion: "setpoint/v1",
  kind: "KeyValueSet",
  metadata: { name: "colours" },
  spec: { items: { coal: "black", grass: "green", sky: "blue", snow: "white" } },
};

test("a person signs in, sees a held change, approves exactly that, and freezes everything", async () => {
  await requireConsole();
  const dataDirectory = productFolder("walk");
  const product = startProduct({ dataDirectory, port: await freePort() });
  const browser = await launchChromium();
  try {
    await product.ready();
    const file = join(dataDirectory, "demo", "colours.json");
    const outside = () => Object.keys(JSON.parse(readFileSync(file, "utf8")) as object);
    await operatorCall(product, "POST", set, colours);
    await until(
      "the set to be made",
      async () => outside(),
      ({ length }) => length === 4,
    );

    const context = await openContext(browser, { name: "light", width: 1280, colorScheme: "light" });
    const page = await context.newPage();
    const complaints = new Complaints(page, consoleUrl(product));
    await signIn(page, product);
    await page.getByText("live", { exact: true }).waitFor();

    // Deleted elsewhere while the page is open: it shows without a reload.
    await product.must("delete", "keyvalueset/colours");
    await page.getByRole("link", { name: /1 waiting for a person/ }).click();
    await page.getByRole("link", { name: /KeyValueSet\/colours/ }).click();
    await page.getByText("4 deletes, this subject's budget is 1 per cycle").first().waitFor();
    const approve = page.getByRole("button", { name: "Approve 4 deletes" });
    assert.equal(await approve.isDisabled(), true, "nobody approves what they have not counted");
    await page.getByLabel("How many are deleted? Type 4").fill("3");
    assert.equal(await approve.isDisabled(), true);
    assert.equal(outside().length, 4, "nothing was deleted before");
    await page.getByLabel("How many are deleted? Type 4").fill("4");
    await approve.click();
    await page.getByText("approved by").first().waitFor();
    await until(
      "the world to be empty",
      async () => outside(),
      ({ length }) => length === 0,
    );

    await page.getByRole("button", { name: "Freeze…" }).click();
    await page.getByLabel("Why").fill("a <b>walk</b> through");
    await page.getByRole("button", { name: "Freeze", exact: true }).click();
    await page.getByText("Frozen", { exact: true }).waitFor();
    assert.equal(await page.locator("b", { hasText: /^walk$/ }).count(), 0, "what people write is text");
    const { items } = (await operatorCall(product, "GET", "/v1/freeze")) as { items: { reason: string }[] };
    assert.deepEqual(
      items.map(({ reason }) => reason),
      ["a <b>walk</b> through"],
    );
    // The freeze is obeyed: what is declared now is not made.
    await operatorCall(product, "POST", set, { ...colours, metadata: { name: "later" } });
    await page.getByRole("button", { name: "Resume…" }).click();
    await page.getByRole("button", { name: "Resume", exact: true }).click();
    await page.getByText("Nothing is paused any more.").waitFor();
    await until(
      "what waited to be made",
      async () => outside(),
      ({ length }) => length === 4,
    );
    complaints.requireNone();
  } finally {
    await browser.close();
    await product.end("SIGTERM");
    rmSync(dataDirectory, { recursive: true, force: true });
  }
});
