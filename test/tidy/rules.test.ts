import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { importArrows } from "./arrows.ts";
import { deadFiles } from "./dead-files.ts";
import { anchorsOf, linksResolve, oneTitle } from "./documents.ts";
import { functionLength } from "./functions.ts";
import { bannedInAdaptersOnly } from "./globals.ts";
import type { Finding } from "./source.ts";
import {
  kebabCaseName,
  leftoverMarkers,
  noDefaultExports,
  noRegistryHost,
  serversByPipelinesAlone,
  weakenedTests,
} from "./texts.ts";

type Rule = (path: string, text: string) => Finding[];

function refuses(rule: Rule, path: string, text: string, expected: RegExp): void {
  const messages = rule(path, text).map(({ message }) => message);
  assert.equal(messages.length, 1, `expected one finding in ${JSON.stringify(text)}, got ${JSON.stringify(messages)}`);
  assert.match(messages[0] ?? "", expected);
}

function accepts(rule: Rule, path: string, text: string): void {
  assert.deepEqual(rule(path, text), []);
}

describe("imports follow the arrows", () => {
  const refused: readonly [string, string][] = [
    ["src/ports/clock.ts", `import type { Plan } from "../kernel/plan.ts";`],
    ["src/ports/clock.ts", `import { z } from "zod";`],
    ["src/kernel/plan.ts", `import { query } from "../store/query.ts";`],
    ["src/kernel/plan.ts", `import { readFileSync } from "node:fs";`],
    ["src/kernel/plan.ts", `export * from "../runtime/clock.ts";`],
    ["src/kinds/dns-zone/loop.ts", `import { list } from "../../providers/powerdns/client.ts";`],
    ["src/kinds/dns-zone/loop.ts", `import { request } from "node:http";`],
    ["src/scheduler/run.ts", `import type { Row } from "../store/row.ts";`],
    ["src/scheduler/run.ts", `const pg = await import("pg");`],
    ["src/control-api/app.ts", `import { kinds } from "../kinds/registry.ts";`],
    ["src/control-api/app.ts", `import { loop } from "../kinds/dns-zone/loop.ts";`],
    ["src/cli/setpoint.ts", `import { open } from "../store/open.ts";`],
    ["src/cli/setpoint.ts", `type Row = import("../store/row.ts").Row;`],
    ["src/runtime/clock.ts", `import { cycle } from "../kernel/cycle.ts";`],
    ["src/store/open.ts", `import { fake } from "../../test/support/fake.ts";`],
    ["src/elsewhere/thing.ts", ""],
    ["examples/key-value-set.ts", `import { diff } from "../src/kernel/diff.ts";`],
  ];
  for (const [path, text] of refused) {
    test(`refuses ${path}: ${text}`, () => refuses(importArrows, path, text, /may not import|in no layer/));
  }

  const accepted: readonly [string, string][] = [
    ["src/kernel/plan.ts", `import { createHash } from "node:crypto"; import type { Clock } from "../ports/clock.ts";`],
    ["src/kernel/guards/evidence.ts", `import { plan } from "../plan.ts";`],
    ["src/control-api/app.ts", `import { dnsZoneSpec } from "../kinds/dns-zone/schema.ts"; import "../store/open.ts";`],
    ["src/cli/setpoint.ts", `import { problem } from "../control-api/schemas/problem.ts";`],
    ["src/kinds/registry.ts", `import { dnsZone } from "./dns-zone/kind.ts";`],
    ["src/main.ts", `import { kinds } from "./kinds/registry.ts"; import { open } from "./store/open.ts";`],
    ["src/compose/api.ts", `import { kinds } from "../kinds/registry.ts";`],
    ["test/unit/kernel/diff.test.ts", `import { diff } from "../../../src/kernel/diff.ts";`],
    ["examples/key-value-set.ts", `import { defineLoop } from "setpoint";`],
  ];
  for (const [path, text] of accepted) test(`accepts ${path}`, () => accepts(importArrows, path, text));
});

