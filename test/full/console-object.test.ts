import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { after, afterEach, before, describe, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { stringify } from "yaml";
import { launchChromium } from "../support/chromium.ts";
import { consoleLooks } from "../support/console-pages.ts";
import {
  consoleOf,
  consoleUrl,
  endPauses,
  operatorCall,
  requireConsole,
  seriousViolations,
  withSignedInPage,
} from "../support/console.ts";
import { atHetzner, startDemo, untilDemoStands, untilHostsStand, workspace } from "../support/demo.ts";
import { productFolder } from "../support/product-folder.ts";
import { type Product, until } from "../support/product.ts";

interface Rule {
  readonly port?: string;
  readonly description?: string;
}

interface Resource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly mode?: string };
  readonly spec: { readonly rules: readonly Rule[]; readonly values: readonly string[] };
}

function portsOf(rules: readonly Rule[]): readonly string[] {
  return rules.map(({ port = "" }) => port).sort((left, right) => left.localeCompare(right));
}

describe("objects, drift and held changes in the console", () => {
  const dataDirectory = productFolder("object");
  let product: Product;
  let browser: Browser;

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

  const opened = (look: (typeof consoleLooks)[number], work: (page: Page) => Promise<void>) =>
    withSignedInPage({ browser, console: consoleOf(product), look }, work);

  const show = (page: Page, path: string) => page.goto(`${consoleUrl(product)}/o/demo/${path}`);
  const read = async (path: string) => (await operatorCall(product, "GET", path)) as Resource;
  const firewall = `${workspace}/firewalls/web`;
  const outside = async () => {
    const found = (await atHetzner<{ name: string; rules: readonly Rule[] }>(product, "firewalls")).find(
      ({ name }) => name === "web",
    );
    return portsOf(found?.rules ?? []);
  };

  /** No wider than the screen, and accessible, as every page must be. */
  async function requireSound(page: Page, what: string): Promise<void> {
    const wider = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
    assert.equal(wider, 0, `${what} is wider than the screen`);
    // The page scrolls inside its frame: below the frame there would be nothing but an empty ground.
    const taller = await page.evaluate("document.documentElement.scrollHeight - document.documentElement.clientHeight");
    assert.equal(taller, 0, `${what} is taller than the screen`);
    assert.deepEqual(await seriousViolations(page), [], what);
  }

  /** Somebody deletes a rule of the firewall while nothing is written, and it is looked at. */
  async function removeRule(): Promise<void> {
    const pauses = "/v1/organizations/demo/pauses";
    const on = "projects/shop/workspaces/production/firewalls/web";
    await operatorCall(product, "POST", pauses, { on, level: "writes", reason: "to see the difference" });
    await operatorCall(product, "POST", "/demo/scenarios/deleted-rule");
    await operatorCall(product, "POST", `${firewall}:reconcile`);
    await until(
      "the difference to be seen",
      async () =>
        (await operatorCall(product, "GET", `${firewall}/comparison`)) as {
          subjects: { items: { state: string }[] }[];
        },
      ({ subjects }) => subjects[0]?.items[0]?.state === "differs",
      900,
    );
  }

  const differences = "objects/projects/shop/workspaces/production/firewalls/web?tab=differences";

  test("what is said of an object can be typed, has names and times for numbers, and says when nothing is there", async () => {
    const declared = await outside();
    await removeRule();
    const place = "objects/projects/shop/workspaces/production";
    await opened(consoleLooks[0], async (page) => {
      await show(page, `${place}/firewalls/web`);
      const why = page.locator("section", { has: page.getByRole("heading", { name: "Why", exact: true }) });
      await why.getByText("to see the difference").waitFor();
      const scope = "--organization demo --project shop --workspace production";
      await why.getByText(new RegExp(`^setpoint resume \\S+ ${scope}$`)).waitFor();
      const plan = page.locator("section", { has: page.getByRole("heading", { name: "Differences", exact: true }) });
      await plan.getByText(/expires at .*20\d\d/).waitFor();
      assert.doesNotMatch(await page.locator("main").innerText(), /\b\d{13}\b/, "no moment is told in milliseconds");

      await show(page, "drift");
      const cause = page.locator("section", { has: page.getByRole("heading", { name: "Firewall: /rules differs" }) });
      await cause.getByText("waits for the end of a pause").waitFor();
      assert.equal(await cause.getByRole("link", { name: "what waits for a person" }).count(), 0, "nobody decides it");

      await show(page, "objects/cloudnetworks/backend");
      await page.getByText(/^\d+ hosts in it$/).waitFor();
      await show(page, "objects/projects/shop/dnszones/shop");
      const timeline = page.locator("section", { has: page.getByRole("heading", { name: "Timeline" }) });
      await timeline
        .getByText(/create \d+ items/)
        .first()
        .waitFor();
      await requireSound(page, "a zone with a long timeline");
    });
    const missing = { browser, console: consoleOf(product), look: consoleLooks[0], expected: /404/ };
    await withSignedInPage(missing, async (page) => {
      await show(page, `${place}/hosts/there-is-none`);
      await page.getByRole("heading", { name: "there-is-none", level: 1 }).waitFor();
      await page.getByText('There is no Host "there-is-none" in this scope').waitFor();
      await page.getByRole("link", { name: "what was done to it" }).click();
      await page.waitForURL(/audit\?resource=there-is-none/);
    });
    await opened(consoleLooks[2], async (page) => {
      for (const [path, part] of [
        [`${place}/hosts/web-1?tab=as`, "YAML, CLI, API"],
        ["settings?part=backup", "Backup"],
      ] as const) {
        await show(page, path);
        const current = page.getByRole("main").getByRole("link", { name: part, exact: true });
        await current.waitFor();
        const box = await current.boundingBox();
        assert.ok(box !== null && box.x >= 0 && box.x + box.width <= 375, `${part} is in sight on a narrow screen`);
      }
      await show(page, `${place}/hosts/web-1?tab=outside`);
      await page.getByText("declared by Host/web-1").first().waitFor();
      await requireSound(page, "what is outside, narrow");
    });
    await endPauses(product, "demo");
    await operatorCall(product, "POST", `${firewall}:reconcile`);
    await until("the rule to be put back", outside, ({ length }) => length === declared.length, 900);
  });

  test("what differs stands side by side, is ignored until a day, is acted upon again, and is put back", async () => {
    const declared = await outside();
    assert.equal(declared.length, 3);
    await removeRule();
    await opened(consoleLooks[1], async (page) => {
      await show(page, differences);
      const fields = page.getByRole("region", { name: "Fields of firewall" });
      await fields.getByText("/rules").waitFor();
      assert.deepEqual(await fields.locator("dt").allInnerTexts(), ["Declared", "Last written", "Seen outside"]);
      const sides = await fields.locator("dd").allInnerTexts();
      assert.deepEqual(
        sides.map((side) => side.includes("tcp 443")),
        [true, true, false],
        "the rule that is gone is declared, was written, and is not seen",
      );
      await page.getByText("the whole item, side by side").click();
      await page.getByRole("textbox", { name: "firewall seen outside" }).waitFor();
      await page.getByRole("textbox", { name: "firewall declared" }).waitFor();
      await requireSound(page, "the differences, dark");

      await page.getByRole("button", { name: "Ignore…" }).click();
      await page.getByLabel("Why").fill("the office moves <b>house</b>");
      await requireSound(page, "ignoring, dark");
      await page.getByRole("button", { name: "Ignore it" }).click();
      await page.getByText("differs, and is ignored").waitFor();
      await page.getByText("the office moves <b>house</b>").first().waitFor();
      const policy = (await operatorCall(product, "GET", `${workspace}/policy`)) as {
        ignore: { name: string; item: string; field: string; until: string }[];
      };
      assert.deepEqual(
        policy.ignore.map(({ name, item, field }) => [name, item, field]),
        [["web", "firewall", "/rules"]],
      );
      const days = (Date.parse(policy.ignore[0]?.until ?? "") - Date.now()) / 86_400_000;
      assert.ok(days > 5 && days < 8, `a week from now, not ${days} days`);

      await show(page, "drift");
      await page.getByRole("button", { name: "Act upon it again…" }).click();
      const asked = page.getByRole("dialog", { name: "Act upon /rules of Firewall again" });
      await asked.getByText("Firewall/web").waitFor();
      await requireSound(page, "acting upon it again, dark");
      await asked.getByRole("button", { name: "Cancel" }).click();
      assert.equal(
        ((await operatorCall(product, "GET", `${workspace}/policy`)) as { ignore: unknown[] }).ignore.length,
        1,
      );
      await page.getByRole("button", { name: "Act upon it again…" }).click();
      await asked.getByRole("button", { name: "Act upon it", exact: true }).click();
      await page.getByText("No rule ignores anything").waitFor();
      const cause = page.locator("section", { has: page.getByRole("heading", { name: "Firewall: /rules differs" }) });
      await cause.getByRole("button", { name: "Revert…" }).click();
      await page.getByRole("dialog").getByText("pause", { exact: true }).first().waitFor();
      await requireSound(page, "reverting, dark");
      await endPauses(product, "demo");
      await page.getByRole("button", { name: "Put it back now" }).click();
      await page.getByRole("dialog").waitFor({ state: "detached" });
    });
    await until("the rule to be there again", outside, (ports) => ports.length === declared.length, 900);
    assert.deepEqual(await outside(), declared);
  });

  test("what somebody did outside is adopted: the declaration changes and the outside does not", async () => {
    await removeRule();
    const found = await outside();
    await opened(consoleLooks[2], async (page) => {
      await show(page, differences);
      await page.getByRole("button", { name: "Adopt…" }).click();
      await page.getByRole("textbox", { name: /spec as seen/ }).waitFor();
      await requireSound(page, "adopting, narrow");
      await page.getByRole("button", { name: "Declare it as seen" }).click();
      await page.getByRole("dialog").waitFor({ state: "detached" });
      await page.getByText("Nothing differs").waitFor();
    });
    assert.deepEqual(portsOf((await read(firewall)).spec.rules), found);
    await endPauses(product, "demo");
    await operatorCall(product, "POST", `${firewall}:reconcile`);
    assert.deepEqual(await outside(), found, "nothing is put back");
  });

  test("a manifest is edited as text: what cannot be read is named, the plan is shown, and then it is declared", async () => {
    const record = "/v1/organizations/demo/projects/shop/dnsrecords/text-test";
    const manifest = {
      apiVersion: "setpoint/v1",
      kind: "DnsRecord",
      metadata: { name: "text-test" },
      spec: { zone: "shop", name: "text-test", type: "A", values: ["198.51.100.70"] },
    };
    await operatorCall(product, "POST", "/v1/organizations/demo/projects/shop/dnsrecords", manifest);
    const changed = { ...manifest, spec: { ...manifest.spec, values: ["198.51.100.71"] } };
    for (const look of [consoleLooks[0], consoleLooks[2]])
      await opened(look, async (page) => {
        await show(page, "objects/projects/shop/dnsrecords/text-test?tab=spec");
        await page.getByRole("button", { name: "As YAML" }).click();
        const editor = page.getByRole("textbox", { name: "Manifest" });
        await editor.click();
        const write = async (text: string) => {
          await page.keyboard.press("Control+A");
          await page.keyboard.insertText(text);
        };
        await write("spec: [");
        await page
          .getByRole("status")
          .filter({ hasText: /line 1/ })
          .waitFor();
        assert.equal(await page.getByRole("button", { name: "Show the plan" }).isDisabled(), true);
        await write(stringify(changed));
        await page.getByRole("button", { name: "Show the plan" }).click();
        await page.getByRole("heading", { name: "The plan" }).waitFor();
        await page.getByRole("textbox", { name: /as it would be/ }).waitFor();
        await requireSound(page, `the editor, ${look.name}`);
        assert.notDeepEqual((await read(record)).spec.values, changed.spec.values, "nothing before its plan was seen");
        if (look === consoleLooks[0]) {
          const others = { ...changed, spec: { ...changed.spec, values: ["198.51.100.72"] } };
          await operatorCall(product, "PUT", record, others);
          await page.getByText("It was declared anew by operator").waitFor();
          assert.match((await editor.innerText()).replaceAll("\u00A0", " "), /198\.51\.100\.71/, "the edits are kept");
          assert.equal(await page.getByRole("button", { name: "Show the plan" }).isDisabled(), true);
          await page.getByRole("button", { name: "Begin from what is declared now" }).click();
          await page.getByText("It was declared anew").waitFor({ state: "detached" });
          await editor.getByText("198.51.100.72").waitFor();
          return;
        }
        await page.getByRole("button", { name: "Declare it" }).click();
        await page.getByText("Declared. Its loop has been woken.").waitFor();
        await until(
          "it to be declared",
          () => read(record),
          ({ spec }) => spec.values[0] === "198.51.100.71",
        );
      });
  });

  test("kinds have panels of their own: hosts, firewalls, load balancers, groups and zones", async () => {
    const group = {
      apiVersion: "setpoint/v1",
      kind: "ScalingGroup",
      metadata: { name: "pool" },
      spec: {
        account: "hetzner",
        min: 1,
        max: 4,
        desired: 2,
        template: { type: "cx23", image: "debian-13", location: "fsn1" },
      },
    };
    await operatorCall(product, "POST", `${workspace}/scalinggroups`, group);
    await opened(consoleLooks[0], async (page) => {
      await show(page, "objects/projects/shop/workspaces/production/hosts/web-1");
      await page.getByRole("heading", { name: "Effective policy" }).waitFor();
      await page.getByText("tcp 80").first().waitFor();
      await page.getByText("tcp 22").first().waitFor();
      await page.getByRole("link", { name: "edge", exact: true }).waitFor();
      const around = page.locator("section", { has: page.getByRole("heading", { name: "Dependencies" }) });
      await around.getByRole("link", { name: "CloudNetwork/backend" }).waitFor();
      await around.getByRole("link", { name: "Firewall/web" }).waitFor();
      await requireSound(page, "a host");
      await show(page, "objects/firewalls/base");
      await page
        .getByRole("heading", { name: /Effective policy of \d+ hosts/ })
        .first()
        .waitFor();
      await requireSound(page, "a firewall");
      await show(page, "objects/projects/shop/workspaces/production/loadbalancers/edge");
      await page.getByText(/^(\d+) of \1 hosts ready$/).waitFor();
      await page.getByRole("link", { name: "web-1", exact: true }).waitFor();
      await show(page, "objects/projects/shop/workspaces/production/scalinggroups/pool");
      await page.getByText("2 members, at least 1, at most 4, 2 desired").waitFor();
      await page.getByRole("img", { name: /Size over time: from 0 to 2 members/ }).waitFor();
      await requireSound(page, "a group");
    });
    const path = "/v1/organizations/demo/projects/shop/dnszones/shop";
    const asking = async (servers: readonly string[]) => {
      const { apiVersion, kind, metadata, spec } = await read(path);
      const propagation = servers.length === 0 ? undefined : { servers };
      const body = {
        apiVersion,
        kind,
        metadata: { name: metadata.name, mode: metadata.mode },
        spec: { ...spec, propagation },
      };
      await operatorCall(product, "PUT", path, body);
    };
    await asking([]);
    await opened(consoleLooks[0], async (page) => {
      await show(page, "objects/projects/shop/dnszones/shop");
      await page.getByText("Its servers are not asked").waitFor();
    });
    await asking(["127.0.0.1:9"]);
    await opened(consoleLooks[1], async (page) => {
      await show(page, "objects/projects/shop/dnszones/shop");
      const matrix = page.getByRole("region", { name: "Record sets by server" });
      await matrix.getByRole("columnheader", { name: /127\.0\.0\.1:9/ }).waitFor();
      await matrix.getByText("no answer").first().waitFor();
      await requireSound(page, "a zone, dark");
    });
  });

  test("a firewall whose hosts could not be read is not said to be for nobody", async () => {
    const failing = { browser, console: consoleOf(product), look: consoleLooks[0], expected: /500/ };
    await withSignedInPage(failing, async (page) => {
      await page.route(/\/resources\?kind=Host/, (route) => route.fulfill({ status: 500, body: "broken" }));
      await show(page, "objects/projects/shop/workspaces/production/firewalls/web");
      const whom = page.locator("section", { has: page.getByRole("heading", { name: "For whom" }) });
      await whom.getByText("could not be read by you").waitFor();
      assert.equal(await whom.getByText("No host").count(), 0);
    });
  });

  test("a held change that moves says what is other than what was seen", async () => {
    const zone = "/v1/organizations/demo/projects/shop/dnszones";
    const held = async () =>
      (await operatorCall(product, "GET", "/v1/organizations/demo/held-changes?kind=DnsZone")) as {
        items: { id: string; items: { key: string }[] }[];
      };
    const proposing = (
      (await operatorCall(product, "GET", zone)) as { items: { metadata: { name: string; mode?: string } }[] }
    ).items.find(({ metadata }) => metadata.mode === "propose");
    assert.ok(proposing, "the demo has a zone where every change waits");
    const declare = (name: string) =>
      operatorCall(product, "POST", "/v1/organizations/demo/projects/shop/dnsrecords", {
        apiVersion: "setpoint/v1",
        kind: "DnsRecord",
        metadata: { name },
        spec: { zone: proposing.metadata.name, name, type: "A", values: ["198.51.100.80"] },
      });
    const waiting = (name: string) =>
      until(
        `${name} to wait`,
        held,
        ({ items }) => items.some((change) => change.items.some(({ key }) => key.startsWith(`${name}.`))),
        900,
      );
    await declare("first");
    const found = (await waiting("first")).items.find(({ items }) => items.some(({ key }) => key.startsWith("first.")));
    await opened(consoleLooks[2], async (page) => {
      await show(page, `held/${found?.id ?? ""}`);
      await page.getByRole("heading", { name: "Decision" }).waitFor();
      assert.equal(await page.getByRole("heading", { name: "What changed since" }).count(), 0);
      await declare("second");
      await waiting("second");
      await page.getByText("since you looked").waitFor();
      await page.getByText("1 new:").waitFor();
      await requireSound(page, "a held change, narrow");
      await show(page, "held");
      await page.getByText("changed since you looked").waitFor();
      await page.goBack();
      await page.getByRole("button", { name: "I have seen it" }).click();
      await page.getByRole("heading", { name: "What changed since" }).waitFor({ state: "detached" });
    });
  });
});
