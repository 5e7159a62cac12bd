import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { constants } from "node:os";
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { runCli } from "./program.ts";
import type { CliWorld } from "./world.ts";

const packageFile = new URL("../../package.json", import.meta.url);
const { version } = JSON.parse(readFileSync(packageFile, "utf8")) as { readonly version: string };

const world: CliWorld = {
  environment: process.env,
  writeData: (data) => void process.stdout.write(data),
  drained: async () => {
    if (process.stdout.writableNeedDrain) await once(process.stdout, "drain");
  },
  writeNote: (note) => void process.stderr.write(note),
  colours: process.stdout.isTTY && (process.env["NO_COLOR"] ?? "") === "",
  interactive: process.stdin.isTTY && process.stderr.isTTY,
  ask: async (question) => {
    const lines = createInterface({ input: process.stdin, output: process.stderr });
    try {
      return await lines.question(question);
    } finally {
      lines.close();
    }
  },
  askHidden: async (question) => {
    process.stderr.write(question);
    const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
    const lines = createInterface({ input: process.stdin, output: nowhere, terminal: true });
    try {
      return await lines.question("");
    } finally {
      lines.close();
      process.stderr.write("\n");
    }
  },
  request: async ({ method, url, headers, body, timeoutMs }) => {
    const signal = AbortSignal.timeout(timeoutMs);
    const answer = await fetch(url, {
      method,
      headers,
      signal,
      redirect: "manual",
      ...(body === undefined ? {} : { body }),
    });
    return { status: answer.status, headers: Object.fromEntries(answer.headers), text: await answer.text() };
  },
  stream: async ({ url, headers, signal, whole }) => {
    const answer = await fetch(url, { headers, signal, redirect: "manual" });
    const chunks = textOf(answer, whole ? undefined : signal);
    return { status: answer.status, headers: Object.fromEntries(answer.headers), chunks };
  },
  timer: (ms) => (ms === undefined ? new AbortController().signal : AbortSignal.timeout(ms)),
  nowMs: () => Date.now(),
  timeMs: (iso) => Date.parse(iso),
  isoTime: (ms) => new Date(ms).toISOString(),
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  readStdin: () => text(process.stdin),
  runRole,
  nodeVersion: process.versions.node,
};

/** A reader who stops is no failure, nor is a connection that breaks: whoever reads decides whether to come back. */
async function* textOf(answer: Response, signal: AbortSignal | undefined): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  try {
    for await (const chunk of answer.body ?? []) yield decoder.decode(chunk as Uint8Array, { stream: true });
  } catch (thrown) {
    if (signal === undefined || (!signal.aborted && !(thrown instanceof TypeError))) throw thrown;
  }
}

/** Roles are composed in main.ts, in a process of their own that ends when this one does. */
function runRole(role: string, ...values: readonly string[]): Promise<number> {
  const main = fileURLToPath(new URL("../main.ts", import.meta.url));
  const child = spawn(process.execPath, [main, role, ...values], { stdio: ["inherit", "inherit", "inherit", "ipc"] });
  // A terminal sends its signals to both of us; those sent to this process alone are passed on.
  const passOn = (signal: NodeJS.Signals) => void child.kill(signal);
  const ignore = () => {};
  process.on("SIGINT", ignore);
  process.on("SIGTERM", passOn);
  process.on("SIGHUP", passOn);
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
  });
}

// A reader that closes the pipe (head, less) has seen enough; that is no failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
});
process.exitCode = await runCli(world, process.argv.slice(2), version);
