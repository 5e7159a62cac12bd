import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { importArrows } from "./arrows.ts";
import { deadFiles } from "./dead-files.ts";
import { linksResolve, oneTitle } from "./documents.ts";
import { functionLength } from "./functions.ts";
import { bannedInAdaptersOnly } from "./globals.ts";
import { readRepository } from "./repository.ts";
import type { Finding, Repository } from "./source.ts";
import {
  kebabCaseName,
  leftoverMarkers,
  noDefaultExports,
  noRegistryHost,
  serversByPipelinesAlone,
  weakenedTests,
} from "./texts.ts";

const repository = readRepository(fileURLToPath(new URL("../..", import.meta.url)));

const rules: Readonly<Record<string, (path: string, text: string, repository: Repository) => Finding[]>> = {
  "imports follow the arrows": importArrows,
  "functions fit on a screen": functionLength,
  "time, chance and the outside enter through adapters": bannedInAdaptersOnly,
  "no marker is left over": leftoverMarkers,
  "no test is narrowed or skipped": weakenedTests,
  "exports have names": noDefaultExports,
  "no package registry is named": noRegistryHost,
  "servers are made and removed by pipelines alone": serversByPipelinesAlone,
  "file names are kebab-case": kebabCaseName,
  "a document has one title": oneTitle,
  "relative links resolve": linksResolve,
};

function assertNone(findings: readonly Finding[]): void {
  const lines = findings.map(({ path, line, message }) => `${path}:${line}: ${message}`);
  assert.equal(findings.length, 0, `${findings.length} to fix:\n${lines.join("\n")}`);
}

test("the repository was found", () => {
  assert.ok(repository.has("package.json") && repository.has("test/tidy/tidy.test.ts"));
});

for (const [name, rule] of Object.entries(rules)) {
  test(name, () => assertNone([...repository].flatMap(([path, text]) => rule(path, text, repository))));
}

test("no file is dead", () => assertNone(deadFiles(repository)));
