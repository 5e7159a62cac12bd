import { posix } from "node:path";
import ts from "typescript6";

/** One broken rule: where, and what to do about it. */
export interface Finding {
  readonly path: string;
  readonly line: number;
  readonly message: string;
}

/** The repository's text files by path from its root. */
export type Repository = ReadonlyMap<string, string>;

export function isCode(path: string): boolean {
  return /\.(ts|mts|tsx|mjs|js)$/.test(path);
}

/** Rules look at the same files one after another; parsing each once keeps the whole check at about a second. */
const parsed = new Map<string, ts.SourceFile>();

export function parse(path: string, text: string): ts.SourceFile {
  const known = parsed.get(path);
  if (known?.text === text) return known;
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  parsed.set(path, file);
  return file;
}

export function lineOf(node: ts.Node): number {
  const file = node.getSourceFile();
  return file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1;
}

export function lineAt(text: string, index: number): number {
  return text.slice(0, index).split("\n").length;
}

export function walk(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node);
  ts.forEachChild(node, (child) => walk(child, visit));
}

/** A module named by an import, an export from, a dynamic import or an import type. */
export interface Reference {
  readonly specifier: string;
  readonly line: number;
  readonly node: ts.Node;
}

export function importsOf(file: ts.SourceFile): Reference[] {
  const found: Reference[] = [];
  walk(file, (node) => {
    const specifier = specifierOf(node);
    if (specifier !== undefined && ts.isStringLiteralLike(specifier)) {
      found.push({ specifier: specifier.text, line: lineOf(node), node });
    }
  });
  return found;
}

function specifierOf(node: ts.Node): ts.Node | undefined {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return node.moduleSpecifier;
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) return node.arguments[0];
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) return node.argument.literal;
  return undefined;
}

/** The path from the root that a relative specifier in a file means; undefined for packages and built-in modules. */
export function resolveRelative(path: string, specifier: string): string | undefined {
  if (!specifier.startsWith(".")) return undefined;
  return posix.normalize(posix.join(posix.dirname(path), specifier));
}
