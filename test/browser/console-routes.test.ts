import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { consolePages, pagesOfThings } from "../support/console-pages.ts";

const folder = fileURLToPath(new URL("../../console/src/pages/", import.meta.url));

/** The paths that the pages of the console are reached by, as their routes name them. */
function routePaths(): readonly string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) => [...readFileSync(`${folder}${name}/route.tsx`, "utf8").matchAll(/\bpath: "([^"]+)"/g)])
    .map(([, path = ""]) => path);
}

/** What a page shows by its address: parts and tabs, the first of which it shows without being asked. */
function partsOf(page: string): readonly string[] {
  const text = readFileSync(`${folder}${page}/route.tsx`, "utf8");
  return [...(/\[([^\]]*)\] as const/.exec(text)?.[1] ?? "").matchAll(/"([^"]+)"/g)].map(([, part = ""]) => part);
}

test("every page of the console is in the lists that are tested and pictured", () => {
  const paths = routePaths();
  assert.ok(paths.length >= 15, `${paths.length} routes were found`);
  const listed = [...consolePages.map(({ path }) => path), ...pagesOfThings.map(({ path }) => path("ID"))];
  const below = listed.map((path) => path.replace("/o/demo/", ""));
  for (const route of paths) {
    const pattern = new RegExp(`^${route.replace(/\$[a-z]*/, ".+")}(\\?.*)?$`);
    assert.ok(
      below.some((path) => pattern.test(path)),
      `${route} is in no list of test/support/console-pages.ts`,
    );
  }
  for (const [page, name, atLeast] of [
    ["access", "part", 3],
    ["providers", "part", 1],
    ["settings", "part", 3],
    ["object", "tab", 3],
  ] as const) {
    const [, ...others] = partsOf(page);
    assert.ok(others.length >= atLeast, `the parts of ${page} were found`);
    for (const part of others)
      assert.ok(
        below.some((path) => path.endsWith(`?${name}=${part}`)),
        `${part} of ${page} is in no list of test/support/console-pages.ts`,
      );
  }
});