describe("functions fit on a screen", () => {
  const body = (lines: number) => "  work();\n".repeat(lines - 2);

  test("refuses 71 lines in every form, and accepts 70", () => {
    for (const [open, close] of [
      ["function run() {\n", "}\n"],
      ["const run = async () => {\n", "};\n"],
      ["const loop = { run() {\n", "} };\n"],
      ["class Loop { run() {\n", "} }\n"],
      ["class Loop { constructor() {\n", "} }\n"],
      [`test("run", () => {\n`, "});\n"],
    ] as const) {
      refuses(functionLength, "src/kernel/run.ts", open + body(71) + close, /has 71 lines; at most 70/);
      accepts(functionLength, "src/kernel/run.ts", open + body(70) + close);
    }
  });

  test("names the function", () => {
    const text = `const runAll = () => {\n${body(90)}};\n`;
    assert.match(functionLength("src/kernel/run.ts", text)[0]?.message ?? "", /^runAll has 90 lines/);
  });

  test("leaves out groups of tests and the console", () => {
    accepts(functionLength, "test/unit/run.test.ts", `describe("run", () => {\n${body(200)}});\n`);
    accepts(functionLength, "console/src/page.tsx", `function Page() {\n${body(200)}}\n`);
  });
});

describe("time, chance and the outside enter through adapters", () => {
  const refused: readonly [string, RegExp][] = [
    ["const now = Date.now();", /^Date /],
    ["const now = new Date();", /^Date /],
    ["const chance = Math.random();", /^Math\.random /],
    [`const chance = Math["random"]();`, /^Math\.random /],
    ["const { random } = Math;", /^Math\.random /],
    ["setTimeout(run, 5);", /^setTimeout /],
    ["globalThis.setTimeout(run, 5);", /^globalThis\.setTimeout /],
    ["const wait = setInterval;", /^setInterval /],
    ["setImmediate(run);", /^setImmediate /],
    ["queueMicrotask(run);", /^queueMicrotask /],
    ["await fetch(url);", /^fetch /],
    ["const ports = { fetch };", /^fetch /],
    ["performance.now();", /^performance /],
    ["const home = process.env.HOME;", /^process\.env /],
    [`import process from "node:process"; process.env;`, /^process\.env /],
    ["process.hrtime.bigint();", /^process\.hrtime /],
    ["crypto.randomUUID();", /^crypto\.randomUUID /],
    ["globalThis.crypto.getRandomValues(bytes);", /^crypto\.getRandomValues /],
    [`import * as secrets from "node:crypto"; secrets.randomBytes(8);`, /^secrets\.randomBytes /],
    [`import { createHash, randomUUID as id } from "node:crypto";`, /^crypto\.randomUUID /],
    [`import { setTimeout } from "node:timers/promises";`, /^node:timers\/promises /],
    [`import { request } from "undici";`, /^undici /],
    ["const kept = new WeakRef(subject);", /^WeakRef /],
    ["new FinalizationRegistry(run);", /^FinalizationRegistry /],
    ["function first(fetch: Port) { return fetch; } fetch(url);", /^fetch /],
  ];
  for (const [text, expected] of refused) {
    test(`refuses ${text}`, () => refuses(bannedInAdaptersOnly, "src/kernel/cycle.ts", text, expected));
  }

  test("accepts what only looks like them", () => {
    for (const text of [
      "type Stamp = Date; function read(row: { at: Date }): Date | undefined { return row.at; }",
      "await http.fetch(url); clock.setTimeout(run);",
      "const row = { Date: 1, performance: 2 };",
      "function send(fetch: Fetch) { return fetch(url); }",
      "const { fetch } = ports; await fetch(url);",
      `import { fetch } from "../ports/http.ts"; await fetch(url);`,
      `import { createHash, timingSafeEqual } from "node:crypto";`,
      "const largest = Math.max(1, 2); process.exitCode = 1;",
    ]) {
      accepts(bannedInAdaptersOnly, "src/kernel/cycle.ts", text);
    }
  });

  test("accepts them in adapters, and the environment where settings are read", () => {
    for (const path of ["src/runtime/clock.ts", "src/store/embedded/server.ts", "src/main.ts", "test/unit/a.test.ts"]) {
      accepts(bannedInAdaptersOnly, path, "Date.now(); setTimeout(run, 5); process.env.HOME;");
    }
    accepts(bannedInAdaptersOnly, "src/config.ts", "process.env.HOME;");
    accepts(bannedInAdaptersOnly, "src/cli/settings.ts", "process.env.HOME;");
    refuses(bannedInAdaptersOnly, "src/config.ts", "Date.now();", /^Date /);
    refuses(bannedInAdaptersOnly, "src/store/pool.ts", "process.env.HOME;", /^process\.env /);
  });
});

