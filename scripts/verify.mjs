// `npm run verify`: everything that can be said about the repository without running the product. All checks run, so
// that one run shows all there is to fix.
import { ensureInstalled, exitLike, run, toolEnvironment } from "./bootstrap.mjs";

const checks = [
  { name: "format", command: ["biome", "format", "."] },
  { name: "lint", command: ["oxlint", "--type-aware", "--deny-warnings"] },
  { name: "types", command: ["tsc", "--noEmit", "-p", "."] },
  { name: "types of the console", command: ["tsc", "--noEmit", "-p", "console"] },
  { name: "tidy", command: ["node", "--test", "--test-reporter=spec", "test/tidy/*.test.ts"] },
  { name: "schema drift", command: ["node", "scripts/schema.ts", "--check"] },
  { name: "OpenAPI drift", command: ["node", "scripts/openapi.ts", "--check"] },
  { name: "OpenAPI breaking changes", command: ["node", "scripts/openapi-compat.ts"] },
  { name: "registry drift", command: ["node", "scripts/registry.ts", "--check"] },
];

ensureInstalled();
const failed = [];
for (const { name, command } of checks) {
  const [program = "", ...args] = command;
  process.stdout.write(`\n== ${name}\n`);
  const outcome = await run(program, args, { env: toolEnvironment() });
  if (outcome.signal !== null) exitLike(outcome);
  if (outcome.code !== 0) failed.push(name);
}
process.stdout.write(
  failed.length === 0 ? `\nverify: all ${checks.length} checks hold\n` : `\nverify: failed: ${failed.join(", ")}\n`,
);
process.exit(failed.length === 0 ? 0 : 1);
