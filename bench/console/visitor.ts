import type { CDPSession, Page } from "playwright-core";
import { launchChromium } from "../../test/support/chromium.ts";
import { operatorToken, organization } from "../api/geometry.ts";
import { pageScript } from "./page-script.ts";

const viewport = { width: 1280, height: 900 };
/** A page that takes longer than this is broken, not slow. */
const patienceMs = 60_000;

/** One person with one browser, signed in. */
export class Visitor {
  readonly #page: Page;
  readonly #tools: CDPSession;
  readonly #origin: string;

  private constructor(page: Page, tools: CDPSession, origin: string) {
    this.#page = page;
    this.#tools = tools;
    this.#origin = origin;
  }

  static async arrive(origin: string, cleanup: AsyncDisposableStack): Promise<Visitor> {
    const browser = await launchChromium();
    cleanup.defer(() => browser.close());
    const context = await browser.newContext({ viewport });
    context.setDefaultTimeout(patienceMs);
    await context.addInitScript(pageScript);
    const page = await context.newPage();
    await signIn(page, origin);
    const tools = await context.newCDPSession(page);
    await tools.send("Performance.enable", { timeDomain: "timeTicks" });
    return new Visitor(page, tools, origin);
  }

  /** Milliseconds from asking for the address until this is on the screen. */
  async open(path: string, selector: string): Promise<number> {
    await this.#page.goto(`${this.#origin}/o/${organization}/${path}`, { waitUntil: "commit" });
    return (await this.#page.evaluate(`bench.sinceAsked(${JSON.stringify(selector)})`)) as number;
  }

  async evaluate<Answer>(expression: string): Promise<Answer> {
    return (await this.#page.evaluate(expression)) as Answer;
  }

  /** How much of the time the page's main thread is busy, in percent. */
  async busyPercent(forMs: number): Promise<number> {
    const before = await this.#metrics();
    await this.#page.waitForTimeout(forMs);
    const after = await this.#metrics();
    return ((after.taskSeconds - before.taskSeconds) / (after.atSeconds - before.atSeconds)) * 100;
  }

  /** Turns the wheel over the middle of the page for a while, as fast as the page takes it. */
  async wheel(forMs: number): Promise<void> {
    const { width, height } = viewport;
    await this.#page.mouse.move(width / 2, height / 2);
    const endMs = performance.now() + forMs;
    for (let turn = 0; performance.now() < endMs; turn++)
      await this.#page.mouse.wheel(turn % 40 < 20 ? 40 : -40, turn % 20 < 10 ? 30 : -30);
  }

  async #metrics(): Promise<{ readonly taskSeconds: number; readonly atSeconds: number }> {
    const { metrics } = await this.#tools.send("Performance.getMetrics");
    const named = new Map(metrics.map(({ name, value }) => [name, value]));
    return { taskSeconds: named.get("TaskDuration") ?? Number.NaN, atSeconds: named.get("Timestamp") ?? Number.NaN };
  }
}

async function signIn(page: Page, origin: string): Promise<void> {
  const answer = await fetch(`${origin}/v1/sign-in-links`, {
    method: "POST",
    headers: { authorization: `Bearer ${operatorToken}`, "content-type": "application/json" },
    body: "{}",
  });
  const { url } = (await answer.json()) as { readonly url: string };
  await page.goto(`${origin}/sign-in${new URL(url).hash}`);
  const form = page.locator("form:visible");
  await form.getByLabel("E-mail").fill("bench@example.test");
  await form.getByLabel("Name").fill("Bench");
  await form.getByLabel("Password").fill("correct horse battery staple");
  await form.getByRole("button", { name: "Begin" }).click();
  await page.waitForURL(/\/o\/[^/]+\/now$/);
}
