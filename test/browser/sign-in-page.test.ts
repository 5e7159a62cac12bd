import assert from "node:assert/strict";
import { test } from "node:test";
import { fromBase32, totpCode } from "../../src/control-api/identity/totp.ts";
import { startTestApi } from "../support/api.ts";
import { launchChromium } from "../support/chromium.ts";
import { seriousViolations } from "../support/console.ts";
import { checkPage, looks } from "../support/page-check.ts";
import { goodPassword, newPerson } from "../support/person.ts";
import { plugInKey } from "../support/virtual-key.ts";

test("a person begins with the link, signs out, signs in with their password, and from then on with a passkey", async () => {
  await using api = await startTestApi();
  const address = new URL(await api.app.listen({ host: "127.0.0.1", port: 0 }));
  const url = `http://localhost:${address.port}`;
  const made = await api.send("POST", "/v1/sign-in-links", {});
  const link = `${url}/sign-in${new URL(String(made.body["url"])).hash}`;
  const browser = await launchChromium();
  try {
    const page = await (await browser.newContext()).newPage();
    const complaints: string[] = [];
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("console", (message) => {
      // A refusal is reported by the browser itself as a failed request; everything else would be ours.
      if (message.type() === "error" && !/status of (401|422)/.test(message.text())) complaints.push(message.text());
    });
    // Of the forms of the page one is shown at a time.
    const form = page.locator("form:visible");
    await page.goto(`${url}/sign-in`);
    await page.getByText("Nobody has an account here yet").waitFor();
    // Pasted into the address of the page that is open: the browser loads nothing anew.
    await page.goto(link);
    await form.getByText("You are the first here").waitFor();
    assert.equal(new URL(page.url()).hash, "", "the link does not stay in the history");
    await form.getByLabel("E-mail").fill("first@example.test");
    await form.getByLabel("Name").fill("First");
    await form.getByLabel("Password").fill("password1234");
    await page.getByRole("button", { name: "Begin" }).click();
    await page.getByText("too easy to guess").waitFor();
    await form.getByLabel("Password").fill(goodPassword);
    await page.getByRole("button", { name: "Begin" }).click();
    await page.waitForURL(`${url}/`);
    assert.match(await page.locator("body").innerText(), /Services/);
    assert.equal(await page.evaluate("document.cookie"), "", "no script can read the session");

    await plugInKey(page);
    await page.goto(`${url}/sign-in`);
    await page.getByText("You are signed in as first@example.test").waitFor();
    await page.getByRole("button", { name: "Add a passkey" }).click();
    await page.getByText("The passkey is added").waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByText("You are signed out").waitFor();

    await form.getByLabel("E-mail").fill("first@example.test");
    await form.getByLabel("Password").fill("not my password at all");
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByText("This did not sign you in").waitFor();
    await form.getByLabel("Password").fill(goodPassword);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.waitForURL(`${url}/`);

    await page.goto(`${url}/sign-in`);
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByText("You are signed out").waitFor();
    await page.getByRole("button", { name: "Use a passkey" }).click();
    await page.waitForURL(`${url}/`);
    await page.goto(`${url}/sign-in`);
    await page.getByText("You are signed in as first@example.test").waitFor();
    assert.deepEqual(complaints, []);
  } finally {
    await browser.close();
  }
});

test("whoever set up codes of an app is asked for one, a wrong one does not let in, and a broken link says so", async () => {
  await using api = await startTestApi();
  const url = (await api.app.listen({ host: "127.0.0.1", port: 0 })).replace("127.0.0.1", "localhost");
  const ada = await newPerson(api, "ada@example.test");
  const enrolled = await ada.send("POST", "/v1/me/totp");
  const secret = fromBase32(String(enrolled.body["secret"]));
  const step = Math.floor(Date.now() / 30_000);
  assert.equal((await ada.send("POST", "/v1/me/totp/confirm", { code: totpCode(secret, step) })).status, 200);
  const browser = await launchChromium();
  try {
    const page = await (await browser.newContext()).newPage();
    await page.goto(`${url}/sign-in#spt_cut`);
    await page.getByText("This link is not whole").waitFor();
    await page.getByLabel("E-mail").first().fill(ada.email);
    await page.getByLabel("Password").first().fill(goodPassword);
    const signIn = page.getByRole("button", { name: "Sign in", exact: true });
    await signIn.click();
    await page.getByText("Now the code of your app").waitFor();
    await page.getByLabel("Code").fill("000000");
    await signIn.click();
    await page.getByText("This did not sign you in").waitFor();
    await page.getByLabel("Code").fill(totpCode(secret, step + 1));
    await signIn.click();
    await page.waitForURL(`${url}/`);
  } finally {
    await browser.close();
  }
});

test("the sign-in page is readable in a real browser, light, dark and narrow", async () => {
  await using api = await startTestApi();
  const url = await api.app.listen({ host: "127.0.0.1", port: 0 });
  const browser = await launchChromium();
  try {
    for (const look of looks)
      await checkPage(browser, `${url}/sign-in`, look, async (page) => {
        assert.match(await page.title(), /Sign in/);
        assert.deepEqual(await seriousViolations(page), [], look.name);
        await page.getByRole("button", { name: "Password forgotten" }).click();
        await page.getByRole("button", { name: "Send me a link" }).waitFor();
      });
  } finally {
    await browser.close();
  }
});
