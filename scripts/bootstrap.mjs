// What every script does first, in plain JavaScript for Node 20: install what the lockfile names, then hand over to the
// Node 24 that npm installed. Nothing here may import a dependency, because none may be installed yet.
import { spawn, spawnSync } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync, rmSync, statSync, writeSync } from "node:fs";
import { constants } from "node:os";
import { delimiter, dirname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url));

/** The first release with everything the server uses unbuilt: stable type stripping and argon2 in node:crypto. */
const leastNode = [24, 7];

/**
 * @typedef {{ version?: string, dev?: boolean, optional?: boolean, devOptional?: boolean, link?: boolean }} LockedPackage
 * @typedef {{ packages?: Record<string, LockedPackage> }} Lockfile
 */

/**
 * Ends the script with a message for a person. A stack trace would only bury what to do.
 * @param {string} message
 * @returns {never}
 */
export function fail(message) {
  process.stderr.write(`setpoint: ${message}\n`);
  process.exit(1);
}

/**
 * @param {string} path
 * @returns {Lockfile | undefined}
 */
function readLockfile(path) {
  try {
    return /** @type {Lockfile} */ (JSON.parse(readFileSync(path, "utf8")));
  } catch {
    return undefined;
  }
}

/**
 * The packages the lockfile wants and the installed tree lacks or has in another version. Contents are compared, not
 * file times: switching branches touches the lockfile without changing it, and must not cost an install.
 * @param {Lockfile} wanted
 * @param {Lockfile} installed
 * @param {{ development: boolean, nodePackage: string }} options
 * @returns {string[]}
 */
export function missingPackages(wanted, installed, { development, nodePackage }) {
  const missing = [];
  for (const [path, entry] of Object.entries(wanted.packages ?? {})) {
    if (path === "" || entry.link || (entry.dev && !development)) continue;
    const present = installed.packages?.[path];
    // npm leaves out optional packages made for other platforms. The Node of this platform is the one we cannot miss.
    const mayBeAbsent = (entry.optional || entry.devOptional) && path !== `node_modules/${nodePackage}`;
    if (present === undefined ? !mayBeAbsent : present.version !== entry.version) missing.push(path);
  }
  return missing;
}

/** The npm package that carries Node for this machine. */
export const nodePackage = `node-${process.platform}-${process.arch}`;

/** @param {boolean} development */
function isInstalled(development) {
  const wanted = readLockfile(join(root, "package-lock.json"));
  const installed = readLockfile(join(root, "node_modules", ".package-lock.json"));
  if (installed === undefined) return false;
  if (wanted === undefined) return true;
  return missingPackages(wanted, installed, { development, nodePackage }).length === 0;
}

/**
 * @param {string} output what npm printed
 * @returns {string} what to tell the person who started us
 */
export function explainInstallFailure(output) {
  if (/\b(EACCES|EPERM|EROFS)\b/.test(output)) {
    return `npm may not write to ${root}node_modules. Run as the owner of this folder, or clone into a folder of your own.`;
  }
  if (/\bENOSPC\b/.test(output)) return "the disk is full. Free about 500 MB and run the command again.";
  if (
    /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|SOCKET_TIMEOUT|CERT|\bE5\d\d\b/.test(
      output,
    )
  ) {
    return "npm cannot reach its package registry. Check the network, proxy and npm settings, then run the command again.";
  }
  return "npm could not install the packages that package-lock.json names. Its message is above; after fixing it, run the command again.";
}

/** The npm that is running us, or the one on the PATH: [program, first arguments]. */
function npmCommand() {
  const running = process.env.npm_execpath;
  if (running?.endsWith("npm-cli.js") && existsSync(running)) {
    return { program: process.execPath, prefix: [running] };
  }
  return { program: "npm", prefix: [] };
}

