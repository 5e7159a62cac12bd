import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { fromBase32, totpCode } from "../../src/control-api/identity/totp.ts";
import { launchChromium } from "../support/chromium.ts";
import { type ConsoleApi, startConsoleApi } from "../support/console-api.ts";
import { consoleLooks } from "../support/console-pages.ts";
import { ada, seriousViolations, tabTo, withSignedInPage } from "../support/console.ts";
import { ask, signedIn } from "../support/person.ts";
import { query } from "../support/postgres.ts";
import { scanned } from "../support/qr-code.ts";
import { plugInKey } from "../support/virtual-key.ts";

const sessions = "/o/default/access?part=sessions";
const newPassword = "seven otters sort the mail";

describe("what you prove yourself with, in the console", () => {
  let browser: Browser;

  before(async () => {
    browser = await launchChromium();
  });
  after(() => browser.close());

  const opened = (started: ConsoleApi, look: (typeof consoleLooks)[number], work: (page: Page) => Promise<void>) =>
    // Refusals that a test provokes are reported by the browser itself as failed requests.
    withSignedInPage({ browser, console: started, look, expected: /status of (401|403)/ }, async (page) => {
      await page.goto(`${started.url}${sessions}`);
      await work(page);
    });

  test("codes are turned on after a fresh proof, asked for at the sign-in, get new recovery codes, and are turned off", async () => {
    await using started = await startConsoleApi();
    await opened(started, consoleLooks[0], async (page) => {
      const button = (name: string) => page.getByRole("button", { name, exact: true });
      await ageProofs(started);
      await button("Turn codes on…").click();
      await button("Make a secret").click();
      await page.getByText("Prove that it is you").waitFor();
      await page.getByLabel("Password", { exact: true }).fill("not my password at all");
      await button("Go on").click();
      await page.getByText("This does not prove that it is you").waitFor();
      await page.getByLabel("Password", { exact: true }).fill(ada.password);
      await button("Go on").click();

      const shown = page.getByRole("status").filter({ hasText: "type this secret into the app." }).locator("code");
      const grouped = await shown.innerText();
      assert.match(grouped, /^([A-Z2-7]{4} ){7}[A-Z2-7]{4}$/);
      const secret = grouped.replaceAll(" ", "");
      const link = await page.getByRole("link", { name: "Open it in an app of this device" }).getAttribute("href");
      const inCode = await scanned(page, page.getByRole("img", { name: "QR code with the secret" }));
      assert.equal(inCode, link, "the picture, the link and the text are the same secret");
      assert.equal(new URL(inCode ?? "").searchParams.get("secret"), secret);
      assert.deepEqual((await me(page)).secondFactor, { totp: false, recoveryCodes: 0, passkeys: 0 });
      await fits(page);

      // From here on the app knows what its camera read, and nothing else.
      const app = new App(new URL(inCode ?? "").searchParams.get("secret") ?? "");
      await page.getByLabel("Code that the app shows now").fill(app.wrong());
      await button("Turn on").click();
      await page.getByText("This is not the code of now").waitFor();
      await page.getByLabel("Code that the app shows now").fill(app.next());
      await button("Turn on").click();
      const first = await recoveryCodes(page);
      assert.deepEqual((await me(page)).secondFactor, { totp: true, recoveryCodes: 10, passkeys: 0 });
      await button("Done").click();
      await page.getByText("10 recovery codes left").waitFor();
      await fits(page);

      await page.getByRole("button", { name: "You are Ada" }).click();
      await page.getByRole("menuitem", { name: "Sign out" }).click();
      await signInWithPassword(page);
      await page.getByText("Now the code of your app").waitFor();
      await page.getByLabel("Code").fill(app.next());
      await page.getByRole("button", { name: "Sign in", exact: true }).click();
      await page.waitForURL(/\/o\/default\/now$/);
      await page.getByRole("button", { name: "You are Ada" }).click();
      await page.getByRole("menuitem", { name: "Passkeys, codes and password" }).click();

      await button("New recovery codes…").click();
      await page.getByText("The ones you have stop working at once.").waitFor();
      await button("Make new ones").click();
      const second = await recoveryCodes(page);
      assert.deepEqual(
        first.filter((code) => second.includes(code)),
        [],
      );
      await button("Done").click();
      const { email, password } = ada;
      const old = await ask(started.api, "POST", "/v1/session", { email, password, code: first[0], as: "token" });
      assert.equal(old.status, 401, "an old recovery code is of no use");
      await signedIn(started.api, { email, password, code: second[0] ?? "" });

      await button("Turn codes off…").click();
      await page.getByText("From then on your password alone signs you in.").waitFor();
      await button("Turn off").click();
      await button("Turn codes on…").waitFor();
      assert.deepEqual((await me(page)).secondFactor, { totp: false, recoveryCodes: 0, passkeys: 0 });
      await signedIn(started.api, { email, password });
    });
  });

  test("a code proves it where the person has codes, in both themes; what is wrong is said, and nobody is signed out", async () => {
    await using started = await startConsoleApi();
    for (const look of [consoleLooks[0], consoleLooks[1], consoleLooks[2]]) {
      await opened(started, look, async (page) => {
        await page.getByRole("button", { name: "Turn codes on…" }).click();
        await page.getByRole("button", { name: "Make a secret" }).click();
        const link = await page.getByRole("link", { name: "Open it in an app of this device" }).getAttribute("href");
        const picture = page.getByRole("img", { name: "QR code with the secret" });
        assert.equal(await scanned(page, picture), link, `a camera reads it (${look.name})`);
        await fits(page);
        const app = await appOf(page);
        await page.reload();
        await ageProofs(started);
        const before = await session(started, page);
        await page.getByRole("button", { name: "New recovery codes…" }).click();
        await page.getByRole("button", { name: "Make new ones" }).click();
        const dialog = page.getByRole("dialog", { name: "Prove that it is you" });
        await dialog.getByText("at most five minutes old").waitFor();
        assert.deepEqual(await dialog.getByRole("radio").evaluateAll((inputs) => inputs.length), 2);
        assert.equal(await dialog.getByLabel("Passkey").count(), 0, "she has none");
        await fits(page);

        await dialog.getByLabel("Code of your app").check();
        await dialog.getByLabel("Code", { exact: true }).fill(app.wrong());
        await page.keyboard.press("Enter");
        await dialog.getByText("the code is wrong or was used before").waitFor();
        await dialog.getByText("You are still signed in").waitFor();
        await dialog.getByLabel("Code", { exact: true }).and(page.locator(":focus")).waitFor();
        assert.deepEqual(await session(started, page), before, "the session is as it was: signed in, and not proven");
        await fits(page);

        await page.keyboard.press("Escape");
        await dialog.waitFor({ state: "detached" });
        await page.getByText("This asks for a fresh proof of who you are. Nothing was done.").waitFor();
        assert.deepEqual((await me(page)).secondFactor, { totp: true, recoveryCodes: 10, passkeys: 0 });

        await page.getByRole("button", { name: "Make new ones" }).click();
        await dialog.getByLabel("Code of your app").check();
        await dialog.getByLabel("Code", { exact: true }).fill(app.next());
        await page.keyboard.press("Enter");
        const codes = await recoveryCodes(page);
        const after = await session(started, page);
        assert.equal(after.id, before.id, "it is the same session");
        assert.ok(after.provenAtMs > before.provenAtMs + 300_000, "now it is proven");
        await page.getByRole("button", { name: "Done" }).click();

        await ageProofs(started);
        await page.getByRole("button", { name: "Turn codes off…" }).click();
        await page.getByRole("button", { name: "Turn off" }).click();
        await dialog.getByLabel("Code of your app").check();
        await dialog.getByLabel("Code", { exact: true }).fill(codes[0] ?? "");
        await page.keyboard.press("Enter");
        await page.getByRole("button", { name: "Turn codes on…" }).waitFor();
        assert.deepEqual((await me(page)).secondFactor, { totp: false, recoveryCodes: 0, passkeys: 0 });
      });
    }
  });

  test("a passkey is added with the keyboard alone on a narrow screen, signs in, and is removed", async () => {
    await using started = await startConsoleApi();
    await opened(started, consoleLooks[2], async (page) => {
      await plugInKey(page);
      await tabTo(page, page.getByRole("button", { name: "Add a passkey…" }));
      await page.keyboard.press("Enter");
      await page.getByLabel("Name").and(page.locator(":focus")).waitFor();
      await page.keyboard.type("laptop");
      await fits(page);
      await page.keyboard.press("Enter");
      const row = page.getByRole("list", { name: "Your passkeys" }).getByRole("listitem");
      await row.getByText("laptop").waitFor();
      await row.getByText("never used").waitFor();
      assert.deepEqual(await labels(page), ["laptop"]);
      await fits(page);

      // One device has one: the browser refuses a second, and it is said in words.
      await page.getByRole("button", { name: "Add a passkey…" }).click();
      await page.getByLabel("Name").fill("laptop again");
      await page.getByRole("button", { name: "Add it" }).click();
      await page.getByText("has a passkey for you already").waitFor();
      await page.keyboard.press("Escape");
      assert.deepEqual(await labels(page), ["laptop"]);

      await page.goto(`${started.url}/sign-in`);
      await page.getByRole("button", { name: "Sign out" }).click();
      await page.getByText("You are signed out").waitFor();
      await page.getByRole("button", { name: "Use a passkey" }).click();
      await page.waitForURL(/\/o\/default\/now$/);
      await page.goto(`${started.url}${sessions}`);
      await row.getByText("last used").waitFor();

      await ageProofs(started);
      await page.getByRole("button", { name: "Remove… the passkey laptop" }).click();
      await page.getByRole("heading", { name: "Remove the passkey laptop" }).waitFor();
      assert.deepEqual(await labels(page), ["laptop"], "it is there until somebody said so");
      await page.getByRole("button", { name: "Remove", exact: true }).click();
      const proof = page.getByRole("dialog", { name: "Prove that it is you" });
      await proof.getByLabel("Passkey").check();
      await fits(page);
      await proof.getByRole("button", { name: "Use a passkey" }).click();
      await proof.waitFor({ state: "detached" });
      await page.getByRole("dialog").waitFor({ state: "detached" });
      await row.waitFor({ state: "detached" });
      assert.deepEqual(await labels(page), []);
    });
  });

  test("whoever opened this machine by its number is told where a passkey can be made", async () => {
    await using started = await startConsoleApi();
    await opened(started, consoleLooks[0], async (page) => {
      const numbered = await (await browser.newContext()).newPage();
      try {
        const url = started.url.replace("localhost", "127.0.0.1");
        await numbered.goto(`${url}/sign-in?next=${encodeURIComponent(sessions)}`);
        await numbered.locator("form:visible").getByLabel("E-mail").fill(ada.email);
        await numbered.locator("form:visible").getByLabel("Password").fill(ada.password);
        await numbered.getByRole("button", { name: "Sign in", exact: true }).click();
        await numbered.getByText("No passkey can be added here.").waitFor();
        assert.equal(await numbered.getByRole("button", { name: "Add a passkey…" }).count(), 0);
        await numbered.getByRole("link", { name: `${started.url}${sessions}` }).waitFor();
        assert.deepEqual(await seriousViolations(numbered), []);
      } finally {
        await numbered.context().close();
      }
      await page.getByRole("button", { name: "Add a passkey…" }).waitFor();
    });
  });

  test("the password is changed with the old one, and every other session ends", async () => {
    await using started = await startConsoleApi();
    await opened(started, consoleLooks[1], async (page) => {
      const { email, password } = ada;
      const other = await signedIn(started.api, { email, password });
      await page.getByRole("button", { name: "Change the password…" }).click();
      const change = page.getByRole("button", { name: "Change it" });
      await page.getByLabel("Password you have now").fill("not my password at all");
      await page.getByLabel("New password", { exact: true }).fill(newPassword);
      await page.getByLabel("New password again").fill("something else");
      await page.getByText("This is not the same as the one above.").waitFor();
      assert.ok(await change.isDisabled());
      await page.getByLabel("New password again").fill(newPassword);
      await change.click();
      await page.getByText("The old password is not the one you have now").waitFor();
      await fits(page);
      assert.equal((await other.send("GET", "/v1/me")).status, 200, "nothing has changed yet");
      await page.getByLabel("Password you have now").fill(ada.password);
      await change.click();
      await page.getByText("The password is changed. Your other sessions have ended.").waitFor();
      await page.getByRole("button", { name: "Done" }).click();
      assert.equal((await other.send("GET", "/v1/me")).status, 401, "the other session has ended");
      assert.equal((await me(page)).hasPassword, true, "this one goes on");
      assert.equal((await ask(started.api, "POST", "/v1/session", { email, password, as: "token" })).status, 401);
      await signedIn(started.api, { email, password: newPassword });
    });
  });

  test("whoever has no password yet sets one", async () => {
    await using started = await startConsoleApi();
    const { email, name } = ada;
    const made = await started.api.send("POST", "/v1/people", { email, name, platformRole: "administrator" });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    await opened(started, consoleLooks[0], async (page) => {
      assert.equal((await me(page)).hasPassword, false);
      await page.getByRole("button", { name: "Set a password…" }).click();
      assert.equal(await page.getByLabel("Password you have now").count(), 0);
      await page.getByLabel("New password", { exact: true }).fill(newPassword);
      await page.getByLabel("New password again").fill(newPassword);
      await page.getByRole("button", { name: "Set it" }).click();
      await page.getByText("The password is set.").waitFor();
      await page.getByRole("button", { name: "Done" }).click();
      await page.getByRole("button", { name: "Change the password…" }).waitFor();
      await signedIn(started.api, { email, password: newPassword });
    });
  });
});

