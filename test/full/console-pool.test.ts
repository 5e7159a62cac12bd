import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { Accounts } from "../../src/kernel/accounts.ts";
import { runCycle } from "../../src/kernel/cycle.ts";
import { kinds } from "../../src/kinds/registry.ts";
import type { Log } from "../../src/ports/log.ts";
import { systemClock } from "../../src/runtime/system-clock.ts";
import { createSystemIds } from "../../src/runtime/system-ids.ts";
import { whatever } from "../support/api.ts";
import { launchChromium } from "../support/chromium.ts";
import { type ConsoleApi, startConsoleApi } from "../support/console-api.ts";
import { consoleLooks } from "../support/console-pages.ts";
import { openContext, seriousViolations, withSignedInPage } from "../support/console.ts";
import { newPerson } from "../support/person.ts";

const organization = "/v1/organizations/default";
const pool = "/o/default/providers?part=pool";
const silent: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const pictures = process.env["SETPOINT_TEST_PICTURES"];

/** What is due, as a scheduler would take it; with a claim for what comes from the pool, as the first host there would make it. */
async function schedule({ api }: ConsoleApi, does: "claim" | "cycle"): Promise<void> {
  const store = api.engine;
  const accounts = new Accounts({ providers: new Map(), store, clock: systemClock });
  const engine = { store, accounts, clock: systemClock, random: { next: () => 0 }, ids: createSystemIds() };
  const leases = await store.takeShards({ holder: "scheduler", wanted: 64, leaseMs: 600_000 });
  const shards = leases.map(({ shard }) => shard);
  for (const { id, shard } of await store.dueSubjects({ shards, limit: 100 })) {
    const actor = { holder: "scheduler", shard, epoch: leases.find((lease) => lease.shard === shard)?.epoch ?? 0 };
    const input = (await store.load(id)) ?? assert.fail("no subject");
    if (does === "claim") await store.dock({ actor, subject: input.subject, location: undefined });
    else
      await runCycle(
        { ...engine, log: silent, kinds },
        {
          subjectId: id,
          actor,
          quietSinceMonotonicMs: undefined,
          trigger: "event",
          leaseRemainingMs: () => 600_000,
          signal: new AbortController().signal,
        },
      );
  }
}

const poolOf = async ({ api }: ConsoleApi) =>
  ((await api.send("GET", "/v1/pool")).body["items"] as readonly Record<string, unknown>[]).map(
    ({ name, state, organization: whose, locations }) => ({ name, state, whose, locations }),
  );

async function fits(page: Page, name: string): Promise<void> {
  if (pictures !== undefined) {
    mkdirSync(pictures, { recursive: true });
    await page.screenshot({ path: `${pictures}/pool-${name}.png` });
  }
  assert.deepEqual(await seriousViolations(page), []);
  const wider = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
  assert.equal(wider, 0, `${name} is wider than the screen`);
}

