// Builds the console into console/dist when its sources changed since the last build, and does nothing otherwise. Plain
// JavaScript, because `npm start` asks for it before it hands over to Node 24.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { findNode, root, run } from "./bootstrap.mjs";

const folder = join(root, "console");
const dist = join(folder, "dist");
/** Holds the hash of what dist was built from; written last, so that a build that broke off is made again. */
const stamp = join(dist, "sources.txt");

/**
 * @param {string} path
 * @returns {string[]}
 */
function filesUnder(path) {
  return readdirSync(path, { withFileTypes: true })
    .flatMap((entry) => (entry.isDirectory() ? filesUnder(join(path, entry.name)) : [join(path, entry.name)]))
    .sort();
}

/** Contents are compared, not times: switching branches touches files without changing them. */
function sourcesHash() {
  const hash = createHash("sha256");
  const schemas = join(root, "src", "control-api", "schemas");
  const files = [join(folder, "index.html"), join(folder, "vite.config.ts"), join(root, "package-lock.json")];
  for (const file of [...files, ...filesUnder(join(folder, "src")), ...filesUnder(schemas)]) {
    hash.update(file.slice(root.length)).update("\0").update(readFileSync(file)).update("\0");
  }
  return hash.digest("hex");
}

/** Whether the tools of the build are installed; a release brings the built console instead. */
function canBuild() {
  return existsSync(join(root, "node_modules", "vite", "package.json")) && existsSync(join(folder, "src"));
}

/**
 * @param {{ say?: (line: string) => void }} [options]
 * @returns {Promise<boolean>} whether there is a built console now
 */
export async function ensureConsole({ say = (line) => process.stderr.write(`setpoint: ${line}\n`) } = {}) {
  if (!canBuild()) return existsSync(stamp);
  const wanted = sourcesHash();
  const isCurrent = () => existsSync(stamp) && readFileSync(stamp, "utf8").trim() === wanted;
  if (isCurrent()) return true;
  say("building the console (after a change of its sources, a few seconds)");
  // Into a folder of its own and then put in place: whoever serves the old one goes on doing so until then.
  const made = join(folder, `.dist-${process.pid}`);
  const vite = join(root, "node_modules", "vite", "bin", "vite.js");
  const args = [
    vite,
    "build",
    folder,
    "--config",
    join(folder, "vite.config.ts"),
    "--outDir",
    made,
    "--logLevel",
    "warn",
  ];
  const outcome = await run(findNode(), args);
  if (outcome.code !== 0) {
    rmSync(made, { recursive: true, force: true });
    if (isCurrent()) return true;
    say("the console could not be built; its message is above. The status page is served instead.");
    return false;
  }
  writeFileSync(join(made, "sources.txt"), `${wanted}\n`);
  mkdirSync(folder, { recursive: true });
  const old = join(folder, `.dist-${process.pid}-old`);
  if (existsSync(dist)) renameSync(dist, old);
  renameSync(made, dist);
  rmSync(old, { recursive: true, force: true });
  return true;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  process.exit((await ensureConsole()) ? 0 : 1);
}