describe("texts", () => {
  test("refuses each leftover marker, with its line", () => {
    for (const [first, rest] of ["TO-DO", "FIX-ME", "X-XX", "HA-CK"].map((word) => word.split("-"))) {
      const word = `${first}${rest}`;
      assert.equal(leftoverMarkers("src/a.ts", `run();\n// ${word}: later\n`)[0]?.line, 2);
      accepts(leftoverMarkers, "scripts/a.sh", `mktemp a.${word}${word}; ${word.toLowerCase()}`);
    }
  });

  test("refuses narrowed, skipped and postponed tests", () => {
    for (const text of [
      `test.only("a", run);`,
      `describe.skip("a", run);`,
      `it.todo("a");`,
      `test("a", (t) => { t.skip("later"); });`,
      `test("a", { skip: true }, run);`,
      `test("a", { only: true }, run);`,
    ]) {
      refuses(weakenedTests, "test/unit/a.test.ts", text, /weakens a test/);
    }
    accepts(weakenedTests, "test/unit/a.test.ts", `test("a", { timeout: 5 }, () => cursor.skip(2));`);
    accepts(weakenedTests, "test/real/requirement.ts", `t.skip("PowerDNS is not installed");`);
  });

  test("refuses default exports", () => {
    for (const text of [
      "export default 1;",
      "export default function run() {}",
      "export default class Loop {}",
      "const run = 1; export { run as default };",
    ]) {
      refuses(noDefaultExports, "src/kernel/a.ts", text, /default export/);
    }
    accepts(noDefaultExports, "src/kernel/a.ts", "export const run = 1; switch (run) { default: work(); }");
  });

  test("refuses the host of a package registry", () => {
    const publicHost = ["registry.npm", "js.org"].join("");
    refuses(noRegistryHost, "docs/a.md", `see ${publicHost}`, /names a package registry/);
    refuses(noRegistryHost, ".npmrc", ["registry", "=somewhere"].join(""), /names a package registry/);
    const lock = `{ "resolved": ${JSON.stringify(["https:", "//mirror/a.tgz"].join(""))} }`;
    refuses(noRegistryHost, "package-lock.json", lock, /names a package registry/);
    accepts(noRegistryHost, "package-lock.json", `{ "resolved": "file:../a" }`);
    accepts(noRegistryHost, "docs/a.md", "npm reads its registry from the user's settings; see https://nodejs.org");
  });

  test("refuses names that are not kebab-case", () => {
    for (const path of ["src/kernel/deleteBudget.ts", "src/Kernel/plan.ts", "docs/write_a_kind.md", "docs/Readme.md"]) {
      refuses(kebabCaseName, path, "", /is not kebab-case/);
    }
    for (const path of [
      "src/kernel/delete-budget.ts",
      "test/a/b-c.test.ts",
      "README.md",
      "docs/decisions/README.md",
      ".npmrc",
    ]) {
      accepts(kebabCaseName, path, "");
    }
  });
});

