import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { after, afterEach, before, describe, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { launchChromium } from "../support/chromium.ts";
import { consoleLooks, consolePages, pagesOfThings } from "../support/console-pages.ts";
import {
  consoleOf,
  consoleUrl,
  endPauses,
  openContext,
  operatorCall,
  requireConsole,
  seriousViolations,
  signIn,
  tabTo,
  withSignedInPage,
} from "../support/console.ts";
import {
  breakSomething,
  lastRecord,
  outsideRecords,
  outsideZones,
  startDemo,
  untilDemoStands,
} from "../support/demo.ts";
import { productFolder } from "../support/product-folder.ts";
import { type Product, until } from "../support/product.ts";
import { visualFaults } from "../support/visual-rules.ts";

describe("the console of the demo", () => {
  const dataDirectory = productFolder("console");
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
    product = await startDemo(dataDirectory);
    browser = await launchChromium();
    await product.ready();
    await untilDemoStands(product);
  });
  // Whatever a test stopped goes on before the next begins, whether it succeeded or not.
  afterEach(() => endPauses(product, "demo"));
  after(async () => {
    await browser.close();
    await product.end("SIGTERM");
    rmSync(dataDirectory, { recursive: true, force: true });
  });

  const opened = (look: (typeof consoleLooks)[number], work: (page: Page) => Promise<void>) =>
    withSignedInPage({ browser, console: consoleOf(product), look }, work);

  const thingPages = () =>
    Promise.all(
      pagesOfThings.map(async ({ name, list, path, shows }) => {
        const found = (await operatorCall(product, "GET", `/v1/organizations/demo/${list}`)) as {
          items: { id: string }[];
        };
        return { name, path: path(found.items[0]?.id ?? ""), shows };
      }),
    );

  for (const shown of consoleLooks)
    test(`every page, ${shown.name}: accessible, nothing cut off, no target too small, and quiet`, async () => {
      await opened(shown, async (page) => {
        const problems: string[] = [];
        const look = async (name: string) => {
          for (const fault of await visualFaults(page)) problems.push(`${name}: ${fault}`);
          for (const violation of await seriousViolations(page)) problems.push(`${name}: ${violation}`);
        };
        for (const { name, path, shows } of [...consolePages, ...(await thingPages())]) {
          await page.goto(`${consoleUrl(product)}${path}`);
          await page.getByText(shows).first().waitFor();
          await look(name);
        }
        await page.getByRole("button", { name: "Freeze…" }).click();
        await page.getByLabel("Why").waitFor();
        await look("freeze");
        await page.keyboard.press("Escape");
        await page.getByRole("button", { name: "Break something…" }).click();
        await page.getByText("Fourteen records are deleted at once").waitFor();
        await look("tray");
        await page.keyboard.press("Escape");
        await page.keyboard.press("Control+K");
        await page.getByRole("option", { name: /^Inventory/ }).waitFor();
        await look("palette");
        assert.deepEqual(problems, []);
      });
    });

  test("what cannot be read is said, and never taken for nothing; what is not there is no alarm", async () => {
    const refused = { status: 500, title: "Something broke here", detail: "on purpose", code: "INTERNAL" };
    const broken = /\/v1\/organizations\/demo\/(resources|map|held-changes|limits)/;
    const visit = { browser, console: consoleOf(product), look: consoleLooks[0], expected: /status of (500|404)/ };
    await withSignedInPage(visit, async (page) => {
      const go = async (path: string, shows: string) => {
        await page.goto(`${consoleUrl(product)}${path}`);
        await page.getByText(shows).first().waitFor();
      };
      const says = (words: string) => page.getByText(words).count();
      await page.route(broken, (route) =>
        route.fulfill({ status: 500, contentType: "application/problem+json", body: JSON.stringify(refused) }),
      );
      for (const path of ["inventory", "map", "held", "now"]) {
        await go(`/o/demo/${path}`, "Something broke here");
        for (const words of ["Nothing is declared", "Nothing waits", "Inherited", "Everything is as declared"])
          assert.equal(await says(words), 0, `${path} says "${words}" of what it could not read`);
      }
      await page.unroute(broken);
      const nobody = "00000000-0000-7000-8000-000000000000";
      for (const [path, shows] of [
        ["/o/nobody/now", "There is no organization nobody"],
        ["/o/demo/nonsense", "There is no such page"],
        [`/o/demo/held/${nobody}`, "There is no held change"],
        [`/o/demo/operations/${nobody}`, "There is no operation"],
      ] as const) {
        await go(path, shows);
        assert.equal(await says("Try again"), 0, `${path}: asking again does not bring it about`);
      }
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
      for (const [path, shows] of [
        ["objects/projects/shop/dnsrecords/attack?tab=spec", "Field owners"],
        ["objects/projects/shop/dnsrecords/attack?tab=as", attack],
        ["objects/projects/shop/dnszones/brand", attack],
        ["now", "Needs attention"],
        ["inventory", "in all"],
      ] as const) {
        await page.goto(`${consoleUrl(product)}/o/demo/${path}`);
        await page.getByText(shows).first().waitFor();
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
      await page.getByText("192.0.2.66").first().waitFor();
      await until(
        "the record to be put right",
        async () => outsideRecords(product, "web-3.shop.example."),
        ([value]) => value === "198.51.100.12",
        900,
      );
    });
  });

  test("somebody adds a record of their own: it is reported and left alone", async () => {
    await opened(consoleLooks[0], async (page) => {
      await breakSomething(page, "Somebody adds a record of their own");
      await page.getByText("campaign.shop.example").first().waitFor();
      await page.getByText("not ours").first().waitFor();
      assert.deepEqual(outsideRecords(product, "campaign.shop.example."), ["192.0.2.80"], "it is still there");
    });
  });

  test("fourteen records are deleted: they are held, and approved with the keyboard alone on a narrow screen", async () => {
    // The demo declares one after the other; the last of them was seen when all of them were.
    const seen = await until("all records to be seen", outside, (items) =>
      items.some(({ key }) => key.startsWith(lastRecord)),
    );
    const before = seen.length;
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
      await page.getByRole("link", { name: /delete-budget/ }).press("Enter");
      const happens = await page.getByRole("heading", { name: "What would happen" }).boundingBox();
      const decision = await page.getByRole("heading", { name: "Decision" }).boundingBox();
      assert.ok((happens?.y ?? 0) < (decision?.y ?? 0), "what would happen is shown before it is asked about");
      await tabTo(page, page.getByLabel("How many are deleted? Type 14"));
      await page.keyboard.type("14");
      await tabTo(page, page.getByRole("button", { name: "Approve 14 deletes" }));
      await page.keyboard.press("Enter");
      await page.getByText("approved by").first().waitFor();
      await until("the records to be gone", outside, (items) => items.length === before - 14, 900);
    });
  });

  test("freezing and resuming with the keyboard alone, in two tabs that stay in step", async () => {
    await endPauses(product, "demo");
    const frozen = async () =>
      ((await operatorCall(product, "GET", "/v1/freeze")) as { items: { reason: string }[] }).items;
    const context = await openContext(browser, consoleLooks[0]);
    try {
      const [one, two] = [await context.newPage(), await context.newPage()];
      await signIn(one, product);
      await two.goto(`${consoleUrl(product)}/o/demo/now`);
      for (const tab of [one, two]) await tab.getByText("live", { exact: true }).waitFor();
      await one.keyboard.press("Control+K");
      await one.keyboard.type("freeze");
      await one.getByRole("option", { name: /^Freeze…/ }).waitFor();
      await one.keyboard.press("Enter");
      await tabTo(one, one.getByLabel("Why"));
      await one.keyboard.type("by hand");
      await one.keyboard.press("Enter");
      await one.getByRole("dialog").waitFor({ state: "detached" });
      for (const tab of [one, two]) await tab.getByText("Frozen", { exact: true }).waitFor();
      assert.deepEqual(
        (await frozen()).map(({ reason }) => reason),
        ["by hand"],
      );
      await tabTo(one, one.getByRole("button", { name: "Resume…" }), "Shift+Tab");
      await one.keyboard.press("Enter");
      await tabTo(one, one.getByRole("dialog").getByRole("button", { name: "Resume", exact: true }));
      await one.keyboard.press("Enter");
      await one.getByText("Nothing is paused any more.").waitFor();
      // The button that was pressed is gone; the keyboard goes on with what is left.
      await one.getByRole("dialog").locator("button:focus", { hasText: "Close" }).waitFor();
      await one.keyboard.press("Enter");
      for (const tab of [one, two]) await tab.getByText("Frozen", { exact: true }).waitFor({ state: "detached" });
      assert.deepEqual(await frozen(), []);
    } finally {
      await context.close();
    }
  });

  test("somebody is invited, a token is made, a secret is stored, and a looser rule waits for a person", async () => {
    const list = async (path: string) =>
      (await operatorCall(product, "GET", `/v1/organizations/demo/${path}`)) as { items: Record<string, unknown>[] };
    await opened(consoleLooks[0], async (page) => {
      await page.goto(`${consoleUrl(product)}/o/demo/access`);
      await page.getByRole("button", { name: "Invite…" }).click();
      await page.getByLabel("E-mail").fill("grace@example.test");
      await page.getByRole("button", { name: "Invite", exact: true }).click();
      await page.getByText("hand over this link").waitFor();
      assert.deepEqual(
        (await list("invites")).items.map(({ email, state }) => [email, state]),
        [["grace@example.test", "open"]],
      );
      await page.getByRole("button", { name: "Done" }).click();
      await page.getByRole("button", { name: "Revoke… the invite of grace@example.test" }).click();
      await page.getByRole("button", { name: "Revoke", exact: true }).click();
      await page.getByText("revoked", { exact: true }).waitFor();

      await page.goto(`${consoleUrl(product)}/o/demo/access?part=tokens`);
      await page.getByRole("button", { name: "Make a token…" }).click();
      await page.getByLabel("What it is for").fill("a program of the test");
      await page.getByRole("button", { name: "Make it" }).click();
      const token = await page
        .getByRole("status")
        .filter({ hasText: "Keep the token now." })
        .locator("code")
        .innerText();
      const me = await fetch(`${product.url}/v1/me`, { headers: { authorization: `Bearer ${token}` } });
      assert.equal(((await me.json()) as { type: string }).type, "machine", "the token that was shown works");
      await page.getByRole("button", { name: "Done" }).click();
      await page.getByRole("button", { name: "Revoke… the token a program of the test" }).click();
      await page.getByRole("button", { name: "Revoke", exact: true }).click();
      await page.getByText("revoked", { exact: true }).waitFor();
      assert.equal(
        (await fetch(`${product.url}/v1/me`, { headers: { authorization: `Bearer ${token}` } })).status,
        401,
        "and not after it was revoked",
      );

      await page.goto(`${consoleUrl(product)}/o/demo/settings?part=secrets`);
      await page.getByRole("button", { name: "Store a secret…" }).click();
      await page.getByLabel("Name").fill("greeting");
      await page.getByLabel("Value").fill("hello");
      await page.getByRole("button", { name: "Store it" }).click();
      await page.getByRole("button", { name: "Remove… greeting" }).click();
      assert.deepEqual(
        (await list("secrets")).items.map(({ name }) => name),
        ["greeting"],
      );
      await page.getByRole("button", { name: "Remove", exact: true }).click();
      await page.getByText("No secret is stored").waitFor();
      assert.deepEqual((await list("secrets")).items, []);

      await page.goto(`${consoleUrl(product)}/o/demo/settings`);
      await page.getByLabel("Changes per cycle").fill("9000");
      await page.getByRole("button", { name: "Set it" }).click();
      await page.getByText("waits for a person").last().waitFor();
      await page.getByRole("link", { name: "look at it" }).click();
      await page.getByLabel("Comment").fill("not today");
      await page.getByRole("button", { name: "Reject" }).click();
      await page.getByText("rejected by").first().waitFor();
      const { limits } = (await operatorCall(product, "GET", "/v1/organizations/demo/limits")) as {
        limits: { name: string; value: unknown }[];
      };
      assert.equal(limits.find(({ name }) => name === "changesPerCycle")?.value, 50, "the rule stayed as it was");
    });
  });

  test("an operation that waits for somebody is listed on Now, and goes when it is over", async () => {
    const planned = "/v1/organizations/demo/projects/shop/dnszones";
    const needing = async () =>
      (await operatorCall(product, "GET", "/v1/organizations/demo/operations?attention=true")) as {
        items: { id: string; message: string; resource: { name: string } }[];
      };
    const ours = ({ items }: Awaited<ReturnType<typeof needing>>) =>
      items.filter(({ resource }) => resource.name === "planned");
    await operatorCall(product, "POST", planned, {
      apiVersion: "setpoint/v1",
      kind: "DnsZone",
      metadata: { name: "planned", mode: "propose" },
      spec: { account: "dns", zone: "planned.example.", makesZone: true, nameservers: ["ns1.dns.example."] },
    });
    try {
      await opened(consoleLooks[0], async (page) => {
        await page.goto(`${consoleUrl(product)}/o/demo/now`);
        const needs = page.locator("section", { hasText: "Needs attention" });
        const link = needs.getByRole("link", { name: "dns-zone.create of DnsZone/planned" });
        await link.waitFor();
        await needs.getByText("its plan waits for approval").waitFor();
        const [operation] = ours(await needing());
        assert.ok(operation !== undefined);
        await needs.getByText(operation.message).waitFor();
        await operatorCall(product, "POST", `/v1/organizations/demo/operations/${operation.id}:cancel`, {
          reason: "not today",
        });
        await until("the operation to be over", needing, (found) => ours(found).length === 0, 600);
        await link.waitFor({ state: "detached" });
        assert.equal(outsideZones(product).filter(({ name }) => name.startsWith("planned")).length, 0);
      });
    } finally {
      await operatorCall(product, "DELETE", `${planned}/planned`);
    }
  });

  test("a loop is told to run now, is suspended, and gets another mode; its last cycle shows where its time went", async () => {
    const network = "/v1/organizations/demo/cloudnetworks/backend";
    const read = async () =>
      (await operatorCall(product, "GET", network)) as {
        metadata: { name: string; mode?: string };
        spec: unknown;
        status: { subjects: { confirmedAt?: string; cycles?: { result: string }[] }[] };
      };
    const before = await until("the network to have been made", read, ({ status }) =>
      (status.subjects[0]?.cycles ?? []).some(({ result }) => result === "changed"),
    );
    await opened(consoleLooks[0], async (page) => {
      await page.goto(`${consoleUrl(product)}/o/demo/loops`);
      const card = page.locator("section", { has: page.getByRole("heading", { name: "CloudNetwork" }) });
      await card.getByRole("list", { name: "Where the time of this cycle went" }).waitFor();
      await card.getByRole("button", { name: "Run now…" }).click();
      await page.getByRole("button", { name: "Look again (1)" }).click();
      await page.getByRole("dialog").waitFor({ state: "detached" });
      const confirmed = ({ status }: Awaited<ReturnType<typeof read>>) => status.subjects[0]?.confirmedAt ?? "";
      await until("it to be looked at again", read, (now) => confirmed(now) > confirmed(before), 900);

      await card.getByRole("button", { name: "Suspend…" }).click();
      await page.getByLabel("Why").fill("while we look");
      await page.getByRole("button", { name: "Suspend (1)" }).click();
      await page.getByRole("dialog").waitFor({ state: "detached" });
      const pauses = (await operatorCall(product, "GET", "/v1/organizations/demo/pauses")) as {
        items: { reason: string; level: string }[];
      };
      assert.deepEqual(
        pauses.items.map(({ reason, level }) => [reason, level]),
        [["while we look", "writes"]],
      );

      await card.getByRole("button", { name: "Mode…" }).click();
      await page.getByRole("button", { name: "Set the mode (1)" }).click();
      await page.getByRole("dialog").waitFor({ state: "detached" });
      assert.equal((await read()).metadata.mode, "observe", "the first that is offered");
    });
  });

  test("a step that nobody will ever do is skipped, and the operation ends", async () => {
    const { items } = (await operatorCall(product, "GET", "/v1/organizations/demo/operations")) as {
      items: { id: string; pipeline: string; resource: { name: string } }[];
    };
    const id = items.find(({ pipeline, resource }) => pipeline === "dns-zone.create" && resource.name === "events")?.id;
    await opened(consoleLooks[0], async (page) => {
      await page.goto(`${consoleUrl(product)}/o/demo/operations/${id ?? ""}`);
      await page.getByText("Where the time went").waitFor();
      await page.getByRole("button", { name: "Skip the step…" }).click();
      await page.getByLabel("Why").fill("nobody delegates a demo");
      await page.getByRole("button", { name: "Skip the step", exact: true }).click();
      await until(
        "the operation to be over",
        async () =>
          (await operatorCall(product, "GET", `/v1/organizations/demo/operations/${id ?? ""}`)) as { state: string },
        ({ state }) => state === "succeeded",
        900,
      );
      await page.getByText("succeeded").first().waitFor();
    });
  });
});
