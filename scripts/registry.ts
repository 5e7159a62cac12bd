// Writes docs/registry.md from the kinds that are installed; with --check it only compares, and fails on a difference.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { loopRegistry } from "../src/control-api/loop-registry.ts";
import { duration } from "../src/control-api/subject-conditions.ts";
import { kinds } from "../src/kinds/registry.ts";

const file = fileURLToPath(new URL("../docs/registry.md", import.meta.url));
const text = registryText();

if (process.argv.includes("--check")) {
  if (committed() !== text) {
    console.error("docs/registry.md is not what the kinds say. Run: npm run registry");
    process.exitCode = 1;
  }
} else writeFileSync(file, text);

function registryText(): string {
  const registry = loopRegistry(kinds);
  const loops = registry.kinds.filter(({ everySeconds }) => everySeconds !== undefined);
  const rest = registry.kinds.filter(({ everySeconds }) => everySeconds === undefined);
  const row = (...cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [
    "# The registry of loops",
    "",
    "Written by `npm run registry` from the kinds themselves. `GET /v1/loops` and `setpoint loops` say the same of a running",
    "installation, with when each loop last ran and how long a round really takes.",
    "",
    "## What is kept as declared",
    "",
    row("kind", "looks every", "and at once when", "lives in", "a verdict is old after"),
    "|---|---|---|---|---|",
    ...loops.map((kind) =>
      row(
        `\`${kind.kind}\``,
        duration((kind.everySeconds ?? 0) * 1_000),
        ["it is declared anew", ...kind.inputs.map((input) => `a \`${input}\` of it changes`)].join(", "),
        kind.scopes.join(", "),
        duration((kind.verdictLimitSeconds ?? 0) * 1_000),
      ),
    ),
    "",
    "A policy, an approval, the end of a pause and `setpoint reconcile` make a subject due at once too. An interval is a",
    "wish: an account that is out of calls is looked at as often as its budget allows.",
    "",
    "## What deliberately has no loop",
    "",
    row("what", "why"),
    "|---|---|",
    ...rest.map((kind) => row(`\`${kind.kind}\``, kind.withoutLoop ?? "")),
    ...registry.withoutLoop.map(({ record, why }) => row(record, why)),
    "",
  ].join("\n");
}

function committed(): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
