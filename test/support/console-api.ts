import { readConsole } from "../../src/compose/console-files.ts";
import type { Page } from "playwright-core";
import { startTestApi, type TestApi } from "./api.ts";
import { ada, requireConsole } from "./console.ts";

/** The console over a Control API without loops: what a page shows is what the test declared, and it stays so. */
export interface ConsoleApi extends AsyncDisposable {
  readonly api: TestApi;
  /** As browsers know it. */
  readonly url: string;
  /** Follows a one-time link: the first time Ada says who she is, from then on it signs her in. */
  signIn(page: Page): Promise<void>;
}

export async function startConsoleApi(): Promise<ConsoleApi> {
  await requireConsole();
  const api = await startTestApi({ console: readConsole() });
  const url = (await api.app.listen({ host: "127.0.0.1", port: 0 })).replace("127.0.0.1", "localhost");
  return {
    api,
    url,
    signIn: (page) => signIn(api, url, page),
    [Symbol.asyncDispose]: () => api[Symbol.asyncDispose](),
  };
}

async function signIn(api: TestApi, url: string, page: Page): Promise<void> {
  const people = (await api.send("GET", "/v1/people")).body["items"] as readonly unknown[];
  const known = people.length > 0;
  const made = await api.send("POST", "/v1/sign-in-links", known ? { email: ada.email } : {});
  await page.goto(`${url}/sign-in${new URL(String(made.body["url"])).hash}`);
  const form = page.locator("form:visible");
  if (!known) {
    await form.getByLabel("E-mail").fill(ada.email);
    await form.getByLabel("Name").fill(ada.name);
    await form.getByLabel("Password").fill(ada.password);
  }
  await form.getByRole("button", { name: known ? "Sign in" : "Begin" }).click();
  await page.waitForURL(/\/o\/[^/]+\/now$/);
}
