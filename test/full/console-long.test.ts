import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Browser } from "playwright-core";
import { launchChromium } from "../support/chromium.ts";
import { type ConsoleApi, startConsoleApi } from "../support/console-api.ts";
import { consoleLooks } from "../support/console-pages.ts";
import { seriousViolations, withSignedInPage } from "../support/console.ts";
import { memberOf } from "../support/people.ts";
import { visualFaults } from "../support/visual-rules.ts";
import { addLab, base, declare, zone } from "../support/zones.ts";

const longName = "a-name-that-somebody-really-gave-to-a-thing-that-they-care-for-".slice(0, 62).concat("1");
const longAddress = `${"somebody".repeat(7)}@${"subsidiary".repeat(5)}.example.test`;

/** As many labels as there may be, names as long as they may be: nothing is cut off, and what matters stays on the first screen. */
describe("long names and many labels in the console", () => {
  let started: ConsoleApi;
  let browser: Browser;

  before(async () => {
    started = await startConsoleApi();
    browser = await launchChromium();
    const { api } = started;
    await addLab(api);
    const labels = Object.fromEntries(
      Array.from({ length: 32 }, (_, index) => [`team.example.com/label-${index}`, `${"x".repeat(50)}-${index}`]),
    );
    await declare(api, zone(longName, { metadata: { labels }, spec: { zone: "long.test" } }));
    const rules = [{ key: "project.dns_zone", actions: ["read"] }];
    const role = await api.send("POST", `${base}/roles`, { name: longName, description: "Long.", rules });
    assert.equal(role.status, 201, JSON.stringify(role.body));
    // Ada is the first who says who she is; from then on a link signs her in.
    await withSignedInPage({ browser, console: started, look: consoleLooks[0] }, async () => {});
    await memberOf(api, "default", longAddress, [{ role: longName }]);
    const token = { name: "deploys", type: "service-token", access: [{ rules }] };
    assert.equal((await api.send("POST", `${base}/tokens`, token)).status, 201);
  });
  after(async () => {
    await browser.close();
    await started[Symbol.asyncDispose]();
  });

  for (const look of consoleLooks)
    test(`are whole, and leave room for the rest (${look.name})`, async () => {
      await withSignedInPage({ browser, console: started, look }, async (page) => {
        const requireSound = async () => {
          assert.deepEqual(await visualFaults(page), []);
          assert.deepEqual(await seriousViolations(page), []);
          // What is cut off without dots is in nobody's sight either.
          const cut = await page.evaluate<string[]>(
            "[...document.querySelectorAll('main .overflow-hidden')].filter((one) => one.scrollWidth > one.clientWidth + 1).map(({ textContent }) => textContent)",
          );
          assert.deepEqual(cut, []);
        };
        await page.goto(`${started.url}/o/default/objects/dnszones/${longName}`);
        const look = page.getByRole("button", { name: "Look again" });
        await look.waitFor();
        const top = (await look.boundingBox())?.y ?? Number.POSITIVE_INFINITY;
        assert.ok(top < 700, `what can be done begins at ${top}`);
        await requireSound();
        const labels = page.getByText(/^team\.example\.com\/label-\d+=/);
        assert.equal(await labels.count(), 6);
        await page.getByRole("button", { name: "26 more labels" }).click();
        await page.getByRole("button", { name: "fewer labels" }).waitFor();
        assert.equal(await labels.count(), 32);
        await requireSound();

        await page.goto(`${started.url}/o/default/access`);
        await page.getByText(`${longName} everywhere here`, { exact: true }).waitFor();
        await requireSound();
        await page.goto(`${started.url}/o/default/access?part=tokens`);
        await page.getByText("1 rule in the organization").waitFor();
      });
    });
});
