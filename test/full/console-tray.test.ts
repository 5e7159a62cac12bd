import assert from "node:assert/strict";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after, afterEach, before, describe, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { launchChromium } from "../support/chromium.ts";
import { consoleLooks } from "../support/console-pages.ts";
import { consoleOf, endPauses, operatorCall, requireConsole, withSignedInPage } from "../support/console.ts";
import {
  atHetzner,
  breakSomething,
  type Conditioned,
  endFaults,
  isReady,
  outsideRecords,
  outsideZones,
  ownProject,
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

  const opened = (work: (page: Page) => Promise<void>) =>
    withSignedInPage({ browser, console: consoleOf(product), look: consoleLooks[0] }, work);

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
      await page.getByRole("link", { name: "Now", exact: true }).click();
      await page.getByText("DnsZone: not seen").first().waitFor();
      await page.getByText("PowerDNS answered 503").first().waitFor();
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

  test("a traffic spike: the group grows to its most and no further, and its servers leave the load balancer before they go", async () => {
    await untilHostsStand(product);
    const members = async () =>
      (await atHetzner<Server & { labels: Record<string, string> }>(product, "servers")).filter(
        ({ labels }) => labels["role"] === "api",
      );
    const targets = async () =>
      (
        await atHetzner<{ name: string; targets: { targets?: { server: { id: number } }[] }[] }>(
          product,
          "load_balancers",
        )
      )
        .filter(({ name }) => name === "api")
        .flatMap((balancer) => balancer.targets.flatMap((target) => target.targets ?? []))
        .map(({ server }) => server.id);
    const before = await members();
    assert.equal(before.length, 2);
    // Seen at every step until it is over: what is true in the end alone was perhaps not true in between.
    let most = 0;
    const drained = new Set<string>();
    const watched = async () => {
      const [all, reached] = [await members(), await targets()];
      most = Math.max(most, all.length);
      for (const { id, name, labels } of all)
        if (labels["setpoint-drained"] !== undefined && !reached.includes(id)) drained.add(name);
      return all;
    };
    await opened(async (page) => {
      await breakSomething(page, "A traffic spike hits a scaling group");
      await page.getByRole("heading", { name: "api", level: 1 }).waitFor();
      const grown = await until("two more servers", watched, ({ length }) => length === 4, 3_000);
      await page.getByText("api-4").first().waitFor();
      const isServing = async () => (await targets()).length === 4 && (await watched()).length === 4;
      await until("the load balancer to reach them", isServing, (isIt) => isIt, 1_800);
      const after = await until("the group to be small again", watched, ({ length }) => length === 2, 7_200);
      assert.deepEqual(
        after.map(({ id }) => id),
        before.map(({ id }) => id),
        "the newest went first",
      );
      assert.equal(most, 4, "never more than the group's most");
      const gone = grown.map(({ name }) => name).filter((name) => !after.some((server) => server.name === name));
      assert.deepEqual(
        [...drained].sort(),
        gone.sort(),
        "each was out of the load balancer while its server was there",
      );
    });
  });

  test("a source that arrives empty: everything is held, and withdrawn when the source is whole again", async () => {
    const title = "The source of desired state arrives empty";
    const zone = () => outsideZones(product).find(({ name }) => name === "status.example.")?.rrsets.length;
    const held = async () =>
      (await operatorCall(product, "GET", "/v1/organizations/demo/held-changes?guard=empty-desired")) as {
        items: { blastRadius: { actions: Record<string, number> } }[];
      };
    const before = zone();
    await opened(async (page) => {
      await breakSomething(page, title);
      await page
        .getByText(/deleting all 6 items waits for approval/)
        .first()
        .waitFor();
      assert.equal((await held()).items[0]?.blastRadius.actions["delete"], 6);
      assert.equal(zone(), before, "the zone goes on answering");
      await breakSomething(page, title);
      await until("nothing to wait any more", held, ({ items }) => items.length === 0, 1_200);
      await page
        .getByText(/deleting all 6 items waits for approval/)
        .first()
        .waitFor({ state: "detached" });
      assert.equal(zone(), before);
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

  test("one's own Hetzner project: a token shows what is there and writes nothing; chosen servers are watched, then kept", async () => {
    const { token, url, names, writes, server } = await ownProject(product);
    const [chosen = "", left = ""] = names;
    const before = await server(chosen);
    await opened(async (page) => {
      await page.getByRole("button", { name: "Break something…" }).click();
      await page.getByRole("link", { name: "Look at your own Hetzner project, read-only" }).click();
      await page.getByLabel("API token").fill(token);
      await page.getByText("Where its API listens").click();
      await page.getByLabel("URL").fill(url);
      await page.getByRole("button", { name: "Look at it" }).click();
      await page.getByRole("row", { name: `server ${chosen}` }).waitFor();
      await page.getByText("3 servers").waitFor();
      assert.deepEqual(await writes(), [], "looking wrote nothing");

      await page.getByLabel(`Choose server ${chosen}`).check();
      await page.getByRole("button", { name: "Declare and watch 1" }).click();
      await page.getByText("Declared from it").waitFor();
      await page.getByText(`Host/${chosen}, watched`).waitFor();
      const host = async () =>
        (await operatorCall(product, "GET", `/v1/organizations/demo/hosts/${chosen}`)) as Conditioned & {
          metadata: { mode: string };
        };
      await until("the host to be seen", host, ({ status }) => status.conditions.length > 0, 1_200);
      assert.equal((await host()).metadata.mode, "observe");
      assert.deepEqual(await writes(), [], "and neither did declaring");

      await page.getByRole("button", { name: "Let them act…" }).click();
      await page.getByRole("combobox", { name: "Mode" }).selectOption("enforce");
      await page.getByRole("button", { name: "Set the mode (2)" }).click();
      await page.getByRole("dialog").waitFor({ state: "detached" });
      const kept = await until(
        "the server to be marked as ours",
        () => server(chosen),
        ({ labels }) => labels["setpoint-resource"] !== undefined,
        1_200,
      );
      assert.deepEqual([kept.id, kept.status, kept.labels["owner"]], [before.id, "running", "me"], "just as it was");
      const allowed = new Set(["POST /ssh_keys", `PUT /servers/${kept.id}`]);
      assert.deepEqual(new Set(await writes()), allowed, "the project's mark and the server's, and nothing else");
      assert.deepEqual(Object.keys((await server(left)).labels), ["owner"], "what was not chosen is left alone");
      assert.equal((await page.content()).includes(token), false);
      const { items: accounts } = (await operatorCall(product, "GET", "/v1/organizations/demo/accounts")) as {
        items: { name: string; credential: string }[];
      };
      assert.equal(accounts.find(({ name }) => name === "my-hetzner")?.credential, "sealed");
      assert.equal(readFileSync(join(dataDirectory, "setpoint.log"), "utf8").includes(token), false);
    });
  });
});
