import { type ChildProcess, execFile, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The real product: `dev` as a process of its own, with its database and its roles. */
export interface Product {
  readonly process: ChildProcess;
  readonly url: string;
  readonly dataDirectory: string;
  /** What it printed so far. */
  printed(): string;
  /** Resolves when it says it is ready; rejects with what it printed when it ended instead. */
  ready(): Promise<void>;
  /** One command line, the way a person would type it. */
  readonly setpoint: (...args: readonly string[]) => Promise<Ran>;
  /** The same, and it must succeed. */
  readonly must: (...args: readonly string[]) => Promise<string>;
  /** Process ids of the roles and of the database. */
  children(): readonly number[];
  end(signal: NodeJS.Signals): Promise<number | null>;
}

export function startProduct(options: {
  readonly dataDirectory: string;
  readonly port: number;
  readonly environment?: Readonly<Record<string, string>>;
  /** What `npm start` is told; without it the product is started directly, without the demo. */
  readonly npmStart?: readonly string[];
}): Product {
  const { dataDirectory, port } = options;
  const url = `http://127.0.0.1:${port}`;
  const environment = {
    ...process.env,
    NO_COLOR: "1",
    SETPOINT_DATA: dataDirectory,
    SETPOINT_PORT: String(port),
    SETPOINT_URL: url,
    // The context that whoever runs the tests has chosen for their own commands is not meant here.
    SETPOINT_CONFIG: join(dataDirectory, "config"),
    ...options.environment,
  };
  const { npmStart } = options;
  const program =
    npmStart === undefined ? [join(root, "src/main.ts"), "dev"] : [join(root, "scripts/start.mjs"), ...npmStart];
  const child = spawn(process.execPath, program, {
    env: environment,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  const exit = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
  const setpoint = setpointIn(environment);
  return {
    process: child,
    url,
    dataDirectory,
    printed: () => output,
    ready: () => untilReady(child, () => output, dataDirectory),
    setpoint,
    must: async (...args) => {
      const { code, stdout, stderr } = await setpoint(...args);
      if (code !== 0) throw new Error(`setpoint ${args.join(" ")} ended with ${code}:\n${stdout}${stderr}`);
      return stdout;
    },
    children: () => descendants(child.pid ?? 0),
    end: async (signal) => {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal);
      return await exit;
    },
  };
}

/** The command in an environment of its own, whether a product runs there or not. */
export function setpointIn(environment: NodeJS.ProcessEnv): (...args: readonly string[]) => Promise<Ran> {
  return (...args) => run([join(root, "src/cli/setpoint.ts"), ...args], environment);
}

/** Polls the product's own answers: real processes cannot be told to be quick. Bounded, with what was seen last in the error. */
export async function until<Value>(
  what: string,
  look: () => Promise<Value>,
  good: (value: Value) => boolean,
  tries = 300,
): Promise<Value> {
  let last: unknown;
  for (let attempt = 0; attempt < tries; attempt++) {
    try {
      const value = await look();
      if (good(value)) return value;
      last = value;
    } catch (thrown) {
      last = thrown;
    }
    await sleep(100);
  }
  throw new Error(
    `waited in vain for ${what}; seen last: ${last instanceof Error ? last.message : JSON.stringify(last)}`,
  );
}

export function isRunning(pid: number): boolean {
  try {
    // A zombie has ended; only its parent has not noticed yet.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

async function untilReady(child: ChildProcess, output: () => string, dataDirectory: string): Promise<void> {
  for (let tries = 0; tries < 4_800; tries++) {
    if (output().includes("is ready.")) return;
    if (child.exitCode !== null || child.signalCode !== null) break;
    await sleep(50);
  }
  const log = join(dataDirectory, "setpoint.log");
  throw new Error(
    `Setpoint did not become ready:\n${output()}\n${existsSync(log) ? readFileSync(log, "utf8").slice(-4_000) : ""}`,
  );
}

function run(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<Ran> {
  return new Promise((resolve) => {
    execFile(process.execPath, [...args], { env: environment, timeout: 120_000 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : -1;
      resolve({ code, stdout, stderr });
    });
  });
}

/** Children and their children, from the process table. */
function descendants(pid: number): readonly number[] {
  const file = `/proc/${pid}/task/${pid}/children`;
  if (!existsSync(file)) return [];
  const children = readFileSync(file, "utf8")
    .trim()
    .split(/\s+/)
    .filter((text) => text !== "")
    .map(Number);
  return children.flatMap((child) => [child, ...descendants(child)]);
}
