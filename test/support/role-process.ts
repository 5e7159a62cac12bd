import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const main = fileURLToPath(new URL("../../src/main.ts", import.meta.url));

/** One role of the product, run apart as a process of its own. */
export interface RoleProcess {
  readonly child: ChildProcess;
  printed(): string;
  readonly ended: Promise<number | null>;
}

/** With these settings and none of whoever runs the tests. */
export function startRole(role: string, environment: Readonly<Record<string, string>>): RoleProcess {
  const inherited = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(SETPOINT_|DATABASE_URL)/.test(name)),
  );
  const child = spawn(process.execPath, [main, role], {
    env: { ...inherited, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  return { child, printed: () => output, ended: new Promise((resolve) => child.once("exit", (code) => resolve(code))) };
}
