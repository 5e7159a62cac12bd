import assert from "node:assert/strict";
import { test } from "node:test";
import { startTestApi } from "../support/api.ts";
import { launchChromium } from "../support/chromium.ts";
import { checkPage, looks } from "../support/page-check.ts";

test("the status page is readable in a real browser, light, dark and narrow", async () => {
  await using api = await startTestApi();
  const url = await api.app.listen({ host: "127.0.0.1", port: 0 });
  const browser = await launchChromium();
  try {
    const backgrounds = new Map<string, unknown>();
    for (const look of looks) {
      await checkPage(browser, `${url}/`, look, async (page) => {
        assert.match(await page.title(), /Setpoint/);
        assert.match(await page.locator("body").innerText(), /api[\s\S]*running/i);
        backgrounds.set(look.name, await page.evaluate("getComputedStyle(document.body).backgroundColor"));
      });
    }
    assert.notEqual(backgrounds.get("light"), backgrounds.get("dark"), "dark is not light");
  } finally {
    await browser.close();
  }
});
