import { createReadStream, createWriteStream, existsSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir, userInfo } from "node:os";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createBrotliDecompress } from "node:zlib";
import { type Browser, chromium } from "playwright-core";

/**
 * Without these Chromium looks for its maker at every start, and as root it needs its sandbox off. The flags that the package
 * recommends are not among them: they are for functions in a cloud, put everything into one process, which ends with the first
 * context that is closed, and switch off the very rules of the web that the tests are about.
 */
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
  return await chromium.launch({ executablePath: installed ?? (await unpackedChromium()), args: quiet });
}

/** Unpacked once per machine, and put in place when it is whole: test files run at once, and none may start the half of another. */
async function unpackedChromium(): Promise<string> {
  const { resolve } = createRequire(import.meta.url);
  const folder = join(dirname(resolve("@sparticuz/chromium")), "..");
  const { version } = createRequire(import.meta.url)(join(folder, "package.json")) as { readonly version: string };
  const unpacked = join(tmpdir(), `setpoint-chromium-${version}-${userInfo().uid}`);
  if (existsSync(unpacked)) return unpacked;
  const half = `${unpacked}.${process.pid}`;
  try {
    await pipeline(
      createReadStream(join(folder, "bin", "chromium.br")),
      createBrotliDecompress(),
      createWriteStream(half, { mode: 0o700 }),
    );
    await rename(half, unpacked);
  } finally {
    await rm(half, { force: true });
  }
  return unpacked;
}
