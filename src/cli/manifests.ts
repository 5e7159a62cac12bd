import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Document, isNode, LineCounter, parseAllDocuments } from "yaml";
import { type Manifest, manifestSchema } from "../control-api/schemas/resource.ts";
import { thrownMessage, usageError } from "./cli-error.ts";
import type { ScopeOptions } from "./scope-path.ts";
import type { CliWorld } from "./world.ts";

/** One document of a file, with where it came from: an error about a field can then name its line. */
export interface LoadedManifest {
  readonly manifest: Manifest;
  readonly scope: ScopeOptions;
  /** file:line:column of a JSON pointer inside the document. */
  readonly where: (pointer: string) => string;
}

/** Fields that `get` shows and `apply` leaves to the server. */
const readOnlyMetadata = [
  "uid",
  "generation",
  "revision",
  "statusRevision",
  "declaredBy",
  "declaredAt",
  "deletion",
  "owners",
];
const scopeMetadata = ["organization", "project", "workspace"] as const;

/** Reads every file whole before anything is sent: a mistake in the last document must not leave the first half applied. */
export async function loadManifests(world: CliWorld, paths: readonly string[]): Promise<readonly LoadedManifest[]> {
  const problems: string[] = [];
  const loaded: LoadedManifest[] = [];
  for (const { name, text } of await readAll(world, paths)) {
    const lines = new LineCounter();
    // Anchors can blow a small file up to gigabytes; nothing here needs more than a few.
    const documents = parseAllDocuments(text, {
      lineCounter: lines,
      prettyErrors: false,
      uniqueKeys: true,
      strict: true,
    });
    if (!Array.isArray(documents)) continue;
    for (const document of documents) {
      const where = locator(name, document, lines);
      const broken = [...document.errors, ...document.warnings];
      if (broken.length > 0)
        problems.push(...broken.map((error) => `${position(name, lines, error.pos[0])}: ${error.message}`));
      else loadOne(document, where, loaded, problems);
    }
  }
  if (problems.length > 0)
    throw usageError(`nothing was applied:\n${problems.map((problem) => `  ${problem}`).join("\n")}`);
  if (loaded.length === 0) throw usageError(`there is no manifest in ${paths.join(", ")}`);
  return loaded;
}

function loadOne(
  document: Document.Parsed,
  where: (pointer: string) => string,
  loaded: LoadedManifest[],
  problems: string[],
): void {
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 100 });
  } catch (thrown) {
    problems.push(`${where("")}: ${thrownMessage(thrown)}`);
    return;
  }
  // A document with nothing in it, as between two separators, is no mistake.
  if (value === null) return;
  const { body, scope } = withoutServerFields(value);
  const parsed = manifestSchema.safeParse(body);
  if (parsed.success) {
    loaded.push({ manifest: parsed.data, scope, where });
    return;
  }
  for (const issue of parsed.error.issues) {
    const keys = issue.code === "unrecognized_keys" ? issue.keys : [];
    const pointer = [...issue.path, ...keys.slice(0, 1)].map((part) => `/${String(part)}`).join("");
    problems.push(
      `${where(pointer)}: ${pointer || "/"}: ${keys.length > 0 ? `unknown field${keys.length > 1 ? "s" : ""} ${keys.join(", ")}` : issue.message}`,
    );
  }
}

/** What `get -o yaml` printed can be applied again: the server's own fields are left out, the scope becomes the path. */
function withoutServerFields(value: unknown): { readonly body: unknown; readonly scope: ScopeOptions } {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return { body: value, scope: {} };
  const body: Record<string, unknown> = Object.fromEntries(Object.entries(value).filter(([name]) => name !== "status"));
  const metadata = body["metadata"];
  if (typeof metadata !== "object" || metadata === null) return { body, scope: {} };
  const fields = metadata as Record<string, unknown>;
  const dropped = new Set<string>([...readOnlyMetadata, ...scopeMetadata]);
  const kept = Object.fromEntries(Object.entries(fields).filter(([name]) => !dropped.has(name)));
  const scope = Object.fromEntries(
    scopeMetadata.flatMap((name) => (typeof fields[name] === "string" ? [[name, fields[name]]] : [])),
  );
  return { body: { ...body, metadata: kept }, scope };
}

function locator(name: string, document: Document.Parsed, lines: LineCounter): (pointer: string) => string {
  return (pointer) => {
    const path = pointer
      .split("/")
      .slice(1)
      .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
    // The deepest part that is there: a missing field is reported where its parent stands.
    for (let length = path.length; length >= 0; length--) {
      const node: unknown = length === 0 ? document.contents : document.getIn(path.slice(0, length), true);
      if (isNode(node) && node.range) return position(name, lines, node.range[0]);
    }
    return name;
  };
}

function position(name: string, lines: LineCounter, offset: number): string {
  const { line, col } = lines.linePos(offset);
  return `${name}:${line}:${col}`;
}

async function readAll(
  world: CliWorld,
  paths: readonly string[],
): Promise<readonly { readonly name: string; readonly text: string }[]> {
  const files: { name: string; text: string }[] = [];
  for (const path of paths) {
    if (path === "-") files.push({ name: "stdin", text: await world.readStdin() });
    else for (const file of filesAt(path)) files.push({ name: file, text: readText(file) });
  }
  return files;
}

function filesAt(path: string): readonly string[] {
  try {
    if (!statSync(path).isDirectory()) return [path];
    const files = readdirSync(path)
      .filter((file) => /\.(ya?ml|json)$/.test(file))
      .sort();
    if (files.length === 0) throw usageError(`there is no .yaml, .yml or .json file in ${path}`);
    return files.map((file) => join(path, file));
  } catch (thrown) {
    throw fileError(path, thrown);
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (thrown) {
    throw fileError(file, thrown);
  }
}

function fileError(path: string, thrown: unknown): Error {
  if (thrown instanceof Error && "code" in thrown) return usageError(`${path} cannot be read (${String(thrown.code)})`);
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
