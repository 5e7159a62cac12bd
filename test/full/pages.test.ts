import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { test } from "node:test";
import { freePort } from "../../src/store/embedded/free-port.ts";
import { launchChromium } from "../support/chromium.ts";
import { checkPage, looks } from "../support/page-check.ts";
import { productFolder } from "../support/product-folder.ts";
import { startProduct, until } from "../support/product.ts";

test("every page of the running product, with something held and something paused, in every look", async () => {
  const dataDirectory = productFolder("pages");
  const product = startProduct({ dataDirectory, port: await freePort() });
  const browser = await launchChromium();
  try {
    await product.ready();
    await product.must("apply", "-f", "examples/colours.yaml");
    await until(
      "the set to be made",
      () => product.must("get", "keyvalueset"),
      (text) => text.includes("as declared"),
    );
    await product.must("delete", "keyvalueset/colours");
    await until(
      "the deletes to be held",
      () => product.must("held", "list"),
      (text) => text.includes("delete-budget"),
    );
    await product.must("freeze", "--reason", "looking at <b>pages</b>");
    for (const look of looks) {
      await checkPage(browser, `${product.url}/status`, look, async (page) => {
        const text = await page.locator("body").innerText();
        assert.match(text, /scheduler/);
        assert.match(text, /held/i);
        assert.equal(
          await page.locator("main b, body b").filter({ hasText: "pages" }).count(),
          0,
          "what people write is text, not markup",
        );
      });
    }
  } finally {
    await browser.close();
    await product.end("SIGTERM");
    rmSync(dataDirectory, { recursive: true, force: true });
  }
});
