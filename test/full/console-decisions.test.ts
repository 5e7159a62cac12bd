import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { launchChromium } from "../support/chromium.ts";
import { type ConsoleApi, startConsoleApi } from "../support/console-api.ts";
import { consoleLooks } from "../support/console-pages.ts";
import { seriousViolations, tabTo, withSignedInPage } from "../support/console.ts";
import { addLab, base, declare, observed, owning, record, takeEngine, zone } from "../support/zones.ts";

interface Listed {
  readonly items: readonly {
    readonly state: string;
    readonly comment?: string;
    readonly email: string;
    readonly reason: string;
    readonly name: string;
  }[];
}

describe("actions on many, proposals and roles in the console", () => {
  let started: ConsoleApi;
  let browser: Browser;

  before(async () => {
    started = await startConsoleApi();
    browser = await launchChromium();
    const { api } = started;
    await addLab(api);
    const engine = await takeEngine(api);
    await declare(api, zone("one"));
    await declare(api, zone("two"));
    const uids: string[] = [];
    for (const name of ["a", "b"]) uids.push((await declare(api, record(name, "one"))).metadata.uid);
    const keys = ["a.one.test. A", "b.one.test. A"];
    const seen = Object.fromEntries(keys.map((key) => [key, ["192.0.2.1"]]));
    await engine.settle("one", { memory: owning(keys, uids), observation: observed(seen, Date.now()) });
  });
  after(async () => {
    await browser.close();
    await started[Symbol.asyncDispose]();
  });

  const opened = (
    path: string,
    work: (page: Page) => Promise<void>,
    look: (typeof consoleLooks)[number] = consoleLooks[0],
  ) =>
    withSignedInPage({ browser, console: started, look }, async (page) => {
      await page.goto(`${started.url}/o/default/${path}`);
      await work(page);
    });
  const list = async (path: string) => (await started.api.send("GET", `${base}/${path}`)).body as unknown as Listed;
  const modeOf = async (path: string) => {
    const { metadata } = (await started.api.send("GET", `${base}/${path}`)).body as { metadata: { mode?: string } };
    return metadata.mode;
  };

  test("the drawer says which of the chosen an action fits and why not the others, and does it to those alone", async () => {
    await opened("inventory", async (page) => {
      for (const name of ["one", "two", "a"]) await page.getByLabel(`Choose ${name}`, { exact: true }).check();
      await page.getByText("3 chosen").waitFor();
      await page.getByRole("button", { name: "Set mode…" }).click();
      const drawer = page.getByRole("dialog");
      await drawer.getByText("Fits 2 of the 3 chosen.").waitFor();
      const other = drawer.getByRole("listitem").filter({ hasText: "DnsRecord/" });
      await other.getByText("it has no loop of its own").waitFor();
      assert.deepEqual(await seriousViolations(page), []);
      await drawer.getByLabel("Mode").selectOption("propose");
      await drawer.getByRole("button", { name: "Set the mode (2)" }).click();
      await drawer.waitFor({ state: "detached" });
      assert.deepEqual(
        [await modeOf("dnszones/one"), await modeOf("dnszones/two"), await modeOf("dnsrecords/a")],
        ["propose", "propose", undefined],
      );
    });
  });

  test("deleting many says first what would go outside, and asks how many declarations that is", async () => {
    await declare(started.api, zone("gone-1"));
    await declare(started.api, zone("gone-2"));
    await opened("inventory?name=gone", async (page) => {
      await page.getByLabel("Choose all that were read").check();
      await page.getByRole("button", { name: "Delete…" }).click();
      const drawer = page.getByRole("dialog");
      await drawer.getByText("Fits 2 of the 2 chosen.").waitFor();
      await drawer.getByText(/would be deleted with 2 declarations/).waitFor();
      const go = drawer.getByRole("button", { name: "Delete (2)" });
      assert.ok(await go.isDisabled(), "not before the number was typed");
      await drawer.getByLabel("How many declarations are deleted? Type 2").fill("3");
      assert.ok(await go.isDisabled(), "not with another one");
      await drawer.getByLabel("How many declarations are deleted? Type 2").fill("2");
      await go.click();
      await drawer.waitFor({ state: "detached" });
      for (const name of ["gone-1", "gone-2"]) {
        const left = await started.api.send("GET", `${base}/dnszones/${name}`);
        const { metadata } = left.body as { metadata?: { deletion?: unknown } };
        assert.ok(left.status === 404 || metadata?.deletion !== undefined, name);
      }
    });
  });

  test("a proposal that is rejected says why, and nothing of it is declared", async () => {
    const changes = [{ manifest: record("never", "two") }];
    await started.api.send("POST", `${base}/proposals`, { reason: "a record too many", changes });
    await opened("held", async (page) => {
      const card = page.locator("section", { has: page.getByRole("heading", { name: "a record too many" }) }).last();
      const reject = card.getByRole("button", { name: "Reject" });
      assert.ok(await reject.isDisabled(), "whoever proposed it is told why");
      await card.getByLabel("Comment").fill("not this one");
      await reject.click();
      await page.getByText("a record too many").waitFor({ state: "detached" });
      const { items } = await list("proposals?state=rejected");
      assert.deepEqual(
        items.map(({ comment }) => comment),
        ["not this one"],
      );
      assert.equal((await started.api.send("GET", `${base}/dnsrecords/never`)).status, 404);
    });
  });

  test("who proposed something withdraws it after being told what that means, and nobody else is offered to", async () => {
    const { api } = started;
    const changes = [{ manifest: record("second-thoughts", "two") }];
    await api.send("POST", `${base}/proposals`, { reason: "of the operator", changes });
    for (const look of consoleLooks)
      await opened(
        "held",
        async (page) => {
          const mine = { reason: `a thought (${look.name})`, changes };
          const headers = { origin: started.url };
          const made = await page.request.post(`${started.url}${base}/proposals`, { headers, data: mine });
          assert.equal(made.status(), 201, await made.text());
          const { id } = (await made.json()) as { id: string };
          await page.reload();
          const stateOf = async () => (await api.send("GET", `${base}/proposals/${id}`)).body["state"];
          const card = (name: string) =>
            page.locator("section", { has: page.getByRole("heading", { name, exact: true }) }).last();
          await card("of the operator").getByRole("button", { name: "Reject" }).waitFor();
          assert.equal(await card("of the operator").getByRole("button", { name: "Withdraw…" }).count(), 0);
          const button = card(mine.reason).getByRole("button", { name: "Withdraw…" });
          const dialog = page.getByRole("dialog", { name: "Withdraw what you proposed" });
          await tabTo(page, button);
          await page.keyboard.press("Enter");
          await dialog.getByText("nothing of it happens").waitFor();
          await dialog.getByText("1 declaration").waitFor();
          assert.deepEqual(await seriousViolations(page), []);
          await page.keyboard.press("Escape");
          await dialog.waitFor({ state: "detached" });
          assert.equal(await stateOf(), "open", "leaving it changes nothing");
          await button.click();
          await dialog.getByLabel("Why").fill(`found a better way (${look.name})`);
          await dialog.getByRole("button", { name: "Withdraw", exact: true }).click();
          await dialog.waitFor({ state: "detached" });
          await page.getByRole("heading", { name: mine.reason, exact: true }).waitFor({ state: "detached" });
          assert.equal(await stateOf(), "withdrawn");
          await page.getByRole("link", { name: "Withdrawn" }).click();
          await page.getByText(`found a better way (${look.name})`).waitFor();
          assert.deepEqual(await seriousViolations(page), []);
        },
        look,
      );
    assert.equal((await api.send("GET", `${base}/dnsrecords/second-thoughts`)).status, 404);
  });

  test("approving a proposal asks for the number of deletes outside, on a narrow screen too", async () => {
    const changes = ["a", "b"].map((name) => ({ delete: { kind: "DnsRecord", name } }));
    const made = await started.api.send("POST", `${base}/proposals`, { reason: "tidy up", changes });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    await opened(
      "held",
      async (page) => {
        const card = page.locator("section", { has: page.getByRole("heading", { name: "tidy up" }) }).last();
        const approve = card.getByRole("button", { name: "Approve and apply" });
        const typed = card.getByLabel("How many are deleted? Type 2");
        await typed.waitFor();
        assert.ok(await approve.isDisabled());
        await typed.fill("1");
        assert.ok(await approve.isDisabled(), "not with another number");
        await typed.fill("2");
        await approve.click();
        await page.getByText("tidy up").waitFor({ state: "detached" });
        const { items } = await list("proposals?state=applied");
        assert.deepEqual(
          items.map(({ reason }) => reason),
          ["tidy up"],
        );
        for (const name of ["a", "b"]) {
          const { body } = await started.api.send("GET", `${base}/dnsrecords/${name}`);
          assert.ok((body as { metadata: { deletion?: unknown } }).metadata.deletion !== undefined, name);
        }
      },
      consoleLooks[2],
    );
  });

  test("a role says who has it before it is removed, stays while somebody does, and goes when nobody does", async () => {
    const rules = [{ key: "project.dns_zone", actions: ["read"] }];
    for (const name of ["viewer", "unused"]) {
      const made = await started.api.send("POST", `${base}/roles`, { name, description: "looks", rules });
      assert.equal(made.status, 201, JSON.stringify(made.body));
    }
    const invite = { email: "grace@example.test", bindings: [{ role: "viewer" }] };
    assert.equal((await started.api.send("POST", `${base}/invites`, invite)).status, 201);
    const names = async () => (await list("roles")).items.map(({ name }) => name);
    await withSignedInPage({ browser, console: started, look: consoleLooks[0], expected: /409/ }, async (page) => {
      await page.goto(`${started.url}/o/default/access?part=roles`);
      await page.getByRole("button", { name: "Remove… the role viewer" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByText("grace@example.test").first().waitFor();
      await dialog.getByRole("button", { name: "Remove", exact: true }).click();
      await dialog.getByRole("alert").waitFor();
      assert.ok((await names()).includes("viewer"));
      await dialog.getByRole("button", { name: "Cancel" }).click();
      await page.getByRole("button", { name: "Remove… the role unused" }).click();
      await dialog.getByText("No member has it, and no open invite would give it.").waitFor();
      await dialog.getByRole("button", { name: "Remove", exact: true }).click();
      // What lies behind an open dialog has no role: only without one does a missing button mean a missing role.
      await dialog.waitFor({ state: "detached" });
      await page.getByRole("button", { name: "Remove… the role unused" }).waitFor({ state: "detached" });
      assert.ok(!(await names()).includes("unused"));
    });
  });
});
