// Writes docs/openapi.json from the routes that are served; with --check it only compares, and fails on a difference.
// With --accept-breaking it is also written to docs/openapi-baseline.json: what `npm run verify` holds later documents to.
// That is a decision about everybody who wrote a program against the API, so it stands alone in its commit, with the reason.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { apiRoutes } from "../src/control-api/app.ts";
import type { ApiContext } from "../src/control-api/context.ts";
import { openApiDocument } from "../src/control-api/openapi.ts";
import { kinds } from "../src/kinds/registry.ts";

const file = fileURLToPath(new URL("../docs/openapi.json", import.meta.url));
const baseline = fileURLToPath(new URL("../docs/openapi-baseline.json", import.meta.url));
const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
  version: string;
};

// The routes are described by the kinds alone; nothing of the rest is touched before a request comes.
const described = { kinds } as ApiContext;
const document = openApiDocument(apiRoutes(described), version);

if (process.argv.includes("--check")) {
  if (JSON.stringify(committed()) !== JSON.stringify(document)) {
    console.error("docs/openapi.json is not what the routes say. Run: npm run openapi");
    process.exitCode = 1;
  }
} else {
  const files = process.argv.includes("--accept-breaking") ? [file, baseline] : [file];
  for (const each of files) writeFileSync(each, JSON.stringify(document));
  // Formatted like every other file, so that a change shows as the lines that changed.
  const biome = fileURLToPath(new URL("../node_modules/.bin/biome", import.meta.url));
  const { status } = spawnSync(biome, ["format", "--write", ...files], { stdio: ["ignore", "ignore", "inherit"] });
  process.exitCode = status ?? 1;
}

function committed(): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as unknown;
  } catch {
    return undefined;
  }
}
