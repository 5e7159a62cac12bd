import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

/** Without these Chromium looks for its maker at every start, and as root it needs its sandbox off. */
const quiet = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** The machine's own Chromium if there is one, else the one that ships inside an npm package. */
export async function launchChromium(): Promise<Browser> {
  const installed = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
  if (installed !== undefined) return await chromium.launch({ executablePath: installed, args: quiet });
  const { default: packaged } = await import("@sparticuz/chromium");
  return await chromium.launch({ executablePath: await packaged.executablePath(), args: [...packaged.args, ...quiet] });
}
