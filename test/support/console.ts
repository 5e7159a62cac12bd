import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Browser, BrowserContext, Locator, Page } from "playwright-core";
import { ensureConsole } from "../../scripts/console-build.mjs";
import type { Product } from "./product.ts";

export const ada = { email: "ada@example.test", name: "Ada", password: "correct horse battery staple" };

/** The console as it is in this clone, built where it was not. */
export async function requireConsole(): Promise<void> {
  assert.ok(await ensureConsole({ say: () => {} }), "the console could not be built");
}

/** What a page must never do: complain, break its own policy, or ask anybody else. */
export class Complaints {
  readonly found: string[] = [];

  /** Answers that a test provokes, such as a refusal, are named by their status. */
  constructor(page: Page, origin: string, expected = /^$/) {
    page.on("console", (message) => {
      const text = message.text();
      if ((message.type() === "error" || message.type() === "warning") && !expected.test(text)) this.found.push(text);
    });
    page.on("pageerror", (error) => this.found.push(error.message));
    page.on("request", (request) => {
      const { protocol, origin: asked } = new URL(request.url());
      if (protocol.startsWith("http") && asked !== origin) this.found.push(`asked ${request.url()}`);
    });
  }

  requireNone(): void {
    assert.deepEqual(this.found, []);
  }
}

/** Passkeys and cookies know the product as localhost. */
export function consoleUrl(product: Product): string {
  return product.url.replace("127.0.0.1", "localhost");
}

/** One call as the operator of the machine. */
export async function operatorCall(product: Product, method: string, path: string, body?: unknown): Promise<unknown> {
  const token = readFileSync(join(product.dataDirectory, "operator.token"), "utf8").trim();
  const answer = await fetch(`${product.url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(method === "DELETE" || method === "PUT" ? { "if-match": "*" } : {}),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${text}`);
  return text === "" ? undefined : JSON.parse(text);
}

/** Follows a one-time link: the first time Ada says who she is, from then on it signs her in. */
export async function signIn(page: Page, product: Product): Promise<void> {
  const people = (await operatorCall(product, "GET", "/v1/people")) as { items: readonly unknown[] };
  const isKnown = people.items.length > 0;
  const made = (await operatorCall(product, "POST", "/v1/sign-in-links", isKnown ? { email: ada.email } : {})) as {
    url: string;
  };
  await followLink(page, `${consoleUrl(product)}/sign-in${new URL(made.url).hash}`, isKnown);
}

export async function followLink(page: Page, link: string, isKnown: boolean): Promise<void> {
  await page.goto(link);
  const form = page.locator("form:visible");
  if (!isKnown) {
    await form.getByLabel("E-mail").fill(ada.email);
    await form.getByLabel("Name").fill(ada.name);
    await form.getByLabel("Password").fill(ada.password);
  }
  await form.getByRole("button", { name: isKnown ? "Sign in" : "Begin" }).click();
  await page.waitForURL(/\/o\/[^/]+\/now$/);
  await page.getByRole("heading", { name: "Now", level: 1 }).waitFor();
}

/** A console somebody can sign in to, whoever serves it. */
export interface ServedConsole {
  /** As browsers know it. */
  readonly url: string;
  signIn(page: Page): Promise<void>;
}

export function consoleOf(product: Product): ServedConsole {
  return { url: consoleUrl(product), signIn: (page) => signIn(page, product) };
}

/** Does the work on a page of somebody who is signed in, and fails on whatever the page complained of meanwhile. */
export async function withSignedInPage(
  visit: {
    readonly browser: Browser;
    readonly console: ServedConsole;
    readonly look: Look;
    /** Answers that the work provokes; see Complaints. */
    readonly expected?: RegExp;
  },
  work: (page: Page) => Promise<void>,
): Promise<void> {
  const context = await openContext(visit.browser, visit.look);
  try {
    const page = await context.newPage();
    const complaints = new Complaints(page, visit.console.url, visit.expected);
    await visit.console.signIn(page);
    await work(page);
    complaints.requireNone();
  } finally {
    await context.close();
  }
}

export interface Look {
  readonly name: string;
  readonly width: number;
  readonly colorScheme: "light" | "dark";
}

export async function openContext(browser: Browser, look: Look): Promise<BrowserContext> {
  const height = look.width < 600 ? 812 : 900;
  const context = await browser.newContext({
    colorScheme: look.colorScheme,
    viewport: { width: look.width, height },
  });
  // These tests run beside others on two cores: what is awaited comes, but not always soon.
  context.setDefaultTimeout(90_000);
  return context;
}

/** Presses Tab until it has the focus: whoever has no mouse must get there. */
export async function tabTo(page: Page, target: Locator, key: "Tab" | "Shift+Tab" = "Tab"): Promise<void> {
  await target.waitFor();
  const focused = target.and(page.locator(":focus"));
  for (let presses = 0; presses < 400; presses++) {
    if ((await focused.count()) === 1) return;
    await page.keyboard.press(key);
  }
  throw new Error(`${String(target)} cannot be reached with ${key}`);
}

/** Ends every pause there is: whoever stopped the product for a test lets it go on for the next. */
export async function endPauses(product: Product, organization: string): Promise<void> {
  const path = `/v1/organizations/${organization}/pauses`;
  const { items } = (await operatorCall(product, "GET", path)) as { items: { id: string; scope: string }[] };
  if (items.some(({ scope }) => scope === "platform")) await operatorCall(product, "DELETE", "/v1/freeze");
  for (const { id, scope } of items) if (scope !== "platform") await operatorCall(product, "DELETE", `${path}/${id}`);
}

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What axe finds serious or critical, in a sentence each. */
export async function seriousViolations(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe);
  const found = await page.evaluate(
    "axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'] }).then(({ violations }) => violations.map(({ id, impact, help, nodes }) => ({ id, impact, help, nodes: nodes.slice(0, 3).map(({ html, failureSummary }) => html.slice(0, 200) + ' ' + failureSummary) })))",
  );
  const violations = found as { id: string; impact: string; help: string; nodes: string[] }[];
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, help, nodes }) => `${id}: ${help}\n${nodes.join("\n")}`);
}
