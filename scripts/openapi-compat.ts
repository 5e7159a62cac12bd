// Fails when docs/openapi.json breaks what was published: the document of the last release tag or, before the first, the
// committed docs/openapi-baseline.json. `npm run openapi -- --accept-breaking` moves the baseline, which is a decision.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type ApiDocument, breakingChanges } from "./openapi/breaking-changes.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const file = "docs/openapi.json";
const baseline = "docs/openapi-baseline.json";

const { from, text } = published();
const read = (document: string) => JSON.parse(document) as ApiDocument;
const found = breakingChanges(read(text), read(readFileSync(`${root}${file}`, "utf8")));
for (const change of found) console.error(change);
if (found.length > 0) {
  console.error(
    `${found.length} change${found.length === 1 ? " breaks" : "s break"} programs that were written against ${from}. Keep what was there beside what is new; where it must go, say so in the release notes and run: npm run openapi -- --accept-breaking`,
  );
  process.exitCode = 1;
} else console.log(`Nothing breaks what ${from} promised`);

/** Whoever accepted a break since the last release did so in the baseline, which then says it. */
function published(): { readonly from: string; readonly text: string } {
  const accepted = readFileSync(`${root}${baseline}`, "utf8");
  const tag = git("describe", "--tags", "--abbrev=0", "--match", "v[0-9]*")?.trim();
  if (tag === undefined) return { from: baseline, text: accepted };
  const released = git("show", `${tag}:${file}`);
  const moved = git("diff", "--name-only", tag, "--", baseline)?.trim() !== "";
  return released === undefined || moved ? { from: baseline, text: accepted } : { from: tag, text: released };
}

function git(...args: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync("git", args, { cwd: root, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
  return status === 0 ? stdout : undefined;
}
