// Writes pictures of every page of the console into docs/screenshots: light, dark and narrow, of a demo in which things went wrong.
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { launchChromium } from "../test/support/chromium.ts";
import { consoleLooks, consolePages, pagesOfThings } from "../test/support/console-pages.ts";
import { consoleUrl, openContext, operatorCall, requireConsole, signIn } from "../test/support/console.ts";
import { startDemo, untilDemoStands, untilHostsStand } from "../test/support/demo.ts";
import { productFolder } from "../test/support/product-folder.ts";
import { until } from "../test/support/product.ts";

const folder = process.argv[2] ?? fileURLToPath(new URL("../docs/screenshots", import.meta.url));
mkdirSync(folder, { recursive: true });
await requireConsole();
const dataDirectory = productFolder("pictures");
const product = await startDemo(dataDirectory);
const browser = await launchChromium();
try {
  await product.ready();
  const held = async () =>
    (await operatorCall(product, "GET", "/v1/organizations/demo/held-changes")) as {
      items: { id: string; guard: string; blastRadius: { actions: Record<string, number> } }[];
    };
  await untilDemoStands(product);
  await untilHostsStand(product);
  for (const id of ["foreign-record", "mass-delete", "killed-worker"])
    await operatorCall(product, "POST", `/demo/scenarios/${id}`);
  const waiting = await until(
    "the deletes to be held",
    held,
    ({ items }) => items.some(({ blastRadius }) => blastRadius.actions["delete"] === 14),
    900,
  );
  const deletes = waiting.items.find(({ blastRadius }) => blastRadius.actions["delete"] === 14);
  const operations = await until(
    "the host whose worker was killed",
    async () =>
      (await operatorCall(product, "GET", "/v1/organizations/demo/operations")) as {
        items: { id: string; state: string; resource: { name: string } }[];
      },
    ({ items }) => items.some(({ state, resource }) => state === "succeeded" && resource.name.startsWith("spare-")),
    1_200,
  );
  const made = operations.items.find(({ resource }) => resource.name.startsWith("spare-"));
  const ids: Readonly<Record<string, string | undefined>> = { "held-change": deletes?.id, operation: made?.id };
  const things = pagesOfThings.map(({ name, path, shows }) => ({ name, path: path(ids[name] ?? ""), shows }));
  const pages = [...consolePages, ...things];
  for (const look of consoleLooks) {
    const context = await openContext(browser, look);
    const page = await context.newPage();
    await signIn(page, product);
    for (const { name, path, shows } of pages) {
      await page.goto(`${consoleUrl(product)}${path}`);
      await page.getByText(shows).first().waitFor();
      await page.getByText("live", { exact: true }).waitFor();
      await page.waitForTimeout(400);
      await page.screenshot({ path: join(folder, `${name}-${look.name}.png`) });
    }
    await page.getByRole("button", { name: "Break something…" }).click();
    await page.getByText("Fourteen records are deleted at once").waitFor();
    await page.screenshot({ path: join(folder, `tray-${look.name}.png`) });
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Freeze…" }).click();
    await page.getByLabel("Why").waitFor();
    await page.screenshot({ path: join(folder, `freeze-${look.name}.png`) });
    await context.clearCookies();
    await page.goto(`${consoleUrl(product)}/sign-in`);
    await page.waitForTimeout(500);
    await page.screenshot({ path: join(folder, `sign-in-${look.name}.png`) });
    await context.close();
  }
  console.log(`wrote ${(pages.length + 3) * consoleLooks.length} pictures to ${folder}`);
} finally {
  await browser.close();
  await product.end("SIGTERM");
  rmSync(dataDirectory, { recursive: true, force: true });
}
