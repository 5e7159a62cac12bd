import ts from "typescript6";
import { type Finding, isCode, lineOf, parse, walk } from "./source.ts";

const longestLines = 70;

/** Functions that are longer for a reason that outweighs the rule. Each entry says which. */
const allowed: readonly { readonly path: string; readonly name: string; readonly reason: string }[] = [];

export function functionLength(path: string, text: string): Finding[] {
  if (!isCode(path) || path.startsWith("console/")) return [];
  const file = parse(path, text);
  const found: Finding[] = [];
  walk(file, (node) => {
    if (!ts.isFunctionLike(node) || !("body" in node) || node.body === undefined || isGroupOfTests(node)) return;
    const first = file.getLineAndCharacterOfPosition(node.getStart(file)).line;
    const last = file.getLineAndCharacterOfPosition(node.getEnd()).line;
    const lines = last - first + 1;
    const name = nameOf(node);
    if (lines <= longestLines || allowed.some((entry) => entry.path === path && entry.name === name)) return;
    found.push({ path, line: lineOf(node), message: `${name} has ${lines} lines; at most ${longestLines}: split it` });
  });
  return found;
}

/** The callback of `describe` or `suite` is a list of tests, not a function anybody has to follow. */
function isGroupOfTests(node: ts.Node): boolean {
  const call = node.parent;
  return (
    ts.isCallExpression(call) && ts.isIdentifier(call.expression) && /^(describe|suite)$/.test(call.expression.text)
  );
}

function nameOf(node: ts.SignatureDeclaration): string {
  const named = node.name ?? (ts.isVariableDeclaration(node.parent) ? node.parent.name : undefined);
  if (named !== undefined) return named.getText();
  if (ts.isPropertyAssignment(node.parent)) return node.parent.name.getText();
  return "a function";
}