function install() {
  process.stderr.write("setpoint: installing packages with npm (needed once, about half a minute)\n");
  const hasLockfile = existsSync(join(root, "package-lock.json"));
  const { program, prefix } = npmCommand();
  const wishes = ["--include=dev", "--include=optional", "--ignore-scripts", "--no-audit", "--no-fund"];
  const quiet = ["--loglevel=error", "--fetch-retry-mintimeout=2000", "--fetch-retry-maxtimeout=10000"];
  const result = spawnSync(program, [...prefix, hasLockfile ? "ci" : "install", ...wishes, ...quiet], {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
  if (result.error !== undefined) {
    fail(`npm could not be started (${result.error.message}). Install npm 10 or later, then run the command again.`);
  }
  if (result.signal !== null) fail(`the install was interrupted by ${result.signal}. Run the command again.`);
  if (result.status !== 0) {
    // npm's message comes first; the stack traces (indented) and pages of usage that may follow help nobody here.
    const message = result.stderr.split("\n").filter((line) => /^npm error \S{2}/.test(line));
    process.stderr.write(`${message.slice(0, 12).join("\n")}\n`);
    fail(explainInstallFailure(result.stderr));
  }
}

/** @param {number} ms */
function pauseMs(ms) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** @param {number} pid */
export function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === "EPERM";
  }
}

/**
 * @param {string} path of a lock file that holds its owner's process id
 * @returns {boolean} whether its owner is gone; ten minutes count as gone too, because process ids are used again
 */
function isAbandoned(path) {
  try {
    const owner = Number(readFileSync(path, "utf8"));
    if (Date.now() - statSync(path).mtimeMs > 600_000) return true;
    return owner > 0 && !isAlive(owner);
  } catch {
    return false;
  }
}

/**
 * Takes the install lock, waiting while another start or test run of this clone installs: `npm ci` empties
 * node_modules first, so two at once would break each other. A lock whose owner is gone is taken over.
 * @param {string} path
 */
function takeInstallLock(path) {
  for (;;) {
    try {
      const file = openSync(path, "wx");
      writeSync(file, String(process.pid));
      closeSync(file);
      return;
    } catch (error) {
      const { code } = /** @type {NodeJS.ErrnoException} */ (error);
      if (code !== "EEXIST") fail(explainInstallFailure(String(code)));
    }
    if (isAbandoned(path)) rmSync(path, { force: true });
    else pauseMs(250);
  }
}

/**
 * Installs the packages when they are missing or are not those of the lockfile; otherwise does nothing, offline too.
 * @param {{ development?: boolean }} [options] development: whether the tools of `verify` and the tests are needed
 */
export function ensureInstalled({ development = true } = {}) {
  if (isInstalled(development)) return;
  const lock = join(root, ".install-lock");
  takeInstallLock(lock);
  // A failing install ends the process at once, so the lock is released there and not in a finally.
  const release = () => rmSync(lock, { force: true });
  process.once("exit", release);
  if (!isInstalled(development)) install();
  release();
  process.off("exit", release);
}

/** @param {string} version */
export function isRecentEnough(version) {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [leastMajor = 0, leastMinor = 0] = leastNode;
  return major > leastMajor || (major === leastMajor && minor >= leastMinor);
}

/** The Node that npm installed for this platform; where there is none, the one running us if it is recent enough. */
export function findNode() {
  const installed = join(root, "node_modules", nodePackage, "bin", "node");
  if (existsSync(installed)) return installed;
  if (isRecentEnough(process.versions.node)) return process.execPath;
  return fail(
    `there is no Node ${leastNode[0]} for ${process.platform}-${process.arch} in node_modules, and this is Node ${process.versions.node}. ` +
      `Install Node ${leastNode.join(".")} or later and run the command with it.`,
  );
}

/** The environment for tools: their programs first on the PATH, and `node` there is the Node we hand over to. */
export function toolEnvironment() {
  const path = [join(root, "node_modules", ".bin"), dirname(findNode()), process.env.PATH ?? ""].join(delimiter);
  return { ...process.env, PATH: path };
}

/**
 * Calls back when the npm that runs us is gone. Someone who killed npm meant the product, and an orphan would keep its
 * port and its data directory. Without npm above us a parent may leave as it likes.
 * @param {() => void} gone
 * @returns {() => void} stops watching
 */
