import { posix } from "node:path";
import ts from "typescript6";
import { suiteOf } from "../../scripts/suites.mjs";
import { type Finding, importsOf, isCode, parse, type Repository, resolveRelative, walk } from "./source.ts";

/** What ships starts here. */
const shippedEntries = ["src/main.ts", "src/index.ts", "src/cli/setpoint.ts"];

/** Files that are read by listing their folder. */
const readByListing = /^src\/store\/migrations\//;

/**
 * A file is alive when it can be reached: what ships, from the entry points that ship (being used by a test is not
 * enough); everything else, from a test that some command runs, from a package script, or from CI.
 */
export function deadFiles(repository: Repository): Finding[] {
  const shipped = reach(repository, shippedEntries);
  const all = reach(repository, [...shipped, ...toolEntries(repository)]);
  return [...repository.keys()]
    .filter((path) => isWatched(path) && !(path.startsWith("src/") ? shipped : all).has(path))
    .map((path) => ({ path, line: 1, message: "a dead file: nothing that runs leads here" }));
}

function isWatched(path: string): boolean {
  if (readByListing.test(path)) return false;
  // Whatever lies in src ships, so a stray asset there is as dead as a stray module.
  if (path.startsWith("src/")) return !path.endsWith(".md");
  return isCode(path) && /^(test|bench|scripts|bin|examples)\//.test(path);
}

function toolEntries(repository: Repository): string[] {
  const named = [repository.get("package.json") ?? "", repository.get(".ci/run") ?? ""]
    .flatMap((text) => text.match(/[\w./-]+\.(ts|mjs)\b/g) ?? [])
    .map((path) => posix.normalize(path));
  const tests = [...repository.keys()].filter((path) => suiteOf(path) !== undefined);
  // An example may be reached through a document instead of a program.
  const documents = [...repository].filter(([path]) => path.endsWith(".md")).map(([, text]) => text);
  const examples = [...repository.keys()].filter(
    (path) => path.startsWith("examples/") && documents.some((text) => text.includes(path)),
  );
  return [...named, ...tests, ...examples];
}

function reach(repository: Repository, entries: readonly string[]): Set<string> {
  const reached = new Set<string>();
  const next = entries.filter((path) => repository.has(path));
  for (let path = next.pop(); path !== undefined; path = next.pop()) {
    if (reached.has(path)) continue;
    reached.add(path);
    if (isCode(path)) next.push(...leadsTo(path, repository));
  }
  return reached;
}

/** The files a module imports, and those it names in a string: a child process, a worker, a page, a script. */
function leadsTo(path: string, repository: Repository): string[] {
  const file = parse(path, repository.get(path) ?? "");
  const imported = importsOf(file).map(({ specifier }) =>
    specifier === "setpoint" ? "src/index.ts" : resolveRelative(path, specifier),
  );
  const named: string[] = [];
  walk(file, (node) => {
    if (ts.isStringLiteralLike(node)) named.push(...filesNamed(path, node.text, repository));
    // `./cases/${name}.ts` may be any file of that folder.
    if (ts.isTemplateHead(node) && /^\.{1,2}\/.*\//.test(node.text)) {
      named.push(...filesNamed(path, node.text.replace(/[^/]*$/, ""), repository));
    }
  });
  return [...imported.filter((target) => target !== undefined), ...named].filter((target) => repository.has(target));
}

function filesNamed(path: string, text: string, repository: Repository): string[] {
  if (!/^[\w./-]+$/.test(text)) return [];
  const near = posix.normalize(posix.join(posix.dirname(path), text));
  if (/^\.{1,2}\/.*\/$/.test(text)) return [...repository.keys()].filter((name) => name.startsWith(near));
  return [near, posix.normalize(text)].filter((target) => /\.\w+$/.test(target) && repository.has(target));
}
