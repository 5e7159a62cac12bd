import ts from "typescript6";
import { type Finding, isCode, lineAt, lineOf, parse, walk } from "./source.ts";

// Each word has a letter in brackets, so that this file holds to its own rule.
const markers = /\b(T[O]DO|F[I]XME|X[X]X|H[A]CK)\b/g;

/** Work that is left is written down where work is planned, not in the code. */
export function leftoverMarkers(path: string, text: string): Finding[] {
  if (path === "package-lock.json") return [];
  return [...text.matchAll(markers)].map((match) => ({
    path,
    line: lineAt(text, match.index),
    message: `a leftover marker ${match[0]}: finish it, or say why it is as it is`,
  }));
}

/** The one place where a test may skip: by the name of the real counterpart that is missing. */
const maySkip = "test/real/requirement.ts";

/** A test that is narrowed, skipped or postponed passes without testing. */
export function weakenedTests(path: string, text: string): Finding[] {
  if (!path.startsWith("test/") || !isCode(path) || path === maySkip) return [];
  const found: Finding[] = [];
  walk(parse(path, text), (node) => {
    const how = weakening(node);
    if (how === undefined) return;
    found.push({ path, line: lineOf(node), message: `${how} weakens a test: run it, or remove it` });
  });
  return found;
}

function weakening(node: ts.Node): string | undefined {
  if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
    const { name, expression } = node.expression;
    const isRunner = ts.isIdentifier(expression) && /^(test|it|describe|suite|t|context)$/.test(expression.text);
    return isRunner && /^(only|skip|todo)$/.test(name.text) ? `.${name.text}(` : undefined;
  }
  const isOption = ts.isPropertyAssignment(node) && ts.isObjectLiteralExpression(node.parent);
  if (!isOption || !/^(only|skip|todo)$/.test(node.name.getText())) return undefined;
  const call = node.parent.parent;
  const isTest =
    ts.isCallExpression(call) &&
    ts.isIdentifier(call.expression) &&
    /^(test|it|describe|suite)$/.test(call.expression.text);
  return isTest && node.initializer.kind !== ts.SyntaxKind.FalseKeyword ? `{ ${node.name.getText()} }` : undefined;
}

/** A name that is exported is the same name everywhere. */
export function noDefaultExports(path: string, text: string): Finding[] {
  if (!path.startsWith("src/") || !isCode(path)) return [];
  const found: Finding[] = [];
  walk(parse(path, text), (node) => {
    const isModified = ts.isFunctionDeclaration(node) || ts.isClassDeclaration(node);
    const isDefault =
      (ts.isExportAssignment(node) && node.isExportEquals !== true) ||
      (isModified && node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.DefaultKeyword) === true) ||
      (ts.isExportSpecifier(node) && node.name.text === "default");
    if (isDefault) found.push({ path, line: lineOf(node), message: "a default export: export it by name" });
  });
  return found;
}

const registryHosts = [
  /\b(n[p]mjs|yarn[p]kg)\.(org|com)\b/gi,
  /https?:\/\/[^\s"'/]*(registry|artifactory|nexus|verdaccio)[^\s"'/]*/gi,
  /"resolved":\s*"https?:/g,
  /^\s*(@[\w-]+:)?registry\s*=/gm,
];

/** Which registry packages come from is the machine's business: a mirror must work without a change here. */
export function noRegistryHost(path: string, text: string): Finding[] {
  const matches = registryHosts.flatMap((pattern) => [...text.matchAll(pattern)]);
  return matches.map((match) => ({
    path,
    line: lineAt(text, match.index),
    message: `${match[0].trim()} names a package registry: leave it to the user's npm settings`,
  }));
}

/** Documents that the world expects under these names. */
const conventionalNames = /^(README|ARCHITECTURE|CONTRIBUTING|SECURITY|CHANGELOG)\.md$|^(LICENSE|NOTICE|Dockerfile)$/;

export function kebabCaseName(path: string): Finding[] {
  const wrong = path
    .split("/")
    .filter((part) => !/^\.?[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+)*$/.test(part) && !conventionalNames.test(part));
  return wrong.map((part) => ({ path, line: 1, message: `the name ${part} is not kebab-case` }));
}

/** Where servers may be made and removed: by pipelines, and in the port and the providers that say what that is. */
const maySayEnsure = /^src\/(ports\/compute\.ts|providers\/.+|kinds\/[^/]+\/pipelines\.ts)$/;

/** A loop that made or removed a server would do so without an intent of its own on record. */
export function serversByPipelinesAlone(path: string, text: string): Finding[] {
  if (!path.startsWith("src/") || !isCode(path) || maySayEnsure.test(path)) return [];
  return [...text.matchAll(/\bensureServer(Gone)?\b/g)].map((match) => ({
    path,
    line: lineAt(text, match.index),
    message: `${match[0]} is for pipelines alone: let an operation make or remove the server`,
  }));
}
