import ts from "typescript6";
import { type Finding, isCode, lineOf, parse, walk } from "./source.ts";

/** Globals that make a run differ from the next, or reach outside. Everything but adapters receives them as ports. */
const bannedGlobals = new Set([
  "Date",
  "setTimeout",
  "setInterval",
  "setImmediate",
  "queueMicrotask",
  "fetch",
  "performance",
  "WeakRef",
  "FinalizationRegistry",
]);

/** Members of otherwise harmless objects and modules. */
const bannedMembers: Readonly<Record<string, readonly string[]>> = {
  Math: ["random"],
  process: ["env", "hrtime", "nextTick"],
  crypto: ["randomUUID", "randomBytes", "getRandomValues", "randomInt"],
};

/** What may not be imported: all of a module ("*"), or some of its names. */
const bannedImports: Readonly<Record<string, readonly string[]>> = {
  "node:timers": ["*"],
  "node:timers/promises": ["*"],
  "node:perf_hooks": ["*"],
  "node:process": ["env", "hrtime", "nextTick"],
  "node:crypto": ["randomUUID", "randomBytes", "getRandomValues", "randomInt", "randomFill", "randomFillSync"],
  undici: ["*"],
};

/** Adapters: where these belong. The last two may use only what is listed for them. */
const adapters: readonly { readonly where: RegExp; readonly only?: readonly string[] }[] = [
  { where: /^(console|test|bench|scripts|bin)\// },
  { where: /^src\/runtime\// },
  { where: /^src\/store\/embedded\// },
  { where: /^src\/main\.ts$/ },
  { where: /^src\/cli\/setpoint\.ts$/ },
  { where: /^src\/config\.ts$/, only: ["process.env"] },
  { where: /^src\/cli\//, only: ["process.env"] },
];

export function bannedInAdaptersOnly(path: string, text: string): Finding[] {
  if (!isCode(path)) return [];
  const found: Finding[] = [];
  walk(parse(path, text), (node) => {
    for (const name of bannedUses(node)) {
      if (mayUse(path, name)) continue;
      found.push({
        path,
        line: lineOf(node),
        message: `${name} belongs in an adapter: take a port (src/ports) instead`,
      });
    }
  });
  return found;
}

function mayUse(path: string, name: string): boolean {
  return adapters.some(({ where, only }) => where.test(path) && (only === undefined || only.includes(name)));
}

function bannedUses(node: ts.Node): string[] {
  if (ts.isImportDeclaration(node)) return bannedImportNames(node);
  if (ts.isPropertyAccessExpression(node)) return bannedMember(node.expression, node.name.text);
  if (ts.isElementAccessExpression(node) && ts.isStringLiteralLike(node.argumentExpression)) {
    return bannedMember(node.expression, node.argumentExpression.text);
  }
  if (ts.isVariableDeclaration(node) && ts.isObjectBindingPattern(node.name) && node.initializer !== undefined) {
    const { initializer } = node;
    return node.name.elements.flatMap(({ propertyName, name }) =>
      bannedMember(initializer, (propertyName ?? name).getText()),
    );
  }
  const isBanned = ts.isIdentifier(node) && bannedGlobals.has(node.text) && isValueUse(node) && !isDeclaredAround(node);
  return isBanned ? [node.text] : [];
}

function bannedMember(object: ts.Node, member: string): string[] {
  if (ts.isPropertyAccessExpression(object) && object.expression.getText() === "globalThis") {
    return bannedMember(object.name, member);
  }
  if (!ts.isIdentifier(object)) return [];
  if (object.text === "globalThis" && bannedGlobals.has(member)) return [`globalThis.${member}`];
  const module = moduleOf(object);
  const members = module === undefined ? bannedMembers[object.text] : bannedImports[module];
  return members?.includes(member) === true ? [`${object.text}.${member}`] : [];
}

/** The module behind a name such as `crypto` in `import crypto from "node:crypto"`. */
function moduleOf(name: ts.Identifier): string | undefined {
  for (const statement of name.getSourceFile().statements) {
    if (!ts.isImportDeclaration(statement) || !importedNames(statement).includes(name.text)) continue;
    return ts.isStringLiteral(statement.moduleSpecifier) ? nodeModule(statement.moduleSpecifier.text) : undefined;
  }
  return undefined;
}

function nodeModule(specifier: string): string {
  return specifier.replace(/^(timers|perf_hooks|process|crypto)/, "node:$1");
}

function bannedImportNames(node: ts.ImportDeclaration): string[] {
  const module = ts.isStringLiteral(node.moduleSpecifier) ? node.moduleSpecifier.text : "";
  const names = bannedImports[nodeModule(module)];
  if (names === undefined || node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword) return [];
  if (names.includes("*")) return [module];
  const bindings = node.importClause?.namedBindings;
  if (bindings === undefined || !ts.isNamedImports(bindings)) return [];
  return bindings.elements
    .map((element) => (element.propertyName ?? element.name).text)
    .filter((name) => names.includes(name))
    .map((name) => `${module.replace("node:", "")}.${name}`);
}

/** Whether an identifier stands for a value here, and not for a type, a member's name or a declaration. */
function isValueUse(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isTypeReferenceNode(parent) || ts.isTypeQueryNode(parent) || ts.isQualifiedName(parent)) return false;
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node;
  if (ts.isPropertyAssignment(parent)) return parent.initializer === node;
  if (ts.isBindingElement(parent)) return parent.initializer === node;
  if (ts.isShorthandPropertyAssignment(parent)) return true;
  if (ts.isExpressionWithTypeArguments(parent)) return ts.isClassLike(parent.parent.parent);
  if (ts.isImportSpecifier(parent) || ts.isExportSpecifier(parent)) return false;
  return !("name" in parent && parent.name === node);
}

/** Whether the name was declared in the file where this use sees it: then it is not the global. */
function isDeclaredAround(node: ts.Identifier): boolean {
  for (let scope: ts.Node | undefined = node.parent; scope !== undefined; scope = scope.parent) {
    if (declaredNames(scope).includes(node.text)) return true;
  }
  return false;
}

function declaredNames(scope: ts.Node): string[] {
  if (ts.isFunctionLike(scope)) return scope.parameters.flatMap(({ name }) => boundNames(name));
  if (ts.isForStatement(scope) || ts.isForOfStatement(scope) || ts.isForInStatement(scope)) {
    const start = scope.initializer;
    return start !== undefined && ts.isVariableDeclarationList(start) ? listNames(start) : [];
  }
  if (!ts.isBlock(scope) && !ts.isSourceFile(scope) && !ts.isCaseOrDefaultClause(scope)) return [];
  return [...scope.statements].flatMap((statement) => {
    if (ts.isVariableStatement(statement)) return listNames(statement.declarationList);
    if (ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement)) {
      return statement.name === undefined ? [] : [statement.name.text];
    }
    return ts.isImportDeclaration(statement) ? importedNames(statement) : [];
  });
}

function listNames(list: ts.VariableDeclarationList): string[] {
  return list.declarations.flatMap(({ name }) => boundNames(name));
}

function importedNames({ importClause }: ts.ImportDeclaration): string[] {
  const names = importClause?.name === undefined ? [] : [importClause.name.text];
  const bindings = importClause?.namedBindings;
  if (bindings === undefined) return names;
  return ts.isNamespaceImport(bindings)
    ? [...names, bindings.name.text]
    : [...names, ...bindings.elements.map(({ name }) => name.text)];
}

function boundNames(name: ts.BindingName): string[] {
  if (ts.isIdentifier(name)) return [name.text];
  return name.elements.flatMap((element) => (ts.isBindingElement(element) ? boundNames(element.name) : []));
}
