import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { CliError } from "./cli-error.ts";
import { configDirectory } from "./session-file.ts";
import type { CliWorld } from "./world.ts";

/** Where commands go unless they say otherwise. */
const contextSchema = z.strictObject({
  url: z.string().optional(),
  organization: z.string().optional(),
  project: z.string().optional(),
  workspace: z.string().optional(),
});
export type Context = z.output<typeof contextSchema>;

const fileSchema = z.strictObject({ current: z.string().optional(), contexts: z.record(z.string(), contextSchema) });
export type Contexts = z.output<typeof fileSchema>;

export function readContexts(world: CliWorld): Contexts {
  const file = fileOf(world);
  if (file === undefined) return { contexts: {} };
  try {
    return fileSchema.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return { contexts: {} };
    throw new CliError(`${file} cannot be read: remove it, and make your contexts again`, undefined, { cause: thrown });
  }
}

/** The context in use; environment variables and options win over it. */
export function currentContext(world: CliWorld): Context {
  const { current, contexts } = readContexts(world);
  return (current === undefined ? undefined : contexts[current]) ?? {};
}

export function writeContexts(world: CliWorld, contexts: Contexts): void {
  const file = fileOf(world);
  if (file === undefined)
    throw new CliError("There is nowhere to keep contexts: set SETPOINT_CONFIG to a folder of yours");
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(`${file}.new`, `${JSON.stringify(contexts, undefined, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

function fileOf(world: CliWorld): string | undefined {
  const directory = configDirectory(world);
  return directory === undefined ? undefined : join(directory, "contexts.json");
}
