import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { after, afterEach, before, describe, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { launchChromium } from "../support/chromium.ts";
import {
  consoleOf,
  consoleUrl,
  endPauses,
  operatorCall,
  requireConsole,
  seriousViolations,
  withSignedInPage,
} from "../support/console.ts";
import { outsideRecords, startDemo, untilDemoStands, untilHostsStand } from "../support/demo.ts";
import { productFolder } from "../support/product-folder.ts";
import { type Product, until } from "../support/product.ts";

const organization = "/v1/organizations/demo";
const narrow = (colorScheme: "light" | "dark") => ({ name: `narrow ${colorScheme}`, width: 375, colorScheme });
const wide = { name: "light", width: 1280, colorScheme: "light" } as const;

interface Shown {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly status: {
    readonly differences?: number;
    readonly confirmedAt?: string;
    readonly conditions: readonly { type: string; status: string }[];
  };
}

/** The words of every list of objects on the page: four for each object. */
const axesOn = (page: Page): Promise<string[][]> =>
  page.evaluate(
    "[...document.querySelectorAll('[data-axes]')].map((line) => [...line.children].map(({ textContent }) => textContent))",
  );

describe("the four axes of every object", () => {
  const dataDirectory = productFolder("axes");
  let product: Product;
  let browser: Browser;

  const read = async (path: string) => operatorCall(product, "GET", `${organization}/${path}`);
  const zone = async () => (await read("projects/shop/dnszones/shop")) as Shown;
  const opened = (look: Parameters<typeof withSignedInPage>[0]["look"], work: (page: Page) => Promise<void>) =>
    withSignedInPage({ browser, console: consoleOf(product), look }, work);
  const go = async (page: Page, path: string) => page.goto(`${consoleUrl(product)}/o/demo/${path}`);

  before(async () => {
    await requireConsole();
    product = await startDemo(dataDirectory);
    browser = await launchChromium();
    await product.ready();
    await untilDemoStands(product);
    await untilHostsStand(product);
  });
  afterEach(() => endPauses(product, "demo"));
  after(async () => {
    await browser.close();
    await product.end("SIGTERM");
    rmSync(dataDirectory, { recursive: true, force: true });
  });

  for (const colorScheme of ["light", "dark"] as const)
    test(`every row of the table shows all four on a screen of 375 pixels, ${colorScheme}, to its end and without blank rows`, async () => {
      const { items } = (await read("resources?pageSize=500")) as { items: readonly Shown[] };
      await opened(narrow(colorScheme), async (page) => {
        await go(page, "inventory");
        await page.getByText("in all").waitFor();
        const table = page.getByRole("region", { name: "Resources" });
        const seen = new Set<string>();
        for (let places = 0; seen.size < items.length; places++) {
          assert.ok(places < 100, `${seen.size} of ${items.length} rows were drawn`);
          const rows =
            (await page.evaluate(`[...document.querySelectorAll('tbody tr:not([aria-hidden])')].map((row) => ({
            name: row.querySelector('a')?.getAttribute('href'), height: row.getBoundingClientRect().height,
            axes: [...row.querySelectorAll('[data-axes] > *')].map(({ textContent }) => textContent) }))`)) as {
              name: string;
              height: number;
              axes: string[];
            }[];
          for (const { name, height, axes } of rows) {
            assert.equal(axes.length, 4, name);
            assert.ok(
              axes.every((word) => word !== ""),
              name,
            );
            assert.equal(height, rows[0]?.height, `${name} is as high as the others`);
            seen.add(name);
          }
          const box = await table.boundingBox();
          assert.ok(box !== null);
          // Whatever is in the middle of the table is a row, wherever it was scrolled to.
          const middle = [box.x + box.width / 2, box.y + box.height / 2].join(", ");
          assert.equal(
            await page.evaluate(`document.elementFromPoint(${middle})?.closest('tr')?.getAttribute('aria-hidden')`),
            null,
          );
          await page.evaluate(`document.querySelector('[aria-label="Resources"]').scrollBy(0, 400)`);
          await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
        }
        assert.equal(
          await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"),
          0,
          "the page scrolls downwards alone",
        );
        assert.deepEqual(await seriousViolations(page), []);
      });
    });

  test("what differs says by how much, in the answer and on every page that names it; nothing is deleted by looking", async () => {
    const before = outsideRecords(product, "web-3.shop.example.");
    assert.equal((await zone()).status.differences, 0);
    await operatorCall(product, "POST", "/demo/scenarios/mass-delete");
    await until("fourteen differences", zone, ({ status }) => status.differences === 14, 900);
    const { items } = (await read("resources?kind=DnsRecord&pageSize=500")) as { items: readonly Shown[] };
    const parts = items.filter(({ metadata }) => metadata.name.startsWith("shop-"));
    assert.ok(parts.length > 0);
    for (const { metadata, status } of parts) assert.equal(status.differences, 14, metadata.name);
    const held = (await read("held-changes")) as {
      items: { id: string; blastRadius: { actions: Record<string, number> } }[];
    };
    const change = held.items.find(({ blastRadius }) => blastRadius.actions["delete"] === 14);
    for (const look of [narrow("dark"), wide])
      await opened(look, async (page) => {
        for (const [path, words] of [
          [`held/${change?.id ?? ""}`, "14 differences"],
          ["now", "14 differences"],
          ["drift", "14 differences"],
          ["objects/projects/shop/dnsrecords/shop-apex-a", "14 differences"],
        ] as const) {
          await go(page, path);
          await page.locator("[data-axes]").getByText(words).first().waitFor();
          for (const axes of await axesOn(page)) assert.equal(axes.length, 4, `${path}: ${axes.join(", ")}`);
          assert.deepEqual(await seriousViolations(page), [], path);
        }
        await go(page, "inventory?kind=DnsRecord&name=shop-apex");
        await page.getByText("14 in DnsZone").first().waitFor();
      });
    assert.deepEqual(outsideRecords(product, "web-3.shop.example."), before, "it waits for a person");
  });

  test("a page that is left open reads as young as its loop is, though nothing changes", async () => {
    const path = "projects/shop/workspaces/production/firewalls/web";
    const intervalMs = 60_000;
    const ageMs = ({ status }: Shown) => Date.now() - Date.parse(status.confirmedAt ?? "1970-01-01T00:00:00Z");
    const firewall = async () => (await read(path)) as Shown;
    await opened(wide, async (page) => {
      await go(page, `objects/${path}`);
      const shown = page.locator("dd").filter({ hasText: /^\d+ (s|min) ago$/ });
      await shown.first().waitFor();
      const opened = (await firewall()).status.confirmedAt;
      // Two looks later, by its own clock, the page has moved on without anybody touching it.
      const later = await until(
        "another look",
        firewall,
        ({ status }) => Date.parse(status.confirmedAt ?? "") >= Date.parse(opened ?? "") + intervalMs,
        1_800,
      );
      assert.ok(ageMs(later) < 4 * intervalMs, `${ageMs(later)} ms old`);
      await until(
        "the page to read it",
        async () => /^(\d+) (s|min)/.exec((await shown.first().textContent()) ?? ""),
        (read) => Number(read?.[1]) * (read?.[2] === "min" ? 60_000 : 1_000) < ageMs(later) + 30_000,
        600,
      );
    });
  });
});
