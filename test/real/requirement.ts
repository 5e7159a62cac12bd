import { existsSync } from "node:fs";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { findProgram } from "../../scripts/find-program.mjs";
import { counterparts } from "../../scripts/real-packages.mjs";

/**
 * Finds the program of a real counterpart. When it is missing the test is skipped by the counterpart's name and the
 * caller returns; with SETPOINT_REQUIRE_REAL=1 it fails instead, so that CI cannot pass by testing nothing.
 *
 * @param programs names or paths, any one of which will do; those that test:real installs when none is given
 */
export function requireReal(t: TestContext, name: string, ...programs: string[]): string | undefined {
  const known = counterparts.find((counterpart) => counterpart.name === name);
  const wanted = programs.length > 0 ? programs : [...(known?.programs ?? []), ...(known?.files ?? [])];
  if (wanted.length === 0) {
    throw new Error(`No program is known for ${name}: name one, or list ${name} in scripts/real-packages.mjs.`);
  }
  for (const program of wanted) {
    const path = findProgram(program);
    if (path !== undefined) return path;
    if (known?.files?.includes(program) === true && existsSync(program)) return program;
  }
  const packages = known === undefined ? "" : `; install ${known.packages.join(", ")}`;
  const reason = `${name} is not installed (looked for ${wanted.join(", ")}${packages})`;
  return missing(t, reason);
}

/** A file of one of the packages under test/real/peers, which test:real installs. */
export function requirePeer(t: TestContext, file: string): string | undefined {
  const path = fileURLToPath(new URL(`peers/node_modules/${file}`, import.meta.url));
  return existsSync(path) ? path : missing(t, `${file} is not installed (npm ci in test/real/peers)`);
}

function missing(t: TestContext, reason: string): undefined {
  if (process.env["SETPOINT_REQUIRE_REAL"] === "1") throw new Error(`${reason}, and SETPOINT_REQUIRE_REAL=1 needs it.`);
  t.skip(reason);
  return undefined;
}
