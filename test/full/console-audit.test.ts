import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { launchChromium } from "../support/chromium.ts";
import { type ConsoleApi, startConsoleApi } from "../support/console-api.ts";
import { consoleLooks } from "../support/console-pages.ts";
import { seriousViolations, withSignedInPage } from "../support/console.ts";
import { query } from "../support/postgres.ts";

const base = "/v1/organizations/default";

describe("the Audit page", () => {
  let started: ConsoleApi;
  let browser: Browser;

  before(async () => {
    started = await startConsoleApi();
    browser = await launchChromium();
    const make = async (path: string, body: object, headers: Record<string, string> = {}) => {
      const answer = await started.api.send("POST", `${base}${path}`, body, headers);
      assert.ok(answer.status < 300, `POST ${path}: ${JSON.stringify(answer.body)}`);
    };
    const settings = { url: "http://127.0.0.1:9" };
    await make("/accounts", { name: "lab", provider: "powerdns", settings }, { "setpoint-reason": "first account" });
    for (let number = 1; number <= 120; number++) await make("/projects", { name: `p-${number}` });
    await make("/dnszones", {
      apiVersion: "setpoint/v1",
      kind: "DnsZone",
      metadata: { name: "zone", mode: "observe" },
      spec: { account: "lab", zone: "z.example.org" },
    });
    const looser = { limits: { changesPerCycle: 9_000 } };
    const held = await started.api.send("PUT", `${base}/policy`, looser, { "if-match": "*" });
    const reject = `${base}/held-changes/${String(held.body["id"])}:reject`;
    assert.equal((await started.api.send("POST", reject, { comment: "not today" })).status, 200);
    await started.api.seal();
  });
  after(async () => {
    await browser.close();
    await started[Symbol.asyncDispose]();
  });

  const opened = (work: (page: Page) => Promise<void>) =>
    withSignedInPage({ browser, console: started, look: consoleLooks[0] }, async (page) => {
      await started.api.seal();
      await page.goto(`${started.url}/o/default/audit`);
      await work(page);
    });

  const head = async () => {
    const answer = await started.api.send("GET", `${base}/audit/head`);
    return answer.body["last"] as { position: number; hash: string };
  };
  const positionOf = async (type: string): Promise<number> => {
    const { body } = await started.api.send("GET", `${base}/audit?type=${type}`);
    return (body["items"] as { position: number }[])[0]?.position ?? 0;
  };
  const result = (page: Page) => page.locator("section", { hasText: "Is it as it was sealed?" });

  test("the browser computes every hash itself, and says how many entries hold, from where to where", async () => {
    await opened(async (page) => {
      const { position, hash } = await head();
      await page.getByRole("button", { name: "Check the chain" }).click();
      await result(page).getByText("whole", { exact: true }).waitFor();
      const [sealed] = await query<{ count: string }>(
        started.api.url,
        "select count(*) from setpoint.sealed_entry where organization_id is not null and position <= $1",
        [position],
      );
      const words = await result(page).innerText();
      const count = /Verified ([\d,.]+) entries/.exec(words)?.[1]?.replace(/\D/g, "");
      assert.equal(Number(count), Number(sealed?.count), words);
      assert.ok(words.includes(`${position}:${hash}`), "it shows the end that the record had");
      assert.deepEqual(await seriousViolations(page), []);
    });
  });

  test("an entry that was changed in the database is named, with what to do; put back, the record holds again", async () => {
    const changed = await positionOf("account.created");
    const edit = (actor: string) =>
      query(started.api.url, `update setpoint.sealed_entry set actor = '${actor}' where position = ${changed}`);
    await opened(async (page) => {
      await edit("eve");
      try {
        await page.getByRole("button", { name: "Check the chain" }).click();
        await page.getByText(`The record is not whole: entry ${changed} was changed.`).waitFor();
        const words = await result(page).innerText();
        assert.match(words, /says now: eve account\.created/);
        assert.match(words, /setpoint audit verify FILE --online/);
        assert.deepEqual(await seriousViolations(page), []);
      } finally {
        await edit("operator");
      }
      await page.getByRole("button", { name: "Check again" }).click();
      await result(page).getByText("whole", { exact: true }).waitFor();
    });
  });

  test("an entry that was removed leaves a gap that is found", async () => {
    const removed = await positionOf("resource.created");
    await opened(async (page) => {
      const copy = "create table setpoint.removed as select * from setpoint.sealed_entry where position =";
      await query(started.api.url, `${copy} ${removed}`);
      await query(started.api.url, `delete from setpoint.sealed_entry where position = ${removed}`);
      try {
        await page.getByRole("button", { name: "Check the chain" }).click();
        await page.getByText(/The record is not whole: entry \d+ follows on entry \d+/).waitFor();
      } finally {
        await query(started.api.url, "insert into setpoint.sealed_entry select * from setpoint.removed");
        await query(started.api.url, "drop table setpoint.removed");
      }
    });
  });

  test("newest entries that were cut off show against the end that this browser saw", async () => {
    await opened(async (page) => {
      await page.getByRole("button", { name: "Check the chain" }).click();
      await result(page).getByText("whole", { exact: true }).waitFor();
      const seen = await page.getByLabel("An end that it must still contain").inputValue();
      const position = Number(seen.split(":")[0]);
      await started.api.seal();
      await query(started.api.url, `delete from setpoint.sealed_entry where position >= ${position}`);
      await page.reload();
      assert.equal(await page.getByLabel("An end that it must still contain").inputValue(), seen, "it is remembered");
      await page.getByRole("button", { name: "Check the chain" }).click();
      await page.getByText("its newest entries were cut off").waitFor();
      await page.getByLabel("An end that it must still contain").fill("12:nonsense");
      await page.getByText("This is not POSITION:HASH").waitFor();
      assert.ok(await page.getByRole("button", { name: "Check again" }).isDisabled());
    });
  });

  test("who, what, of what, when and outcome are searched for, and every filter is in the address", async () => {
    await opened(async (page) => {
      const entries = page.locator("ol > li");
      const search = async (fill: Record<string, string>, count: number, address: RegExp) => {
        await page.goto(`${started.url}/o/default/audit`);
        for (const [label, text] of Object.entries(fill)) await page.getByLabel(label, { exact: true }).fill(text);
        await page.getByRole("button", { name: "Search", exact: true }).click();
        await page.waitForURL(address);
        await page.reload();
        await entries.nth(count - 1).waitFor();
        assert.equal(await entries.count(), count);
      };
      await search(
        { What: "account.", Who: "operator" },
        1,
        /audit\?(actor=operator&type=account|type=account.*actor)/,
      );
      await page.getByText("because: first account").waitFor();
      await search({ "Of what": "DnsZone/zone" }, 1, /resource=DnsZone/);
      await page.getByRole("link", { name: "DnsZone/zone" }).click();
      await page.waitForURL(/resource=[0-9a-f-]{36}/);
      await entries.first().getByText("All of it").click();
      await entries.first().getByText("After (SHA-256)").waitFor();

      await page.goto(`${started.url}/o/default/audit`);
      await page.getByLabel("Outcome").selectOption("not-done");
      await page.waitForURL(/outcome=not-done/);
      await page.reload();
      await entries.getByText("governance.rejected").waitFor();
      assert.equal(await entries.count(), 1);

      await page.goto(`${started.url}/o/default/audit`);
      await page.getByLabel("Not before").fill("2099-01-01T00:00");
      await page.getByRole("button", { name: "Search", exact: true }).click();
      await page.waitForURL(/from=2099-01-01|from=2098-12-31/);
      await page.getByText("No entry fits").waitFor();
      const exported = await page.getByRole("link", { name: "Export NDJSON" }).getAttribute("href");
      assert.match(exported ?? "", /from=20(99|98)/, "the export takes the same filters");
      await page.getByRole("button", { name: "Clear" }).click();
      await page.waitForURL(/\/audit$/);
      await entries.nth(99).waitFor();
      await page.getByRole("button", { name: "Older entries" }).click();
      await entries.nth(100).waitFor();
    });
  });

  test("what an operation did for somebody names them, and leads to the operation", async () => {
    await query(
      started.api.url,
      `insert into setpoint.log_entry (organization_id, type, uid, actor, data, trail, at_ms)
       select id, 'operation.succeeded', 'u', 'grace@example.test', '{"kind":"DnsZone","name":"hers","operation":"op-1"}',
         '{"type":"person","credential":"operation/op-1"}', setpoint.now_ms() from setpoint.organization where name = 'default'`,
    );
    await started.api.seal();
    for (const look of consoleLooks)
      await withSignedInPage({ browser, console: started, look }, async (page) => {
        await page.goto(`${started.url}/o/default/audit?type=operation.`);
        const entry = page.locator("ol > li");
        await entry.getByText("grace@example.test").waitFor();
        await entry.getByText("through operation").waitFor();
        const link = await entry.getByRole("link", { name: "op-1" }).getAttribute("href");
        assert.equal(link, "/o/default/operations/op-1");
        assert.deepEqual(await seriousViolations(page), []);
      });
  });
});
