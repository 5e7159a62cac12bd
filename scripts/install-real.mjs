// Installs the real counterparts that are missing, from Debian's packages, where we are allowed to. What could not be
// installed is said by name; the tests that need it then skip by that name.
import { spawnSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { findProgram } from "./find-program.mjs";
import { counterparts } from "./real-packages.mjs";

// Debian starts a server when it is installed. The tests start their own with their own settings, so for the length of
// the install a policy refuses that; a policy that was already there is left alone.
const installScript = `
set -eu
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  trap 'rm -f "$policy"' EXIT
  trap 'exit 130' INT TERM
  printf '#!/bin/sh\\nexit 101\\n' > "$policy"
  chmod 755 "$policy"
fi
DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get -q -y \\
  -o Acquire::http::Timeout=30 -o Acquire::Retries=2 -o DPkg::Lock::Timeout=120 \\
  install --no-install-recommends "$@"
`;

/** @returns {string[] | undefined} what to put before a command that needs root; undefined when we may not */
function asRoot() {
  if (process.getuid?.() === 0) return [];
  const sudo = findProgram("sudo");
  if (sudo === undefined) return undefined;
  return spawnSync(sudo, ["-n", "true"], { stdio: "ignore" }).status === 0 ? [sudo, "-n"] : undefined;
}

/**
 * @param {string[]} command
 * @returns {string | undefined} the end of what it printed, when it failed
 */
function failureOf(command) {
  const [program = "", ...args] = command;
  const result = spawnSync(program, args, {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    maxBuffer: 64 * 1024 * 1024,
  });
  if (result.status === 0) return undefined;
  const printed = `${result.stdout ?? ""}${result.stderr ?? ""}`.trim().split("\n");
  return result.error?.message ?? printed.slice(-3).join(" ");
}

/** @param {import("./real-packages.mjs").Counterpart} counterpart */
function isThere(counterpart) {
  return (
    counterpart.programs.some((program) => findProgram(program) !== undefined) ||
    (counterpart.files ?? []).some((file) => existsSync(file))
  );
}

/** Clients and checkers that come as packages of npm, in a folder of their own so that nobody else installs them. */
export function installPeers() {
  const folder = fileURLToPath(new URL("../test/real/peers/", import.meta.url));
  const lock = statSync(`${folder}package-lock.json`);
  const done = `${folder}node_modules/.package-lock.json`;
  if (existsSync(done) && statSync(done).mtimeMs >= lock.mtimeMs) return;
  const words = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  const result = spawnSync("npm", words, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  const said = `${result.stdout ?? ""}${result.stderr ?? ""}`.trim().split("\n").slice(-3).join(" ");
  process.stdout.write(
    result.status === 0 ? "installed test/real/peers\n" : `could not install test/real/peers: ${said}\n`,
  );
}

export function installCounterparts() {
  const missing = counterparts.filter((counterpart) => !isThere(counterpart));
  if (missing.length === 0) return;
  const prefix = asRoot();
  const reason =
    findProgram("apt-get") === undefined
      ? "there is no apt-get here"
      : prefix === undefined
        ? "we are not root and sudo does not work without a password"
        : undefined;
  if (reason === undefined && prefix !== undefined) {
    const failure = failureOf([...prefix, "apt-get", "-q", "-o", "Acquire::http::Timeout=30", "update"]);
    if (failure !== undefined) process.stdout.write(`apt-get update failed: ${failure}\n`);
  }
  for (const { name, packages } of missing) {
    const failure = reason ?? failureOf([...(prefix ?? []), "sh", "-c", installScript, "install", ...packages]);
    process.stdout.write(
      failure === undefined
        ? `installed ${name} (${packages.join(", ")})\n`
        : `could not install ${name} (${packages.join(", ")}): ${failure}\n`,
    );
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  installCounterparts();
  installPeers();
}