/** An authenticator app: it never shows the same code twice, for a code works once. */
class App {
  readonly #secret: Uint8Array;
  #step = 0;

  constructor(secret: string) {
    this.#secret = fromBase32(secret);
  }

  next(): string {
    this.#step = Math.max(this.#step + 1, Math.floor(Date.now() / 30_000));
    return totpCode(this.#secret, this.#step);
  }

  /** Of no step that could be now. */
  wrong(): string {
    const now = Math.floor(Date.now() / 30_000);
    const near = [-1, 0, 1, 2, 3].map((steps) => totpCode(this.#secret, now + steps));
    return ["000000", "111111", "222222", "333333", "444444", "555555"].find((code) => !near.includes(code)) ?? "";
  }
}

interface Me {
  readonly hasPassword?: boolean;
  readonly secondFactor?: object;
}

/** Turns codes on through the API, and is the app that has them. */
async function appOf(page: Page): Promise<App> {
  const posted = async (path: string, data?: unknown): Promise<unknown> => {
    const headers = { origin: new URL(page.url()).origin };
    const answer = await page.request.post(new URL(path, page.url()).href, { headers, data });
    assert.ok(answer.ok(), `${path}: ${await answer.text()}`);
    return await answer.json();
  };
  const { secret } = (await posted("/v1/me/totp")) as { secret: string };
  const app = new App(secret);
  await posted("/v1/me/totp/confirm", { code: app.next() });
  return app;
}

/** The session of the page, as the database has it. */
async function session({ api }: ConsoleApi, page: Page): Promise<{ id: string; provenAtMs: number }> {
  const { credential } = (await asked(page, "/v1/me")) as { credential: { id: string } };
  const [row] = await query<{ id: string; provenAtMs: number }>(
    api.url,
    'select id::text as id, proven_at_ms::float8 as "provenAtMs" from setpoint.session where id::text = $1',
    [credential.id],
  );
  assert.ok(row, "there is a session");
  return row;
}

/** What the API says, asked with the session of the page. */
async function asked(page: Page, path: string): Promise<unknown> {
  const answer = await page.request.get(new URL(path, page.url()).href);
  assert.equal(answer.status(), 200, path);
  return await answer.json();
}

async function me(page: Page): Promise<Me> {
  return (await asked(page, "/v1/me")) as Me;
}

async function labels(page: Page): Promise<readonly string[]> {
  const { items } = (await asked(page, "/v1/me/passkeys")) as { items: { label: string }[] };
  return items.map(({ label }) => label);
}

/** The codes that are shown once, as somebody would copy them. */
async function recoveryCodes(page: Page): Promise<readonly string[]> {
  const shown = page.getByRole("status").filter({ hasText: "Keep this list of recovery codes now." });
  const codes = (await shown.locator("code").innerText()).split("\n");
  assert.equal(new Set(codes).size, 10, codes.join(" "));
  await shown.getByRole("button", { name: "Copy" }).waitFor();
  return codes;
}

/** Everybody proved who they are ten minutes longer ago than they did. */
async function ageProofs({ api }: ConsoleApi): Promise<void> {
  await query(api.url, "update setpoint.session set proven_at_ms = proven_at_ms - 600000");
  api.context.identity.sessions.forget();
}

async function signInWithPassword(page: Page): Promise<void> {
  const form = page.locator("form:visible");
  await form.getByLabel("E-mail").fill(ada.email);
  await form.getByLabel("Password").fill(ada.password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
}

async function fits(page: Page): Promise<void> {
  assert.deepEqual(await seriousViolations(page), []);
  const wider = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
  assert.equal(wider, 0, "the page is wider than the screen");
}
