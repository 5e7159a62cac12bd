import assert from "node:assert/strict";
import type { Browser, Page } from "playwright-core";

export const looks = [
  { name: "light", width: 1280, colorScheme: "light" },
  { name: "dark", width: 1280, colorScheme: "dark" },
  { name: "narrow", width: 375, colorScheme: "light" },
] as const;

/** Opens a page as a person would and holds it to what every page must be: quiet, self-contained, and no wider than the screen. */
export async function checkPage(
  browser: Browser,
  url: string,
  look: (typeof looks)[number],
  body: (page: Page) => Promise<void>,
): Promise<void> {
  const context = await browser.newContext({
    colorScheme: look.colorScheme,
    viewport: { width: look.width, height: 900 },
  });
  try {
    const page = await context.newPage();
    const complaints: string[] = [];
    const outside: string[] = [];
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
    });
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("request", (request) => {
      if (new URL(request.url()).origin !== new URL(url).origin) outside.push(request.url());
    });
    const answer = await page.goto(url, { waitUntil: "load" });
    assert.equal(answer?.status(), 200);
    assert.match(answer?.headers()["content-security-policy"] ?? "", /default-src 'none'/);
    await body(page);
    const overflow = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
    assert.equal(overflow, 0, "nothing sticks out of the screen");
    assert.deepEqual(complaints, []);
    assert.deepEqual(outside, [], "no request leaves the server");
  } finally {
    await context.close();
  }
}
