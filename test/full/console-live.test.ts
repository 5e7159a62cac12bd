import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { launchChromium } from "../support/chromium.ts";
import { type ConsoleApi, startConsoleApi } from "../support/console-api.ts";
import { consoleLooks } from "../support/console-pages.ts";
import { ada, followLink, type ServedConsole, seriousViolations, withSignedInPage } from "../support/console.ts";
import { until } from "../support/product.ts";
import { visualFaults } from "../support/visual-rules.ts";
import { startWire, type Wire } from "../support/wire.ts";
import { addLab, base, declare, takeEngine, zone } from "../support/zones.ts";

/** What the pages are in, by the names that the build gave it. */
function pageFiles(): readonly string[] {
  const assets = new URL("../../console/dist/assets", import.meta.url);
  return readdirSync(assets).filter((name) => /^(page|change|operation)-.*\.js$/.test(name));
}

/** The server goes away and comes back, and so does what it told: no page may stay wrong, or take what is old for now. */
describe("the console while the server is away", () => {
  let started: ConsoleApi;
  let browser: Browser;
  let wire: Wire;

  before(async () => {
    started = await startConsoleApi();
    browser = await launchChromium();
    await addLab(started.api);
    await declare(started.api, zone("shop"));
    wire = await startWire(started.url);
    // Ada says who she is where nothing is cut; from then on a link signs her in.
    await withSignedInPage({ browser, console: started, look: consoleLooks[0] }, async () => {});
  });
  after(async () => {
    await browser.close();
    await wire[Symbol.asyncDispose]();
    await started[Symbol.asyncDispose]();
  });

  /** Signed in by way of the wire. */
  const overWire = (): ServedConsole => ({
    url: wire.url,
    signIn: async (page) => {
      const made = await started.api.send("POST", "/v1/sign-in-links", { email: ada.email });
      await followLink(page, `${wire.url}/sign-in${new URL(String(made.body["url"])).hash}`, true);
    },
  });
  const opened = (look: (typeof consoleLooks)[number], work: (page: Page) => Promise<void>) => {
    wire.set("whole");
    const expected = /ERR_|status of 5\d\d/;
    return withSignedInPage({ browser, console: overWire(), look, expected }, async (page) => {
      await page.getByText("live", { exact: true }).waitFor();
      await work(page);
    });
  };
  const behind = (page: Page) => page.getByText(/^\d+ (s|min) behind$/);
  const go = async (page: Page, key: string) => {
    await page.keyboard.press("g");
    await page.keyboard.press(key);
  };
  const unreadPages = async (page: Page) => {
    const read = await page.evaluate<string[]>("performance.getEntriesByType('resource').map(({ name }) => name)");
    return pageFiles().filter((file) => !read.some((name) => name.endsWith(file)));
  };

  for (const look of consoleLooks)
    test(`pages open while the server is away, say so, and are read when it is back (${look.name})`, async () => {
      await opened(look, async (page) => {
        // Every page's code is there without having been asked for.
        assert.ok(pageFiles().length > 10);
        const unread = () => unreadPages(page);
        await until("the code of every page", unread, ({ length }) => length === 0, 600);
        wire.set("cut");
        await behind(page).waitFor();
        await go(page, "c");
        await page.getByRole("heading", { name: "Access", level: 1 }).waitFor();
        const members = page.locator("section", { has: page.getByRole("heading", { name: "Members" }) });
        await members.getByText("It is asked again as soon as it is back").waitFor();
        await page.getByRole("region", { name: "Guards" }).getByText("not read again").first().waitFor();
        assert.deepEqual(await visualFaults(page), []);
        assert.deepEqual(await seriousViolations(page), []);
        wire.set("whole");
        await members.getByText("Nobody belongs to this organization yet").waitFor();
        await page.getByText("not read again").waitFor({ state: "detached" });
        await page.getByText("live", { exact: true }).waitFor();
      });
    });

  test("a connection that is dead without anybody being told is opened anew, and what changed meanwhile is read", async () => {
    await opened(consoleLooks[0], async (page) => {
      await go(page, "i");
      await page.getByRole("link", { name: "shop", exact: true }).waitFor();
      wire.set("silent");
      await declare(started.api, zone("meanwhile"));
      await behind(page).waitFor();
      // The old connections stay as they are; only new ones are served.
      wire.set("whole");
      // The browser tries its other dead connections first.
      await page.getByText("live", { exact: true }).waitFor({ timeout: 300_000 });
      await page.getByRole("link", { name: "meanwhile", exact: true }).waitFor();
    });
  });

  test("what was to be done while nobody answered is not said to be undone", async () => {
    await opened(consoleLooks[0], async (page) => {
      await page.goto(`${wire.url}/o/default/objects/dnszones/shop`);
      await page.getByRole("button", { name: "Pause…" }).click();
      const dialog = page.getByRole("dialog", { name: "Pause DnsZone/shop" });
      await dialog.getByLabel("Why").fill("the way is about to be cut");
      wire.set("cut");
      await dialog.getByRole("button", { name: "Pause", exact: true }).click();
      await dialog.getByText("it is not known whether this was done").waitFor();
    });
  });

  test("what failed is told where it stands: the guards, the loops, what is around, and what is older than it looks", async () => {
    await opened(consoleLooks[2], async (page) => {
      const failing = new Set<string>();
      await page.route(/\/v1\//, async (route) => {
        const { pathname } = new URL(route.request().url());
        const ends = [...failing].some((end) => pathname.endsWith(end));
        await (ends ? route.fulfill({ status: 500, body: "broken" }) : route.continue());
      });
      const show = () => page.goto(`${wire.url}/o/default/objects/dnszones/shop`);
      failing.add("/pauses").add("/map");
      await show();
      const strip = page.getByRole("region", { name: "Guards" });
      await strip.getByText("pauses not known").waitFor();
      const around = page.locator("section", { has: page.getByRole("heading", { name: "Dependencies" }) });
      await around.getByRole("alert").waitFor();
      assert.deepEqual(await visualFaults(page), []);
      assert.deepEqual(await seriousViolations(page), []);
      failing.clear();
      await around.getByRole("button", { name: "Try again" }).click();
      await around.getByRole("alert").waitFor({ state: "detached" });

      failing.add("/loops");
      await show();
      await page.getByRole("main").getByRole("alert").getByText("/v1/loops").waitFor();
      failing.clear();
      await page.getByRole("button", { name: "Try again" }).click();
      await page.getByRole("heading", { name: "shop", level: 1 }).waitFor();

      failing.add("/dnszones/shop");
      await page.getByRole("button", { name: "Look again" }).click();
      await page.getByText("Reading the resource again failed; this was read").waitFor();
      assert.deepEqual(await visualFaults(page), []);
      assert.deepEqual(await seriousViolations(page), []);
      failing.clear();
      await page.getByRole("button", { name: "Try again" }).click();
      await page.getByText("Reading the resource again failed").waitFor({ state: "detached" });
    });
  });

  test("what is deleted while somebody looks at it does not stay", async () => {
    const engine = await takeEngine(started.api);
    await declare(started.api, zone("short"));
    await withSignedInPage({ browser, console: started, look: consoleLooks[0], expected: /404/ }, async (page) => {
      await page.goto(`${started.url}/o/default/objects/dnszones/short`);
      await page.getByRole("button", { name: "Look again" }).waitFor();
      const path = `${base}/dnszones/short?orphan=true`;
      const asked = await started.api.send("DELETE", path, undefined, { "if-match": "*" });
      assert.ok(asked.status < 300, JSON.stringify(asked.body));
      await page.getByText("being deleted by operator").waitFor();
      await engine.settle("short", { gone: true });
      await page.getByText('There is no DnsZone "short" in this scope').waitFor();
    });
  });
});
