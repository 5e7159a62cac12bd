import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { repository } from "./source-copy.ts";

/**
 * What the compiler says of a patched copy. A patch that does not compile breaks everything it touches, and being found
 * would say nothing about the rule it was meant for. What a patch leaves unused is no mistake.
 */
export async function typeErrors(src: string): Promise<string> {
  const project = join(dirname(src), "tsconfig.json");
  const compilerOptions = { noUnusedLocals: false, noUnusedParameters: false };
  writeFileSync(
    project,
    JSON.stringify({ extends: join(repository, "tsconfig.json"), compilerOptions, include: ["src"] }),
  );
  const child = spawn(join(repository, "node_modules/.bin/tsc"), ["--noEmit", "-p", project], {
    cwd: repository,
    stdio: ["ignore", "pipe", "inherit"],
  });
  let out = "";
  child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  return code === 0 ? "" : out;
}
