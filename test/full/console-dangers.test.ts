import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { launchChromium } from "../support/chromium.ts";
import { type ConsoleApi, startConsoleApi } from "../support/console-api.ts";
import { consoleLooks } from "../support/console-pages.ts";
import { ada, seriousViolations, tabTo, withSignedInPage } from "../support/console.ts";
import { memberOf } from "../support/people.ts";
import { signedIn } from "../support/person.ts";
import { query } from "../support/postgres.ts";
import { until } from "../support/product.ts";
import { addLab, base, declare, observed, takeEngine, zone } from "../support/zones.ts";

type Item = Readonly<Record<string, unknown>>;

/** Whatever stops something from working says first what that is, is left with Escape, and is done only after a second word. */
describe("dangerous actions of the console", () => {
  let started: ConsoleApi;
  let browser: Browser;

  before(async () => {
    started = await startConsoleApi();
    browser = await launchChromium();
    await addLab(started.api);
  });
  after(async () => {
    await browser.close();
    await started[Symbol.asyncDispose]();
  });

  const opened = (path: string, look: (typeof consoleLooks)[number], work: (page: Page) => Promise<void>) =>
    withSignedInPage({ browser, console: started, look }, async (page) => {
      await page.goto(`${started.url}/o/default/${path}`);
      await work(page);
    });
  const items = async (path: string) =>
    (await started.api.send("GET", `${base}/${path}`)).body["items"] as readonly Item[];
  const stateOf = async (path: string, id: unknown) => (await items(path)).find((item) => item["id"] === id)?.["state"];

  /** Opens the question with the keyboard, checks what it says, leaves it, sees that nothing happened, and then does it. */
  async function asks(
    page: Page,
    about: {
      readonly button: string;
      readonly title: string;
      readonly says: readonly (string | RegExp)[];
      readonly verb: string;
      readonly stands: () => Promise<unknown>;
    },
  ): Promise<void> {
    const { button, title, says, verb, stands } = about;
    const before = await stands();
    const dialog = page.getByRole("dialog", { name: title });
    await tabTo(page, page.getByRole("button", { name: button }));
    await page.keyboard.press("Enter");
    await dialog.waitFor();
    for (const words of says) await dialog.getByText(words).first().waitFor();
    assert.deepEqual(await seriousViolations(page), []);
    const wider = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
    assert.equal(wider, 0, "the page is wider than the screen");
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    assert.deepEqual(await stands(), before, "leaving it changes nothing");
    await page.getByRole("button", { name: button }).and(page.locator(":focus")).waitFor();
    await page.keyboard.press("Enter");
    await tabTo(page, dialog.getByRole("button", { name: verb, exact: true }));
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
  }

  for (const look of consoleLooks)
    test(`a token is revoked after saying what it may and when it was used (${look.name})`, async () => {
      const name = `deploys ${look.name}`;
      const rules = [{ key: "project.dns_zone", actions: ["read", "update"] }];
      const body = { name, type: "service-token", access: [{ rules }] };
      const made = (await started.api.send("POST", `${base}/tokens`, body)).body;
      const use = async () =>
        (await started.api.send("GET", "/v1/me", undefined, { authorization: `Bearer ${String(made["token"])}` }))
          .status;
      assert.equal(await use(), 200);
      await opened("access?part=tokens", look, async (page) => {
        await asks(page, {
          button: `Revoke… the token ${name}`,
          title: `Revoke the token ${name}`,
          says: [/refused from then on/, "operator", "project.dns_zone", /read, update/, "Last used"],
          verb: "Revoke",
          stands: async () => [await stateOf("tokens", made["id"]), await use()],
        });
        await page.getByRole("button", { name: `Revoke… the token ${name}` }).waitFor({ state: "detached" });
      });
      assert.deepEqual([await stateOf("tokens", made["id"]), await use()], ["revoked", 401]);
    });

  for (const look of consoleLooks)
    test(`an invite is revoked after saying whose it is and what it would give (${look.name})`, async () => {
      const email = `grace-${look.name}@example.test`;
      const made = await started.api.send("POST", `${base}/invites`, { email, bindings: [{ role: "member" }] });
      const { id } = made.body;
      await opened("access", look, async (page) => {
        await asks(page, {
          button: `Revoke… the invite of ${email}`,
          title: `Revoke the invite of ${email}`,
          says: [/cannot join with it any more/, /member/, "Invited by", "operator"],
          verb: "Revoke",
          stands: () => stateOf("invites", id),
        });
        await page.getByRole("button", { name: `Revoke… the invite of ${email}` }).waitFor({ state: "detached" });
      });
      assert.equal(await stateOf("invites", id), "revoked");
    });

  for (const look of consoleLooks)
    test(`another session is ended after saying from where it is (${look.name})`, async () => {
      await opened("access?part=sessions", look, async (page) => {
        const { email, password } = ada;
        const other = await signedIn(started.api, { email, password });
        const alive = async () => (await other.send("GET", "/v1/me")).status;
        await page.reload();
        await asks(page, {
          button: "End… the session of lightMyRequest",
          title: "End a session of yours",
          says: [/signed out within five seconds/, "From", "127.0.0.1", "Last seen"],
          verb: "End",
          stands: alive,
        });
        await page.getByRole("button", { name: "End… the session of lightMyRequest" }).waitFor({ state: "detached" });
        assert.equal(await alive(), 401);
      });
    });

  test("a member is removed after naming the roles, tokens and invites that go with them", async () => {
    const eve = await memberOf(started.api, "default", "eve@example.test", [{ role: "admin" }]);
    const rules = [{ key: "project.dns_zone", actions: ["read"] }];
    const made = await eve.send("POST", `${base}/tokens`, { name: "hers", type: "service-token", access: [{ rules }] });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const invited = await eve.send("POST", `${base}/invites`, {
      email: "zoe@example.test",
      bindings: [{ role: "member" }],
    });
    assert.equal(invited.status, 201, JSON.stringify(invited.body));
    const authorization = `Bearer ${String(made.body["token"])}`;
    const reads = async () => (await started.api.send("GET", `${base}/dnszones`, undefined, { authorization })).status;
    const stands = async () => [
      (await items("members")).map(({ email }) => email).includes("eve@example.test"),
      await stateOf("invites", invited.body["id"]),
      await reads(),
    ];
    assert.deepEqual(await stands(), [true, "open", 200]);
    await opened("access", consoleLooks[1], (page) =>
      asks(page, {
        button: "Remove… eve@example.test",
        title: "Remove eve@example.test",
        says: [/admin/, "hers", "zoe@example.test"],
        verb: "Remove",
        stands,
      }),
    );
    const gone = await until("her rights to be gone", stands, ([, , status]) => status !== 200);
    assert.deepEqual(gone.slice(0, 2), [false, "revoked"]);
  });

  test("a webhook is switched off, and gets a new secret, after saying what is not told and when the old one ends", async () => {
    const url = "https://hooks.example.test/setpoint";
    const made = await started.api.send("POST", `${base}/webhooks`, { url, description: "" });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const { id } = made.body["webhook"] as { readonly id: string };
    const stands = () => stateOf("webhooks", id);
    assert.equal(await stands(), "enabled");
    await opened("settings?part=notifications", consoleLooks[0], async (page) => {
      await asks(page, {
        button: "New secret…",
        title: `A new secret for ${url}`,
        says: [/then the old secret signs nothing/, "everything"],
        verb: "Make it",
        stands,
      });
      const shown = page.getByRole("status").filter({ hasText: "Both secrets sign for a day." }).locator("code");
      assert.notEqual(await shown.innerText(), made.body["secret"], "it is another one");
      await asks(page, {
        button: "Switch off…",
        title: `Switch off ${url}`,
        says: [/not told there, then or later/, "everything"],
        verb: "Switch off",
        stands,
      });
      await page.getByRole("button", { name: "Switch on" }).waitFor();
    });
    assert.equal(await stands(), "disabled");
  });

  test("an operation is cancelled after naming the steps that are taken back", async () => {
    const { api } = started;
    const made = await api.send("POST", `${base}/dnszones`, {
      apiVersion: "setpoint/v1",
      kind: "DnsZone",
      metadata: { name: "made", mode: "enforce" },
      spec: { account: "lab", zone: "made.test", nameservers: ["ns1.example.test"], makesZone: true },
    });
    assert.equal(made.status, 202, JSON.stringify(made.body));
    const id = String(made.headers["location"]).split("/").at(-1) ?? "";
    await query(
      api.url,
      `with moved as (update setpoint.operation set journal_length = 2 where id = $1 returning organization_id, id)
       insert into setpoint.step (organization_id, operation_id, place, step, version, direction, result, at_ms, body)
       select m.organization_id, m.id, e.place, e.step, 1, 'forward', e.result, setpoint.now_ms(), '{}'
       from moved as m cross join (values (1, 'zone', 'done'), (2, 'records', 'begun')) as e (place, step, result)`,
      [id],
    );
    const cancelOf = async () =>
      (
        await query<{ cancel: { author: string; reason: string } | null }>(
          api.url,
          "select cancel from setpoint.operation where id = $1",
          [id],
        )
      )[0]?.cancel;
    await opened(`operations/${id}`, consoleLooks[2], async (page) => {
      await page.getByRole("button", { name: "Cancel…" }).click();
      const dialog = page.getByRole("dialog", { name: "Cancel" });
      await dialog.getByText("1 step is done for DnsZone/made. What was made outside is taken back").waitFor();
      const steps = dialog.getByRole("list", { name: "Steps that are done" }).getByRole("listitem");
      assert.deepEqual(await steps.allInnerTexts(), ["zone"], "what has only begun is not called done");
      assert.deepEqual(await seriousViolations(page), []);
      assert.equal(await cancelOf(), null);
      await dialog.getByLabel("Why").fill("the wrong zone");
      await page.keyboard.press("Enter");
      await dialog.waitFor({ state: "detached" });
    });
    const { author, reason } = (await cancelOf()) ?? assert.fail("it is not cancelled");
    assert.deepEqual([author, reason], [ada.email, "the wrong zone"]);
  });

  test("a mode is set after showing what its loop would then do", async () => {
    const { api } = started;
    const engine = await takeEngine(api);
    await declare(api, zone("guarded", { metadata: { mode: "observe" } }));
    await engine.settle("guarded", { observation: observed({}, Date.now()) });
    const modeOf = async () =>
      ((await api.send("GET", `${base}/dnszones/guarded`)).body["metadata"] as { mode?: string }).mode;
    const before = await modeOf();
    await opened("objects/dnszones/guarded", consoleLooks[0], async (page) => {
      const dialog = page.getByRole("dialog", { name: "Mode enforce for DnsZone/guarded" });
      const choose = async () => {
        await page.getByRole("button", { name: /^Mode: / }).click();
        await page.getByRole("menuitem", { name: /^enforce/ }).click();
        await dialog.getByText("Outside: DnsZone/guarded").waitFor();
      };
      await choose();
      assert.deepEqual(await seriousViolations(page), []);
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "detached" });
      assert.equal(await modeOf(), before);
      await choose();
      await dialog.getByRole("button", { name: "Set enforce" }).click();
      await dialog.waitFor({ state: "detached" });
    });
    assert.equal(await modeOf(), "enforce");
  });
});
