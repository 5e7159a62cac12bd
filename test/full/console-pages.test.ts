import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { freePort } from "../../src/store/embedded/free-port.ts";
import { launchChromium } from "../support/chromium.ts";
import { consoleLooks, consolePages } from "../support/console-pages.ts";
import {
  Complaints,
  consoleUrl,
  openContext,
  operatorCall,
  requireConsole,
  seriousViolations,
  signIn,
} from "../support/console.ts";
import { type Product, startProduct, until } from "../support/product.ts";

/** Two ports side by side: the demo's provider listens behind the API's. */
async function twoPorts(): Promise<number> {
  return (await freePort()) - 1;
}

interface Item {
  readonly metadata: { readonly name: string };
  readonly status: { readonly conditions: readonly { readonly type: string; readonly status: string }[] };
}

describe("the console of the demo", () => {
  const dataDirectory = mkdtempSync(join(tmpdir(), "setpoint-console-"));
  let product: Product;
  let browser: Browser;
  const zone = "/v1/organizations/demo/projects/shop/dnszones/shop";
  const outside = async () =>
    (
      (await operatorCall(product, "GET", `${zone}/observation`)) as {
        subjects: { items: { key: string; item: unknown }[] }[];
      }
    ).subjects[0]?.items ?? [];

  before(async () => {
    await requireConsole();
    const port = await twoPorts();
    product = startProduct({ dataDirectory, port, environment: { SETPOINT_DEMO: "on" } });
    browser = await launchChromium();
    await product.ready();
    await until(
      "the demo to be as declared",
      async () => (await operatorCall(product, "GET", zone)) as Item,
      ({ status }) => status.conditions.some(({ type, status: is }) => type === "Synced" && is === "True"),
      600,
    );
  });
  after(async () => {
    await browser.close();
    await product.end("SIGTERM");
    rmSync(dataDirectory, { recursive: true, force: true });
  });

  async function opened(look: (typeof consoleLooks)[number], work: (page: Page) => Promise<void>): Promise<void> {
    const context = await openContext(browser, look);
    try {
      const page = await context.newPage();
      const complaints = new Complaints(page, consoleUrl(product));
      await signIn(page, product);
      await work(page);
      complaints.requireNone();
    } finally {
      await context.close();
    }
  }

  for (const look of consoleLooks)
    test(`every page, ${look.name}: accessible, no wider than the screen, and quiet`, async () => {
      await opened(look, async (page) => {
        const problems: string[] = [];
        for (const { name, path, shows } of consolePages) {
          await page.goto(`${consoleUrl(product)}${path}`);
          await page.getByText(shows).first().waitFor();
          const wider = await page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth",
          );
          if (wider !== 0) problems.push(`${name} is ${String(wider)} pixels wider than the screen`);
          for (const violation of await seriousViolations(page)) problems.push(`${name}: ${violation}`);
        }
        await page.getByRole("button", { name: "Freeze…" }).click();
        await page.getByLabel("Why").waitFor();
        for (const violation of await seriousViolations(page)) problems.push(`freeze: ${violation}`);
        assert.deepEqual(problems, []);
      });
    });

  test("what people write is shown as text, wherever it is shown", async () => {
    const attack = "<img src=x onerror=document.title='broken'>";
    await operatorCall(product, "POST", "/v1/organizations/demo/pauses", {
      on: "projects/shop/dnszones/brand",
      reason: attack,
    });
    await operatorCall(product, "POST", "/v1/organizations/demo/projects/shop/dnsrecords", {
      apiVersion: "setpoint/v1",
      kind: "DnsRecord",
      metadata: { name: "attack", labels: { note: attack } },
      spec: { zone: "brand", name: "attack", type: "TXT", values: [attack] },
    });
    await opened(consoleLooks[0], async (page) => {
      for (const path of [
        "objects/projects/shop/dnsrecords/attack",
        "objects/projects/shop/dnsrecords/attack?tab=as",
        "objects/projects/shop/dnszones/brand",
        "now",
        "inventory",
      ]) {
        await page.goto(`${consoleUrl(product)}/o/demo/${path}`);
        await page.getByRole("heading", { level: 1 }).waitFor();
        assert.equal(await page.locator("img").count(), 0, path);
        assert.equal(await page.title(), "Setpoint", path);
      }
      await page.getByRole("button", { name: "Resume…" }).click();
      await page.getByText(attack).first().waitFor();
    });
  });

  test("somebody edits a record behind our back: it is put right", async () => {
    await opened(consoleLooks[0], async (page) => {
      await breakSomething(page, "Somebody edits a record behind our back");
      await page.getByText("192.0.2.66").first().waitFor({ timeout: 60_000 });
      await until("the record to be put right", outside, (items) => {
        const record = items.find(({ key }) => key.startsWith("web-3."));
        return record !== undefined && JSON.stringify(record.item).includes("198.51.100.12");
      });
    });
  });

  test("somebody adds a record of their own: it is reported and left alone", async () => {
    await opened(consoleLooks[0], async (page) => {
      await breakSomething(page, "Somebody adds a record of their own");
      await page.getByText("campaign.shop.example").first().waitFor({ timeout: 60_000 });
      await page.getByText("not ours").first().waitFor();
    });
  });

  test("fourteen records are deleted: they are held, and approved with the keyboard alone on a narrow screen", async () => {
    const before = (await outside()).length;
    await opened(consoleLooks[2], async (page) => {
      await breakSomething(page, "Fourteen records are deleted at once");
      await until(
        "the deletes to be held",
        async () =>
          (await operatorCall(product, "GET", "/v1/organizations/demo/held-changes?guard=delete-budget")) as {
            items: { blastRadius: { actions: Record<string, number> } }[];
          },
        ({ items }) => items[0]?.blastRadius.actions["delete"] === 14,
        600,
      );
      assert.equal((await outside()).length, before, "nothing was deleted before somebody decided");
      const link = page.getByRole("link", { name: /delete-budget/ });
      await link.waitFor();
      await link.focus();
      await page.keyboard.press("Enter");
      await page.getByLabel("How many are deleted? Type 14").waitFor();
      await tabTo(page, "How many are deleted? Type 14");
      await page.keyboard.type("14");
      await tabTo(page, "Approve 14 deletes");
      await page.keyboard.press("Enter");
      await page.getByText("approved by").first().waitFor();
      await until("the records to be gone", outside, (items) => items.length === before - 14, 900);
    });
  });

  test("freezing and resuming with the keyboard alone, in two tabs that stay in step", async () => {
    const context = await openContext(browser, consoleLooks[0]);
    try {
      const [one, two] = [await context.newPage(), await context.newPage()];
      await signIn(one, product);
      await two.goto(`${consoleUrl(product)}/o/demo/now`);
      await two.getByText("live", { exact: true }).waitFor();
      await tabTo(one, "Freeze…");
      await one.keyboard.press("Enter");
      await one.getByLabel("Why").waitFor();
      await tabTo(one, "Why");
      await one.keyboard.type("by hand");
      await one.keyboard.press("Enter");
      await one.getByText("Frozen", { exact: true }).waitFor();
      await two.getByText("Frozen", { exact: true }).waitFor();
      await tabTo(one, "Resume…");
      await one.keyboard.press("Enter");
      await one.getByRole("button", { name: "Resume", exact: true }).last().waitFor();
      for (;;) {
        const left = one.getByRole("button", { name: "Resume", exact: true });
        if ((await left.count()) === 0) break;
        await left.first().focus();
        await one.keyboard.press("Enter");
        await one.waitForTimeout(300);
      }
      await one.getByText("Nothing is paused any more.").waitFor();
      await two.getByText("Frozen", { exact: true }).waitFor({ state: "detached" });
    } finally {
      await context.close();
    }
  });

  test("the worker is killed in the middle of its work: the zone is made once", async () => {
    await opened(consoleLooks[0], async (page) => {
      await breakSomething(page, "The worker is killed in the middle of its work");
      const { items } = await until(
        "the operation to go on after the kill",
        async () =>
          (await operatorCall(product, "GET", "/v1/organizations/demo/operations")) as {
            items: { id: string; step?: string; resource: { name: string } }[];
          },
        (found) =>
          found.items.some(({ step, resource }) => step === "delegation" && resource.name.startsWith("launch-")),
        900,
      );
      const ours = items.filter(({ resource }) => resource.name.startsWith("launch-"));
      assert.equal(ours.length, 1);
      const { items: journal } = (await operatorCall(
        product,
        "GET",
        `/v1/organizations/demo/operations/${ours[0]?.id ?? ""}/steps`,
      )) as { items: { step: string; result: string }[] };
      const zones = JSON.parse(readFileSync(join(dataDirectory, "demo", "dns.json"), "utf8")) as {
        zones: { name: string }[];
      };
      assert.equal(zones.zones.filter(({ name }) => name.startsWith("launch-")).length, 1, "the zone was made once");
      assert.ok(journal.length > 0);
      await page.getByRole("link", { name: /dns-zone\.create of DnsZone\/launch/ }).click();
      await page.getByText("Where the time went").waitFor();
      await page.getByRole("button", { name: "Skip the step…" }).click();
      await page.getByLabel("Why").fill("nobody delegates a demo");
      await page.getByRole("button", { name: "Skip the step", exact: true }).click();
      await page.getByText("succeeded").first().waitFor({ timeout: 60_000 });
    });
  });
});

async function breakSomething(page: Page, title: string): Promise<void> {
  await page.getByRole("button", { name: "Break something…" }).click();
  const row = page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: title }) });
  await row.getByRole("button", { name: "Break it" }).click();
  await row.getByRole("link", { name: "see what happens" }).click();
}

/** Presses Tab until what is named has the focus: whoever has no mouse must get there. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let presses = 0; presses < 80; presses++) {
    const focused = await page.evaluate(
      "(() => { const e = document.activeElement; return e === null || e === document.body || e.id === 'main' ? '' : [e.getAttribute('aria-label'), e.labels?.[0]?.textContent, e.textContent].filter(Boolean).join(' ') })()",
    );
    if (String(focused).includes(name)) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`${name} cannot be reached with Tab`);
}