describe("the operator's pool in the console", () => {
  let browser: Browser;

  before(async () => {
    browser = await launchChromium();
  });
  after(() => browser.close());

  for (const look of consoleLooks)
    test(`an account is put in, claimed, given back, put back and taken out, ${look.name}`, async () => {
      await using started = await startConsoleApi();
      await withSignedInPage({ browser, console: started, look }, async (page) => {
        const button = (name: string) => page.getByRole("button", { name, exact: true });
        await page.goto(`${started.url}${pool}`);
        await page.getByText("The pool is empty").waitFor();
        await page.getByText("Nothing from the pool").waitFor();
        await fits(page, `${look.name}-empty`);

        await button("Put one in…").click();
        await page.getByLabel("Name", { exact: true }).fill("hetzner-1");
        await page.getByLabel("Where its credential is").fill("env:HETZNER_1_TOKEN");
        await page.getByLabel("Locations").fill("fsn1, nbg1");
        await fits(page, `${look.name}-put-in`);
        await button("Put it in").click();
        await page.getByText("there to be claimed").waitFor();
        const free = { name: "hetzner-1", state: "free", whose: undefined, locations: ["fsn1", "nbg1"] };
        assert.deepEqual(await poolOf(started), [free]);

        await button("Claim one…").click();
        await page.getByText("Nothing is claimed yet").waitFor();
        await page.getByLabel("Name", { exact: true }).fill("cloud");
        await button("Prepare it").click();
        await page.getByText("waits for its claim").waitFor();
        assert.deepEqual(await poolOf(started), [free], "a name claims nothing");

        const firewall = { apiVersion: "setpoint/v1", kind: "Firewall", metadata: { name: "web" } };
        const declared = { ...firewall, spec: { account: "cloud", rules: [] } };
        assert.equal((await started.api.send("POST", `${organization}/firewalls`, declared)).status, 201);
        await schedule(started, "claim");
        await page.getByText("claimed by default").waitFor();
        await page.getByText("has hetzner-1").waitFor();
        assert.equal(await button("Take out… hetzner-1").count(), 0, "what somebody has is not taken out");
        await fits(page, `${look.name}-claimed`);

        await button("Give back… cloud").click();
        await page.getByText("Resources of yours there").waitFor();
        await page.getByText("It is refused while any resource names the account").waitFor();
        assert.equal(await button("Give it back").isDisabled(), true, "something of it is there");
        await fits(page, `${look.name}-give-back`);
        await button("Cancel").click();
        const gone = await started.api.send("DELETE", `${organization}/firewalls/web`, undefined, whatever);
        assert.ok(gone.status < 300, JSON.stringify(gone.body));
        await schedule(started, "cycle");
        await page.getByText("0 resources of yours there").waitFor();
        await button("Give back… cloud").click();
        await button("Give it back").click();
        await page.getByText("waits for your word that it is empty").waitFor();
        assert.deepEqual(await poolOf(started), [{ ...free, state: "returned", whose: "default" }]);

        await button("Put back… hetzner-1").click();
        assert.equal(await button("Put it back").isDisabled(), true, "nobody says that it is empty without looking");
        await fits(page, `${look.name}-put-back`);
        await page.getByLabel("nothing is left there").check();
        await button("Put it back").click();
        await page.getByText("there to be claimed").waitFor();
        assert.equal((await poolOf(started))[0]?.["state"], "free");

        await button("Take out… hetzner-1").click();
        await page.getByText("Nothing at the provider is touched").waitFor();
        await button("Take out").click();
        await page.getByText("The pool is empty").waitFor();
        assert.deepEqual(await poolOf(started), []);
      });
    });

  test("who is no operator sees what the organization has, and nothing of the pool; who may only read changes nothing", async () => {
    await using started = await startConsoleApi();
    const { api, url } = started;
    await api.send("POST", `${organization}/accounts`, { name: "cloud", provider: "ionos", fromPool: true });
    const person = await newPerson(api, "grace@example.test", "tall giraffes hum quietly");
    const bindings = [{ role: "auditor" }];
    const invited = await api.send("POST", `${organization}/invites`, { email: person.email, bindings });
    assert.equal(invited.status, 201, JSON.stringify(invited.body));
    assert.equal((await person.send("POST", "/v1/invites/accept", { secret: invited.body["secret"] })).status, 200);
    const context = await openContext(browser, consoleLooks[0]);
    try {
      const page = await context.newPage();
      await page.goto(`${url}/sign-in`);
      const form = page.locator("form:visible").first();
      await form.getByLabel("E-mail").fill(person.email);
      await form.getByLabel("Password", { exact: true }).fill("tall giraffes hum quietly");
      await form.getByRole("button", { name: "Sign in", exact: true }).click();
      await page.waitForURL(/\/o\/[^/]+\/now$/);
      await page.goto(`${url}${pool}`);
      await page.getByText("waits for its claim").waitFor();
      // Whatever may be done is asked for before it is offered.
      await page.waitForLoadState("networkidle");
      assert.equal(await page.getByText("The operator's pool").count(), 0);
      for (const name of ["Claim one…", "Put one in…"])
        assert.equal(await page.getByRole("button", { name, exact: true }).count(), 0, name);
    } finally {
      await context.close();
    }
  });
});
