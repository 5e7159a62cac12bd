import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { cardsAtMost } from "../../src/control-api/schemas/map.ts";
import type { TestApi } from "../support/api.ts";
import { launchChromium } from "../support/chromium.ts";
import { consoleLooks } from "../support/console-pages.ts";
import { type ConsoleApi, startConsoleApi } from "../support/console-api.ts";
import { seriousViolations, tabTo, withSignedInPage } from "../support/console.ts";

const base = "/v1/organizations/default";
const longName = "a".repeat(60);

describe("the map of the console", () => {
  let started: ConsoleApi;
  let api: TestApi;
  let browser: Browser;
  let url: string;

  const declare = async (path: string, kind: string, name: string, spec: object) => {
    const metadata = kind === "DnsRecord" ? { name } : { name, mode: "observe" };
    const answer = await api.send("POST", `${base}${path}`, { apiVersion: "setpoint/v1", kind, metadata, spec });
    assert.ok([201, 202].includes(answer.status), JSON.stringify(answer.body));
  };
  const record = (name: string) => ({ zone: "zone", name, type: "A", values: ["192.0.2.1"] });

  before(async () => {
    started = await startConsoleApi();
    ({ api, url } = started);
    await api.send("POST", `${base}/accounts`, { name: "cloud", provider: "hetzner-cloud", settings: {} });
    const dns = { name: "dns", provider: "powerdns", settings: { url: "http://127.0.0.1:9" } };
    await api.send("POST", `${base}/accounts`, dns);
    await api.send("POST", `${base}/projects`, { name: "web" });
    await declare("/cloudnetworks", "CloudNetwork", "net", { account: "cloud", range: "10.0.0.0/16" });
    const host = { account: "cloud", type: "cx22", image: "debian-12", location: "fsn1" };
    for (const name of ["app-1", "app-2"])
      await declare("/hosts", "Host", name, { ...host, networks: [{ name: "net" }] });
    await declare("/hosts", "Host", longName, host);
    await declare("/projects/web/dnszones", "DnsZone", "zone", { account: "dns", zone: "z.example.org" });
    await declare("/projects/web/dnsrecords", "DnsRecord", "www", record("www"));
    browser = await launchChromium();
  });
  after(async () => {
    await browser.close();
    await started[Symbol.asyncDispose]();
  });

  const opened = (
    look: (typeof consoleLooks)[number],
    work: (page: Page) => Promise<void>,
    expected?: RegExp,
  ): Promise<void> =>
    withSignedInPage(
      { browser, console: started, look, ...(expected === undefined ? {} : { expected }) },
      async (page) => {
        await page.goto(`${url}/o/default/map`);
        await work(page);
      },
    );

  const cards = (page: Page) => page.locator(".react-flow__node-card");
  const details = (page: Page) => page.getByRole("complementary", { name: "Chosen card" });

  test("a card is reached by keyboard, shows what it relates to, and leads to its neighbourhood, which is in the address", async () => {
    await opened(consoleLooks[0], async (page) => {
      await page.getByText("6 cards, 3 relations").waitFor();
      await tabTo(page, page.getByRole("button", { name: "Host app-1" }));
      await page.keyboard.press("Enter");
      await details(page).getByText("Refers to (1)").waitFor();
      await details(page).getByRole("button", { name: "CloudNetwork/net" }).click();
      await details(page).getByText("Referred to by (2)").waitFor();
      await tabTo(page, details(page).getByRole("button", { name: "Focus on this" }));
      await page.keyboard.press("Enter");
      await page.getByText("3 cards, 2 relations").waitFor();
      await page.getByLabel("How far").selectOption("1");
      assert.match(new URL(page.url()).search, /focus=.+&hops=1/);
      await page.reload();
      await page.getByText("3 cards, 2 relations").waitFor();
      await cards(page).nth(2).waitFor();
      assert.equal(await cards(page).count(), 3);
      await page.getByRole("button", { name: "Everything" }).click();
      await page.getByText("6 cards, 3 relations").waitFor();
    });
  });

  test("every filter is in the address, and what is filtered away is said to be", async () => {
    await opened(
      consoleLooks[0],
      async (page) => {
        await page.getByLabel("Kind").selectOption("Host");
        await page.getByText("3 cards, 0 relations").waitFor();
        await page.getByLabel("Overlay").selectOption("plan");
        await page.getByLabel("Shown as").selectOption("list");
        assert.deepEqual(Object.fromEntries(new URL(page.url()).searchParams), {
          kind: "Host",
          overlay: "plan",
          as: "list",
        });
        await page.goto(`${url}/o/default/map?kind=Firewall`);
        await page.getByText("Nothing fits these filters").waitFor();
        await page.getByRole("button", { name: "Clear them" }).click();
        await page.getByText("6 cards, 3 relations").waitFor();
        await page.goto(`${url}/o/default/map?focus=nobody`);
        await page.getByText("There is no resource with the uid").waitFor();
      },
      /status of 404/,
    );
  });

  test("the plan is laid over the cards: what is new, edited and removed", async () => {
    await opened(consoleLooks[0], async (page) => {
      const item = (name: string, actions: object) => {
        const link = `${base}/hosts/${name}`;
        const about = { message: "", blockedBy: [], since: new Date().toISOString(), differences: 1 };
        return { kind: "Host", name, scope: "", link, actions, ...about };
      };
      await page.route(`**${base}/pending`, (route) =>
        route.fulfill({
          json: {
            items: [item("app-1", { create: 1 }), item("app-2", { update: 2, delete: 1 })],
            totals: { resources: 2, wouldRun: 2, actions: { create: 1, update: 2, delete: 1 }, wouldDo: {} },
            truncated: false,
          },
        }),
      );
      await page.getByLabel("Overlay").selectOption("plan");
      await page.getByRole("button", { name: "Host app-1" }).getByText("New").waitFor();
      await page.getByRole("button", { name: "Host app-2" }).getByText("Edited").waitFor();
      await page.getByRole("button", { name: "CloudNetwork net" }).getByText("Nothing to do").waitFor();
    });
  });

  for (const look of consoleLooks)
    test(`it is accessible, no wider than the screen, and quiet: ${look.name}`, async () => {
      await opened(look, async (page) => {
        await page.getByText("6 cards, 3 relations").waitFor();
        if (look.name === "narrow") await page.getByText("The map itself needs a wider screen").waitFor();
        else await cards(page).nth(5).waitFor();
        await page.getByRole("button", { name: /app-1/ }).click();
        await details(page).getByText("Refers to (1)").waitFor();
        const wider = await page.evaluate(
          "document.documentElement.scrollWidth - document.documentElement.clientWidth",
        );
        assert.equal(wider, 0);
        assert.deepEqual(await seriousViolations(page), []);
      });
    });

  test("a list that is too long is one card, which leads to the table", async () => {
    for (let index = 0; index < cardsAtMost; index++)
      await declare("/projects/web/dnsrecords", "DnsRecord", `record-${index}`, record(`record-${index}`));
    await opened(consoleLooks[0], async (page) => {
      await page.getByText(`5 cards, ${cardsAtMost + 1} more in 1 group`).waitFor();
      await page.getByRole("button", { name: `${cardsAtMost + 1} DnsRecords` }).click();
      await details(page).getByRole("link", { name: "Open as a table" }).click();
      await page.waitForURL(/inventory\?kind=DnsRecord&project=web/);
      // A neighbourhood has room for as many cards as can be drawn, and says that there are more.
      await page.goto(`${url}/o/default/map?project=web`);
      await page.getByRole("button", { name: "DnsZone zone" }).click();
      await details(page).getByRole("button", { name: "Focus on this" }).click();
      await page.getByText("more relates to it than is drawn").waitFor();
      await cards(page).nth(50).waitFor();
      const drawn = await cards(page).count();
      assert.ok(drawn > 50 && drawn <= cardsAtMost, String(drawn));
    });
  });
});