function watchParent(gone) {
  const parent = process.ppid;
  if (process.env.npm_lifecycle_event === undefined) return () => {};
  const timer = setInterval(() => {
    if (process.ppid !== parent) gone();
  }, 500);
  return () => clearInterval(timer);
}

/**
 * Runs a program to its end, sharing the terminal, and passes on the signals that should stop it. A signal from the
 * terminal reaches the whole process group, so the program may see it twice; within a second we pass it on once.
 * @param {string} program
 * @param {string[]} args
 * @param {{ env?: NodeJS.ProcessEnv, tethered?: boolean }} [options]
 * @returns {Promise<{ code: number | null, signal: NodeJS.Signals | null }>}
 */
export function run(program, args, { env = process.env, tethered = false } = {}) {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      env,
      stdio: tethered ? ["inherit", "inherit", "inherit", "ipc"] : "inherit",
    });
    /** @type {Map<NodeJS.Signals, number>} */
    const passedOnAt = new Map();
    /** @param {NodeJS.Signals} signal */
    const passOn = (signal) => {
      if (Date.now() - (passedOnAt.get(signal) ?? 0) < 1000) return;
      passedOnAt.set(signal, Date.now());
      child.kill(signal);
    };
    /** @type {NodeJS.Signals[]} */
    const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
    for (const signal of signals) process.on(signal, passOn);
    const stopWatching = watchParent(() => passOn("SIGTERM"));
    const settle = () => {
      stopWatching();
      for (const signal of signals) process.off(signal, passOn);
    };
    child.once("error", (error) => {
      settle();
      fail(`${program.split(sep).pop()} could not be started from ${program}: ${error.message}.`);
    });
    child.once("exit", (code, signal) => {
      settle();
      resolve({ code, signal });
    });
  });
}

/**
 * Runs Node 24 with these arguments. The tether ends it when we are killed without a chance to pass that on.
 * @param {string[]} args
 * @param {{ env?: NodeJS.ProcessEnv }} [options]
 */
export function runNode(args, { env = process.env } = {}) {
  const tether = new URL("tether.mjs", import.meta.url).href;
  return run(findNode(), ["--import", tether, ...args], { env: withCompileCache(env), tethered: true });
}

/**
 * Hundreds of modules are stripped of their types and compiled at each start, which is half of the time it takes. Node keeps what
 * it made where this says, and does without where it may not write.
 * @param {NodeJS.ProcessEnv} env
 * @returns {NodeJS.ProcessEnv}
 */
function withCompileCache(env) {
  return { NODE_COMPILE_CACHE: compileCache, ...env };
}

const compileCache = join(root, "node_modules", ".cache", "setpoint-modules");

/**
 * Before a first start, while the console is built: several processes start at once then, and would all compile the same modules. What
 * goes wrong here goes wrong again at the start, where it is explained.
 */
export async function compileModules() {
  if (existsSync(compileCache)) return;
  const script = fileURLToPath(new URL("compile-modules.mjs", import.meta.url));
  const child = spawn(findNode(), [script], { env: withCompileCache(process.env), stdio: "ignore" });
  await new Promise((resolve) => child.once("error", resolve).once("exit", resolve));
}

/**
 * Ends this process the way the child ended: same exit code, or same signal.
 * @param {{ code: number | null, signal: NodeJS.Signals | null }} outcome
 * @returns {never}
 */
export function exitLike({ code, signal }) {
  if (signal !== null) process.kill(process.pid, signal);
  // A shell reports death by signal as 128 + its number; this is reached when the signal does not end us at once.
  process.exit(code ?? 128 + (signal === null ? 0 : constants.signals[signal]));
}

/**
 * Becomes Node 24 running these arguments, as nearly as a parent process can.
 * @param {string[]} args
 * @param {{ env?: NodeJS.ProcessEnv }} [options]
 */
export async function handOver(args, options = {}) {
  exitLike(await runNode(args, options));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) ensureInstalled();
