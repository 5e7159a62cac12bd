import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { systemClock } from "../../src/runtime/system-clock.ts";
import { worldToken } from "../../src/world/account-book.ts";
import { faultSchema } from "../../src/world/fault-schema.ts";
import { serveWorld } from "../../src/world/http-server.ts";
import { World } from "../../src/world/world.ts";
import { deviations } from "../specs/deviations.ts";
import { blocksOf } from "./blocks.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const text = readFileSync(join(root, "docs/world.md"), "utf8");

test("every request on the page about the world is answered, and does what it says", async () => {
  const world = new World(systemClock, { pace: 0 });
  const folder = mkdtempSync(join(tmpdir(), "setpoint-world-"));
  await using server = await serveWorld(world, systemClock, 0);
  const blocks = blocksOf(text).filter(({ language, about }) => language === "sh" && about === "world");
  assert.equal(blocks.length, 4, "ask, break, console, look");
  const environment = { ...process.env, WORLD: server.url, TOKEN: worldToken("demo"), FOLDER: folder };
  try {
    for (const block of blocks) {
      // A request that is refused is a mistake on the page.
      const strict = block.text.replaceAll("curl -s ", "curl -sS --fail-with-body ");
      await run(strict, environment);
    }
    assert.equal(
      (JSON.parse(readFileSync(join(folder, "state.json"), "utf8")) as { format: string }).format,
      "setpoint-world/1",
    );
    const servers = world.clouds[0]?.save() as { projects: { tables: { servers: unknown[] } }[] };
    assert.equal(
      servers.projects[0]?.tables.servers.length,
      100,
      "the one that was made is deleted, 100 were filled in",
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("the page lists every kind of fault and nothing else", () => {
  const faults = text.split("## Break it\n")[1]?.split("\n## ")[0] ?? "";
  const listed = Array.from(faults.matchAll(/^\| `([a-z-]+)` \| [^|]+ \| [^|]*\|$/gm), ([, kind = ""]) => kind);
  const kinds = faultSchema.options.map((option) => option.shape.kind.value);
  assert.deepEqual(listed.toSorted(), kinds.toSorted());
});

test("the page lists every deviation from the specifications, with the provider's words, and there are ten at most", () => {
  const rows = deviations.map(
    ({ specification, what, documented }) => `| \`${specification}\` | ${what} | ${documented} |`,
  );
  const section = text.split("## Where the files are wrong\n")[1]?.split("\n## ")[0] ?? "";
  assert.deepEqual(
    section.split("\n").filter((line) => line.startsWith("| `")),
    rows,
  );
  assert.ok(rows.length <= 10, "more than ten would mean that the world is another one");
});

function run(block: string, env: NodeJS.ProcessEnv): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile("bash", ["-euc", block], { env, timeout: 60_000 }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new Error(`${block}\n${stdout}${stderr}`, { cause: error }));
    });
  });
}
