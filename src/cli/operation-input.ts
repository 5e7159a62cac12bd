import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { thrownMessage, usageError } from "./cli-error.ts";
import type { CliWorld } from "./world.ts";

/** What a pipeline is told on the command line: JSON or YAML as it is typed, `@FILE`, or `-` for standard input. */
export async function operationInput(world: CliWorld, said: string): Promise<unknown> {
  const { name, text } = await readInput(world, said);
  let value: unknown;
  try {
    // Every JSON text is YAML too.
    value = parse(text, { maxAliasCount: 100, uniqueKeys: true, strict: true, logLevel: "error" });
  } catch (thrown) {
    throw usageError(`${name} is neither JSON nor YAML: ${thrownMessage(thrown)}`);
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw usageError(
    `${name} must be an object with fields, such as '{"power": "off"}'; a file is named with @, such as --input @power.yaml`,
  );
}

async function readInput(world: CliWorld, said: string): Promise<{ readonly name: string; readonly text: string }> {
  if (said === "-") return { name: "the input on standard input", text: await world.readStdin() };
  if (!said.startsWith("@")) return { name: "--input", text: said };
  const file = said.slice(1);
  try {
    return { name: `the input in ${file}`, text: readFileSync(file, "utf8") };
  } catch (thrown) {
    throw usageError(`the input ${file} cannot be read: ${thrownMessage(thrown)}`);
  }
}