describe("documents", () => {
  test("refuses a document without a title or with two", () => {
    refuses(oneTitle, "docs/a.md", "text\n", /^0 titles/);
    refuses(oneTitle, "docs/a.md", "# A\n\n# B\n", /^2 titles/);
    accepts(oneTitle, "docs/a.md", "# A\n\n```sh\n# a comment\n```\n\n## B\n");
  });

  test("refuses links that lead nowhere", () => {
    const repository = new Map([
      ["docs/glossary.md", "# Glossary\n\n## Held change\n"],
      ["src/kernel/plan.ts", ""],
    ]);
    const rule: Rule = (path, text) => linksResolve(path, text, repository);
    refuses(rule, "docs/a.md", "[x](missing.md)", /leads nowhere/);
    refuses(rule, "docs/a.md", "![x](../docs/missing.png)", /leads nowhere/);
    refuses(rule, "docs/a.md", "[x]: ./missing.md", /leads nowhere/);
    refuses(rule, "docs/a.md", "[x](glossary.md#grant)", /heading that is not there/);
    refuses(rule, "docs/a.md", "# A\n\n[x](#b)", /heading that is not there/);
    refuses(rule, "docs/a.md", "[x](/docs/glossary.md)", /is absolute/);
    for (const good of [
      "[x](glossary.md) [y](glossary.md#held-change)",
      "[x](../src/kernel/plan.ts) [y](../src/kernel/) [z](https://example.com/missing)",
      "# A\n\n[x](#a)",
      "`[x](missing.md)`\n\n```md\n[x](missing.md)\n```\n",
    ]) {
      accepts(rule, "docs/a.md", good);
    }
  });

  test("knows the anchors of headings", () => {
    const anchors = anchorsOf("# The `cycle`, once\n## Guards\n## Guards\n### [Plan](a.md) & act\n");
    assert.deepEqual([...anchors], ["the-cycle-once", "guards", "guards-1", "plan--act"]);
  });
});

describe("no file is dead", () => {
  const alive: readonly [string, string][] = [
    ["package.json", `{ "scripts": { "bench": "node bench/run.ts" } }`],
    ["src/main.ts", `import "./compose/api.ts"; spawn(new URL("./worker-process.ts", import.meta.url));`],
    ["src/index.ts", `export * from "./kernel/loop.ts";`],
    ["src/cli/setpoint.ts", ""],
    ["src/compose/api.ts", `import type { Clock } from "../ports/clock.ts"; read("status.html");`],
    ["src/compose/status.html", ""],
    ["src/worker-process.ts", ""],
    ["src/kernel/loop.ts", ""],
    ["src/ports/clock.ts", ""],
    ["src/store/migrations/0001-start.sql", ""],
    ["bench/run.ts", "await import(`./cases/${name}.ts`);"],
    ["bench/cases/scheduler.ts", ""],
    ["test/unit/a.test.ts", `import "../support/world.ts"; import "../../examples/set.ts";`],
    ["test/support/world.ts", ""],
    ["examples/set.ts", ""],
  ];

  const findDead = (more: readonly [string, string][]) =>
    deadFiles(new Map([...alive, ...more])).map(({ path }) => path);

  test("accepts what an entry point, a test or a script leads to", () => assert.deepEqual(findDead([]), []));

  test("refuses what nothing leads to, and what only a test leads to in src", () => {
    assert.deepEqual(findDead([["src/kernel/old.ts", ""]]), ["src/kernel/old.ts"]);
    assert.deepEqual(findDead([["src/compose/old.html", ""]]), ["src/compose/old.html"]);
    assert.deepEqual(findDead([["test/support/old.ts", ""]]), ["test/support/old.ts"]);
    assert.deepEqual(findDead([["test/unit/misnamed.tests.ts", ""]]), ["test/unit/misnamed.tests.ts"]);
    const onlyTested: readonly [string, string][] = [
      ["src/kernel/old.ts", ""],
      ["test/unit/old.test.ts", `import "../../src/kernel/old.ts";`],
    ];
    assert.deepEqual(findDead(onlyTested), ["src/kernel/old.ts"]);
  });
});

test("servers are made and removed by pipelines alone", () => {
  const call = "await ctx.writer.ensureServerGone({ id, mark }, ctx.signal);";
  refuses(serversByPipelinesAlone, "src/kinds/host/loop.ts", call, /for pipelines alone/);
  accepts(serversByPipelinesAlone, "src/kinds/host/pipelines.ts", call);
  accepts(serversByPipelinesAlone, "src/providers/hetzner-cloud/engine.ts", call);
});
