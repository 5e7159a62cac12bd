// Which test files belong to which command. The tidy test reads this too, so that no test file is left without a runner.
import { existsSync, readdirSync, statSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import { fail, root } from "./bootstrap.mjs";

/** Folders under test/ that have a command of their own; every other folder there belongs to `npm test`. */
const ownCommand = { full: "test/full", real: "test/real" };

/** @typedef {"fast" | "full" | "real"} Suite */

/**
 * @param {string} path from the repository's root, with forward slashes
 * @returns {Suite | undefined} undefined when no command runs this file
 */
export function suiteOf(path) {
  if (!path.startsWith("test/") || !path.endsWith(".test.ts")) return undefined;
  if (path.startsWith(`${ownCommand.full}/`)) return "full";
  if (path.startsWith(`${ownCommand.real}/`)) return "real";
  return "fast";
}

/**
 * @param {string} folder absolute
 * @returns {string[]} absolute paths of the test files in it, sorted
 */
function testFilesUnder(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return entry.name === "node_modules" ? [] : testFilesUnder(path);
      return entry.name.endsWith(".test.ts") ? [path] : [];
    })
    .toSorted();
}

/**
 * Splits a command line into flags for node:test and the test files to run: those named, or the whole suite.
 * @param {Suite} suite
 * @param {string[]} args
 * @returns {{ flags: string[], files: string[] }}
 */
export function selectTests(suite, args) {
  const flags = args.filter((argument) => argument.startsWith("-"));
  const named = args.filter((argument) => !argument.startsWith("-"));
  const files = named.flatMap((name) => {
    const path = resolve(name);
    if (!existsSync(path)) fail(`there is no test file or folder ${name}. Flags are written --flag=value.`);
    return statSync(path).isDirectory() ? testFilesUnder(path) : [path];
  });
  if (named.length > 0 && files.length === 0) fail(`there is no file *.test.ts under ${named.join(", ")}.`);
  if (named.length > 0) return { flags, files };
  const all = testFilesUnder(join(root, "test")).filter(
    (path) => suiteOf(relative(root, path).split(sep).join("/")) === suite,
  );
  return { flags, files: all };
}
