import { type ChildProcess, spawn } from "node:child_process";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { thrownMessage } from "../../kernel/errors.ts";
import type { Binaries } from "./binaries.ts";
import type { DataDirectory } from "./data-directory.ts";
import { EmbeddedServerError } from "./errors.ts";
import { cleanEnvironment } from "./run-program.ts";
import { toArguments } from "./settings.ts";

/** One run of the server, from its start to its end. A restart makes another one. */
export interface Postmaster {
  readonly pid: number;
  /** The process that stops the server when we die; undefined where there is no shell. */
  readonly guardPid: number | undefined;
  /** Resolves once, when the process has ended and was reaped, with how it ended. */
  readonly ended: Promise<string>;
  /** Fast shutdown; an immediate one when that takes too long. Resolves when the process is gone. */
  stop(): Promise<void>;
}

export interface PostmasterOptions {
  readonly binaries: Binaries;
  readonly data: DataDirectory;
  readonly settings: Readonly<Record<string, string>>;
  /** The open file that takes everything the server says. */
  readonly logDescriptor: number;
}

const FAST_SHUTDOWN_MS = 10_000;
const IMMEDIATE_SHUTDOWN_MS = 5_000;

export async function startPostmaster(options: PostmasterOptions): Promise<Postmaster> {
  const { binaries, data, settings, logDescriptor } = options;
  const child = spawn(binaries.postgres, ["-D", data.pgData, ...toArguments(settings)], {
    cwd: "/",
    env: cleanEnvironment(),
    stdio: ["ignore", logDescriptor, logDescriptor],
    // A session of its own: Ctrl-C reaches us and not the server, so that our work can end before the database does.
    detached: true,
    ...data.user.switchTo,
  });
  const exit = Promise.withResolvers<string>();
  child.once("exit", (code, signal) => exit.resolve(signal === null ? `exit code ${code}` : `signal ${signal}`));
  await spawned(child, binaries.postgres);
  const pid = child.pid ?? 0;
  const guard = startGuard(pid, data);
  const ended = exit.promise.then((how) => guard.dismiss().then(() => how));

  return {
    pid,
    guardPid: guard.pid,
    ended,
    async stop() {
      const limits = { SIGINT: FAST_SHUTDOWN_MS, SIGQUIT: IMMEDIATE_SHUTDOWN_MS } as const;
      for (const signal of ["SIGINT", "SIGQUIT"] as const) {
        child.kill(signal);
        if (await endsWithin(ended, limits[signal])) return;
      }
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/**
 * Stops the server when this process is gone, however it went: the guard waits for the end of a pipe that only we
 * hold open. It is a shell that blocks in `read`, so it costs nothing while it waits, and it checks that the server
 * it knows still is the server of this directory. When the guard was killed too, the next start takes the server over.
 */
const GUARD_SCRIPT = 'read -r _; read -r pid < "$2" && [ "$pid" = "$1" ] && kill -INT "$1"';

interface Guard {
  readonly pid: number | undefined;
  dismiss(): Promise<void>;
}

function startGuard(pid: number, { pgData, user }: DataDirectory): Guard {
  const lockFile = path.join(pgData, "postmaster.pid");
  const child = spawn("/bin/sh", ["-c", GUARD_SCRIPT, "setpoint-guard", String(pid), lockFile], {
    cwd: "/",
    env: cleanEnvironment(),
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
    ...user.switchTo,
  });
  const ended = Promise.withResolvers<void>();
  child.once("exit", () => ended.resolve());
  // Without a shell everything works but this comfort.
  child.once("error", () => ended.resolve());
  return {
    pid: child.pid,
    async dismiss() {
      // Killed and not told: closing its pipe is the one signal it knows, and means the opposite.
      child.kill("SIGKILL");
      await ended.promise;
    },
  };
}

async function spawned(child: ChildProcess, program: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  child.once("spawn", resolve);
  child.once("error", (thrown) => {
    reject(
      new EmbeddedServerError("START_FAILED", `${program} could not be started: ${thrownMessage(thrown)}.`, {
        cause: thrown,
      }),
    );
  });
  await promise;
}

async function endsWithin(ended: Promise<string>, limitMs: number): Promise<boolean> {
  const limit = new AbortController();
  const result = await Promise.race([
    ended.then(() => true),
    wait(limitMs, false, { signal: limit.signal }).catch(() => false),
  ]);
  limit.abort();
  return result;
}
