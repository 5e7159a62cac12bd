import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { after, afterEach, before, describe, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { launchChromium } from "../support/chromium.ts";
import { consoleLooks } from "../support/console-pages.ts";
import { endPauses, openContext, operatorCall, requireConsole, signIn } from "../support/console.ts";
import {
  atHetzner,
  breakSomething,
  type Conditioned,
  endFaults,
  isReady,
  outsideRecords,
  outsideZones,
  startDemo,
  untilDemoStands,
  untilHostsStand,
  workspace,
} from "../support/demo.ts";
import { productFolder } from "../support/product-folder.ts";
import { type Product, until } from "../support/product.ts";

const edited = "web-3.shop.example.";
const wanted = "198.51.100.12";
const foreign = "192.0.2.66";
const editing = "Somebody edits a record behind our back";

describe("trouble with the providers, another server, a killed worker and a freeze from the demo's tray", () => {
  const dataDirectory = productFolder("tray");
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
      await breakSomething(page, "The DNS server answers with errors");
      await page.getByText("LookFailed").first().waitFor();
      const failing = await ready();
      assert.equal(failing?.status, "Unknown", "never green, and no absence either");
      await breakSomething(page, "The DNS server stops answering");
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

  interface Server {
    readonly id: number;
    readonly name: string;
    readonly status: string;
  }
  const servers = async () =>
    (await atHetzner<Server>(product, "servers")).map(({ id, name, status }) => ({ id, name, status }));
  const look = async (path: string) => (await operatorCall(product, "GET", `${workspace}/${path}`)) as Conditioned;

  test("a deleted firewall rule is put back", async () => {
    await untilHostsStand(product);
    const rules = async () =>
      (await atHetzner<{ name: string; rules: { port: string | null }[] }>(product, "firewalls"))
        .filter(({ name }) => name === "web")
        .flatMap(({ rules: all }) => all.map(({ port }) => port));
    assert.deepEqual(new Set(await rules()), new Set(["80", "443", "9100"]));
    await opened(async (page) => {
      await breakSomething(page, "Somebody deletes a firewall rule behind our back");
      await page.getByRole("heading", { name: "web", level: 1 }).waitFor();
      await until("the rule to be back", rules, ({ length }) => length === 3, 1_200);
      assert.deepEqual(new Set(await rules()), new Set(["80", "443", "9100"]));
      await page.getByText("Ready", { exact: true }).first().waitFor();
    });
  });

  test("a server that was renamed and switched off gets its name back and is on, and is still the same one", async () => {
    await untilHostsStand(product);
    const before = (await servers()).find(({ name }) => name === "web-2");
    await opened(async (page) => {
      await breakSomething(page, "Somebody renames a server and switches it off");
      await page.getByRole("heading", { name: "web-2", level: 1 }).waitFor();
      const after = await until(
        "the server to be as declared",
        servers,
        (all) => all.some(({ name, status }) => name === "web-2" && status === "running"),
        1_200,
      );
      assert.equal(after.find(({ name }) => name === "web-2")?.id, before?.id);
      assert.equal(
        after.some(({ name }) => name === "do-not-touch"),
        false,
      );
    });
  });

  test("half a list and a cloud that is silent: hosts are unknown, never gone, and nothing is made or deleted", async () => {
    await untilHostsStand(product);
    const before = await servers();
    await opened(async (page) => {
      try {
        await breakSomething(page, "The cloud answers half a list");
        await page.getByText("complete-reads").first().waitFor();
        const half = await look("hosts/db-1");
        assert.equal(isReady(half), false, "half a list says nothing good about what is not in it");
        assert.match(JSON.stringify(half.status.conditions), /suspicion/);
        assert.deepEqual(await servers(), before, "and nothing bad either");
        await breakSomething(page, "The cloud times out");
        await page.getByText("LookFailed").first().waitFor();
        assert.deepEqual(await servers(), before);
      } finally {
        await endFaults(product);
      }
      for (const name of ["web-1", "db-1"]) {
        await operatorCall(product, "POST", `${workspace}/hosts/${name}:reconcile`);
        await until(`${name} to be seen again`, () => look(`hosts/${name}`), isReady, 1_200);
      }
      assert.deepEqual(await servers(), before);
    });
  });

  test("a worker that is killed when the server was made and nobody has heard of it: there is one server", async () => {
    await untilHostsStand(product);
    const before = await servers();
    await opened(async (page) => {
      await breakSomething(page, "The worker is killed in the middle of making a host");
      const operation = page.getByRole("link", { name: /host\.create of Host\/spare-/ });
      await operation.click();
      await page.getByText("Where the time went").waitFor();
      const made = (await servers()).filter(({ id }) => !before.some((server) => server.id === id));
      assert.equal(made.length, 1, "it is there, and its answer was lost");
      await until("the host to be ready", () => look(`hosts/${made[0]?.name ?? ""}`), isReady, 1_800);
      await page.getByText("succeeded").first().waitFor();
      const after = (await servers()).filter(({ id }) => !before.some((server) => server.id === id));
      assert.deepEqual(
        after.map(({ id }) => id),
        made.map(({ id }) => id),
        "the next worker went on with that one and made no other",
      );
    });
  });
});
