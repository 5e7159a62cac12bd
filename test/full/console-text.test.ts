import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { launchChromium } from "../support/chromium.ts";
import { consoleLooks } from "../support/console-pages.ts";
import { type ConsoleApi, startConsoleApi } from "../support/console-api.ts";
import { Complaints, openContext } from "../support/console.ts";

const base = "/v1/organizations/default";
/** Markup that would run, a scheme that would, and letters that turn the line around. */
const attack = `<img src=x onerror="document.title='broken'">"'><svg onload=alert(1)> javascript:alert(1) \u202Etxt`;
const longest = "x".repeat(200);

describe("what people write, on every page of the console", () => {
  let started: ConsoleApi;
  let browser: Browser;

  const make = async (path: string, body: object, headers: Record<string, string> = {}): Promise<void> => {
    const answer = await started.api.send("POST", `${base}${path}`, body, headers);
    assert.ok(answer.status < 300, `POST ${path}: ${JSON.stringify(answer.body)}`);
  };

  before(async () => {
    started = await startConsoleApi();
    browser = await launchChromium();
    const settings = { url: `http://127.0.0.1:9/?${encodeURIComponent(attack)}` };
    await make("/accounts", { name: "lab", provider: "powerdns", settings });
    await make("/projects", { name: "web" });
    const zone = { account: "lab", zone: "z.example.org" };
    const manifest = { apiVersion: "setpoint/v1", kind: "DnsZone", spec: zone };
    await make("/dnszones", { ...manifest, metadata: { name: "zone", mode: "observe", labels: { note: attack } } });
    await make("/dnsrecords", {
      apiVersion: "setpoint/v1",
      kind: "DnsRecord",
      metadata: { name: "text", labels: { note: longest.slice(0, 60) } },
      spec: { zone: "zone", name: "text", type: "TXT", values: [attack, longest] },
    });
    await make("/pauses", { on: "dnszones/zone", reason: attack });
    const rules = [{ key: "project.dns_zone", actions: ["read"] }];
    await make("/roles", { name: "reader", description: attack, rules });
    await make("/webhooks", { url: "https://93.184.216.34/hook", description: attack });
    const why = { "setpoint-reason": attack.replace("\u202E", "") };
    await make("/projects", { name: "mail" }, why);
    // What was done is in the trail once it is sealed.
    await started.api.seal();
  });
  after(async () => {
    await browser.close();
    await started[Symbol.asyncDispose]();
  });

  const pages = [
    ["now", "Needs attention"],
    ["inventory", "in all"],
    ["inventory?labels=note", "in all"],
    ["map?as=list", "relation"],
    ["objects/dnszones/zone", "Paused"],
    ["objects/dnszones/zone?tab=spec", "Field owners"],
    ["objects/dnszones/zone?tab=as", "As YAML"],
    ["objects/dnsrecords/text?tab=spec", "Field owners"],
    ["objects/dnsrecords/text?tab=history", "Declarations"],
    ["loops", "Caps of this organization"],
    ["operations", "Long work"],
    ["drift", "Left alone on purpose"],
    ["providers", "nobody declares"],
    ["access?part=roles", "reader"],
    ["audit", "because:"],
    ["settings?part=notifications", "93.184.216.34/hook"],
  ] as const;

  for (const look of [consoleLooks[0], consoleLooks[2]])
    test(`it is text and stays within the screen: ${look.name}`, async () => {
      const context = await openContext(browser, look);
      try {
        const page = await context.newPage();
        const complaints = new Complaints(page, started.url);
        page.on("dialog", (dialog) => complaints.found.push(`a dialog: ${dialog.message()}`));
        await started.signIn(page);
        for (const [path, shows] of pages) {
          await page.goto(`${started.url}/o/default/${path}`);
          await page.getByText(shows).first().waitFor();
          await requireText(page, path);
        }
        await page.getByRole("button", { name: "Resume…" }).click();
        await page.getByText("onerror").first().waitFor();
        await requireText(page, "resume");
        complaints.requireNone();
      } finally {
        await context.close();
      }
    });
});

async function requireText(page: Page, where: string): Promise<void> {
  assert.equal(await page.locator("img, svg[onload]").count(), 0, where);
  assert.equal(await page.title(), "Setpoint", where);
  assert.equal(await page.locator('a[href^="javascript:"]').count(), 0, where);
  const wider = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
  assert.equal(wider, 0, `${where} is wider than the screen`);
}
