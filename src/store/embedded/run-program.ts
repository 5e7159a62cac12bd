import { spawn } from "node:child_process";
import type { RunUser } from "./run-user.ts";

const KEPT_BYTES = "8388608";

/**
 * Nothing of the caller's environment reaches PostgreSQL: a stray `PGDATA`, `LD_LIBRARY_PATH` or locale changes it. What a batch
 * of a megabyte needs is kept for the next one; given back each time, its pages are zeroed anew for every statement.
 */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  return {
    PATH: process.env["PATH"] ?? "/usr/bin:/bin",
    LC_ALL: "C",
    TZ: "UTC",
    MALLOC_MMAP_THRESHOLD_: KEPT_BYTES,
    MALLOC_TRIM_THRESHOLD_: KEPT_BYTES,
  };
}

/** Runs a short program to its end. Rejects only when it could not be started at all. */
export function runProgram(
  program: string,
  words: readonly string[],
  user: RunUser,
): Promise<{ readonly code: number; readonly output: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ code: number; output: string }>();
  const stdio: ["ignore", "pipe", "pipe"] = ["ignore", "pipe", "pipe"];
  const child = spawn(program, words, { cwd: "/", env: cleanEnvironment(), stdio, ...user.switchTo });
  const chunks: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => chunks.push(chunk));
  child.once("error", reject);
  child.once("close", (code) => resolve({ code: code ?? 1, output: Buffer.concat(chunks).toString() }));
  return promise;
}
