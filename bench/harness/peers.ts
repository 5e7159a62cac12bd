import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Progress } from "./progress.ts";

const folder = fileURLToPath(new URL("../peers/", import.meta.url));

/** Other people's queues, which only benchmarks need: a package of its own, installed when one is first asked for. */
export async function installPeers(progress: Progress): Promise<void> {
  if (isInstalled()) return;
  progress.say("installing the peers under bench/peers");
  const npm = spawn("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: folder,
    stdio: ["ignore", process.stderr, process.stderr],
  });
  const [code] = (await once(npm, "exit")) as [number | null];
  if (code !== 0)
    throw new Error(
      `The peers could not be installed (npm ci in bench/peers ended with ${code}). ` +
        "They are needed for comparison; check the network and run the benchmark again.",
    );
}

/** Exactly the locked versions, so that a figure of today can be compared with one of last year. */
function isInstalled(): boolean {
  const lock = readPackages(`${folder}package-lock.json`);
  return Object.entries(lock).every(([path, { version, optional }]) => {
    if (path === "" || optional === true) return true;
    const manifest = `${folder}${path}/package.json`;
    if (!existsSync(manifest)) return false;
    return (JSON.parse(readFileSync(manifest, "utf8")) as { version?: string }).version === version;
  });
}

function readPackages(file: string): Record<string, { readonly version?: string; readonly optional?: boolean }> {
  return (JSON.parse(readFileSync(file, "utf8")) as { packages: ReturnType<typeof readPackages> }).packages;
}
