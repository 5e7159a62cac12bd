import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Runs a block of a page in a shell as a reader would, in the root of the clone. Answers with what it printed. */
export function runBlock(block: string, env: NodeJS.ProcessEnv): Promise<string> {
  const script = `setpoint() { "${process.execPath}" src/cli/setpoint.ts "$@"; }\n${block}`;
  const options = { cwd: root, env, timeout: 600_000 };
  return new Promise((resolve, reject) => {
    execFile("bash", ["-euo", "pipefail", "-c", script], options, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new Error(`${block}\n${stdout}${stderr}`, { cause: error }));
    });
  });
}
