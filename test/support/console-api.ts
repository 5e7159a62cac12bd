import { readConsole } from "../../src/compose/console-files.ts";
import type { Page } from "playwright-core";
import { startTestApi, type TestApi } from "./api.ts";
import { ada, followLink, requireConsole, type ServedConsole } from "./console.ts";

/** The console over a Control API without loops: what a page shows is what the test declared, and it stays so. */
export interface ConsoleApi extends ServedConsole, AsyncDisposable {
  readonly api: TestApi;
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
  const isKnown = people.length > 0;
  const made = await api.send("POST", "/v1/sign-in-links", isKnown ? { email: ada.email } : {});
  await followLink(page, `${url}/sign-in${new URL(String(made.body["url"])).hash}`, isKnown);
}
