import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Browser, Locator, Page } from "playwright-core";
import { kinds } from "../../src/kinds/registry.ts";
import type { TestApi } from "../support/api.ts";
import { launchChromium } from "../support/chromium.ts";
import { type ConsoleApi, startConsoleApi } from "../support/console-api.ts";
import { consoleLooks } from "../support/console-pages.ts";
import { seriousViolations, withSignedInPage } from "../support/console.ts";

const base = "/v1/organizations/default";

describe("forms of the console", () => {
  let started: ConsoleApi;
  let api: TestApi;
  let browser: Browser;

  before(async () => {
    started = await startConsoleApi();
    ({ api } = started);
    await api.send("POST", `${base}/accounts`, { name: "cloud", provider: "hetzner-cloud", settings: {} });
    await api.send("POST", `${base}/projects`, { name: "shop" });
    await api.send("POST", `${base}/projects/shop/workspaces`, { name: "live" });
    browser = await launchChromium();
  });
  after(async () => {
    await browser.close();
    await started[Symbol.asyncDispose]();
  });

  /** The dialog that declares something of a kind, with its form. */
  const opened = async (page: Page, kind: string): Promise<Locator> => {
    await page.goto(`${started.url}/o/default/inventory`);
    await page.getByRole("button", { name: "Declare…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Kind", { exact: true }).selectOption(kind);
    await dialog.getByLabel("Name", { exact: true }).first().fill("made");
    await dialog.getByRole("button", { name: "Show the plan" }).waitFor();
    return dialog;
  };
  const inLook = (look: (typeof consoleLooks)[number], work: (page: Page) => Promise<void>) =>
    withSignedInPage({ browser, console: started, look, expected: /status of 4\d\d/ }, work);

  for (const look of consoleLooks)
    test(`every kind has a form that asks for no JSON, ${look.name}: accessible and no wider than the screen`, async () => {
      await inLook(look, async (page) => {
        const problems: string[] = [];
        for (const kind of kinds.keys()) {
          const dialog = await opened(page, kind);
          await dialog
            .getByLabel(/^(Account|Zone)$/)
            .first()
            .waitFor();
          for (const folded of await dialog.locator("details > summary").all()) await folded.click();
          assert.equal(await dialog.getByText("As JSON.").count(), 0, kind);
          assert.equal(
            await dialog.getByLabel(/profile type/i).count(),
            0,
            "what the server fills in is not asked for",
          );
          const wider = await page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth",
          );
          if (wider !== 0) problems.push(`${kind} is ${String(wider)} pixels wider than the screen`);
          for (const violation of await seriousViolations(page)) problems.push(`${kind}: ${violation}`);
        }
        assert.deepEqual(problems, []);
      });
    });

  test("a host is declared by its form: where it lives, one way to name its type, and what is wrong beside its field", async () => {
    await inLook(consoleLooks[0], async (page) => {
      const dialog = await opened(page, "Host");
      const field = (name: string) => dialog.getByLabel(name, { exact: true });
      await field("Project").selectOption("shop");
      await field("Workspace").selectOption("live");
      await field("Account").fill("cloud");
      await field("Image").fill("debian-13");
      await field("Location").fill("fsn1");
      await field("Server type, by").selectOption({ label: "ComputeProfile" });
      await field("ComputeProfile").fill("small");
      await dialog.getByRole("button", { name: "Add a network" }).click();
      await dialog.getByRole("group", { name: "network 1" }).getByLabel("Name").fill("back");
      await dialog.getByRole("group", { name: "network 1" }).getByLabel("IP address (optional)").fill("nowhere");
      await dialog.getByRole("button", { name: "Show the plan" }).click();
      const wrong = dialog.locator('[aria-invalid="true"]');
      await wrong.first().waitFor();
      assert.equal(await wrong.count(), 1);
      const said = dialog.locator(`id=${String(await wrong.getAttribute("aria-describedby"))}`);
      assert.match(String(await said.textContent()), /IPv4/, "it is said beside the field");
      // Whoever has no mouse goes on where it is wrong.
      await dialog.locator('[aria-invalid="true"]:focus').waitFor();
      await dialog.getByRole("button", { name: "Remove network 1" }).click();
      // The type is said one way alone: choosing the other leaves the first one out.
      await field("Server type, by").selectOption({ label: "Provider's name" });
      await field("Provider's name").fill("cx23");
      await dialog.getByRole("button", { name: "Show the plan" }).click();
      await dialog.getByRole("heading", { name: "The plan" }).waitFor();
      await dialog.getByRole("button", { name: "Declare", exact: true }).click();
      await page.getByRole("heading", { name: "made", level: 1 }).waitFor();
      const { body } = await api.send("GET", `${base}/projects/shop/workspaces/live/hosts/made`);
      const { type, profile, networks, location } = body["spec"] as Record<string, unknown>;
      assert.deepEqual([type, profile, location], ["cx23", undefined, "fsn1"]);
      assert.deepEqual(networks ?? [], []);
    });
  });

  test("a load balancer's services and targets are written without JSON, each target in its own shape", async () => {
    await inLook(consoleLooks[2], async (page) => {
      const dialog = await opened(page, "LoadBalancer");
      const field = (name: string) => dialog.getByLabel(name, { exact: true });
      await field("Account").fill("cloud");
      await field("Type").fill("lb11");
      await field("Location").fill("fsn1");
      await dialog.getByRole("button", { name: "Add a service" }).click();
      const service = dialog.getByRole("group", { name: "service 1" });
      await service.getByLabel("Protocol", { exact: true }).selectOption("tcp");
      await service.getByLabel("Listen port").fill("443");
      await service.getByLabel("Target port").fill("8443");
      await dialog.getByRole("button", { name: "Add a target" }).click();
      const target = dialog.getByRole("group", { name: "target 1" });
      await target.getByLabel("Which").selectOption({ label: "an address" });
      await target.getByLabel("IP address").fill("192.0.2.7");
      await dialog.getByRole("button", { name: "Show the plan" }).click();
      await dialog.getByRole("heading", { name: "The plan" }).waitFor();
      await dialog.getByRole("button", { name: "Declare", exact: true }).click();
      await page.getByRole("heading", { name: "made", level: 1 }).waitFor();
      const { body } = await api.send("GET", `${base}/loadbalancers/made`);
      const spec = body["spec"] as {
        services: readonly { protocol: string; listenPort: number; targetPort: number }[];
        targets: readonly object[];
      };
      assert.deepEqual(spec.targets, [{ ip: "192.0.2.7" }]);
      const said = spec.services.map(({ protocol, listenPort, targetPort }) => [protocol, listenPort, targetPort]);
      assert.deepEqual(said, [["tcp", 443, 8443]], "numbers are numbers; what was not said has its default");
    });
  });
});
