import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Config, Environment } from "../config.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import { createJsonLog } from "../runtime/json-log.ts";
import { type LogFile, openLogFile } from "../runtime/log-file.ts";
import { startEmbeddedServer } from "../store/embedded/server.ts";
import { migrate } from "../store/migrate.ts";
import type { Message } from "./channel.ts";
import { demoCredentials } from "./demo/names.ts";
import { explainFailure } from "./explain-failure.ts";
import { firstLink } from "./first-link.ts";
import { listenAddress, portError } from "./port-error.ts";
import { tellPort } from "./port-file.ts";
import { noticeRestore } from "./restore.ts";
import { RoleChild } from "./role-child.ts";
import { StartError } from "./start-error.ts";
import { ensureToken, tokenFileOf } from "./token-file.ts";
import type { World } from "./world.ts";

const roles = ["api", "scheduler", "worker"] as const;
const sameSignalMs = 1_000;

/**
 * `dev`: the database, then each role as a child process, until a signal comes. Whatever fails on the way, everything that
 * was started is stopped again, in reverse order. Answers with the exit code.
 */
export async function runDev(config: Config, environment: Environment, world: World): Promise<number> {
  const startedAtMs = world.clock.monotonicMs();
  const signals = watchSignals(world.clock);
  await using undo = new AsyncDisposableStack();
  try {
    await requireFreePort(config.port);
    ensureToken(config.dataDirectory);
    const logFile = undo.use(openLog(config));
    const log = createJsonLog({
      level: config.logLevel,
      base: { role: "supervisor", processId: process.pid },
      write: (line) => logFile.write(line),
    });
    log.info("supervisor.starting", { version: world.version, dataDirectory: config.dataDirectory });
    const database = await startDatabase(config, log, undo);
    tellPort(config.dataDirectory, config.port);
    await migrate({ url: database.url, log });
    const restored =
      database.embedded !== undefined &&
      (await noticeRestore(config, { ...database, ...database.embedded }, { world, log }));
    const children = createChildren(config, { environment, world, log, logFile, url: database.url });
    undo.defer(() => stopAll(children, log, signals));
    const started = Promise.all(children.map((child) => child.start()));
    started.catch(() => undefined);
    const early = await Promise.race([started.then(() => undefined), signals.first, database.lost]);
    if (early !== undefined) return endWith(early, log);
    const link = await firstLink(config, database.url, log);
    const tookMs = world.clock.monotonicMs() - startedAtMs;
    process.stdout.write(banner(config, world, { logFile: logFile.path, database: database.where, link, tookMs }));
    if (restored) process.stdout.write(RESTORED);
    log.info("supervisor.ready", { tookMs: Math.round(tookMs) });
    return endWith(await Promise.race([signals.first, database.lost]), log);
  } catch (thrown) {
    process.stderr.write(`setpoint: ${explainFailure(thrown)}\n`);
    return 1;
  }
}

type Ending = { readonly signal: NodeJS.Signals } | { readonly failure: string };

function endWith(ending: Ending, log: Log): number {
  if ("failure" in ending) {
    log.error("supervisor.ending", { reason: ending.failure });
    process.stderr.write(`setpoint: ${ending.failure}\n`);
    return 1;
  }
  log.info("supervisor.ending", { signal: ending.signal });
  process.stderr.write("setpoint: stopping; work that runs may end first (again to stop at once)\n");
  // Ended because it was asked to, which is a success; only a shell cares that Ctrl-C asked.
  return ending.signal === "SIGINT" ? 130 : 0;
}

interface Signals {
  readonly first: Promise<Ending>;
  readonly second: AbortSignal;
}

function watchSignals(clock: Clock): Signals {
  const first = Promise.withResolvers<Ending>();
  const second = new AbortController();
  let firstAtMs: number | undefined;
  const told = (signal: NodeJS.Signals) => {
    const nowMs = clock.monotonicMs();
    if (firstAtMs === undefined) first.resolve({ signal });
    // A launcher passes on what the terminal sent to us as well: one Ctrl-C may arrive twice.
    else if (nowMs - firstAtMs > sameSignalMs) second.abort();
    firstAtMs ??= nowMs;
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => told(signal));
  // Whoever started us through a channel (the command line) is gone: the same as being asked to stop.
  process.once("disconnect", () => told("SIGTERM"));
  return { first: first.promise, second: second.signal };
}

/** Found before anything is started: nothing is left behind, and the message comes at once. */
function requireFreePort(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", (error) => reject(portError(error, port)));
    probe.listen(port, listenAddress, () => probe.close(() => resolve()));
  });
}

function openLog(config: Config): LogFile {
  const path = join(config.dataDirectory, "setpoint.log");
  try {
    return openLogFile(path);
  } catch (thrown) {
    throw new StartError(
      `The log ${path} cannot be written (${(thrown as NodeJS.ErrnoException).code ?? String(thrown)}). Make it writable for this user, or set SETPOINT_DATA.`,
    );
  }
}

const RESTORED = `
This database was restored or copied. Nothing is written to an account before you approve that it is given back:
see "setpoint held list".
`;

interface RunningDatabase {
  readonly url: string;
  readonly where: string;
  readonly embedded: { readonly fresh: boolean } | undefined;
  /** Resolves only if the embedded server was given up. */
  readonly lost: Promise<Ending>;
}

async function startDatabase(config: Config, log: Log, undo: AsyncDisposableStack): Promise<RunningDatabase> {
  const never = new Promise<Ending>(() => undefined);
  if (config.databaseUrl !== undefined) {
    return {
      url: config.databaseUrl,
      where: `${new URL(config.databaseUrl).host} (DATABASE_URL)`,
      embedded: undefined,
      lost: never,
    };
  }
  const server = await startEmbeddedServer({
    dataDirectory: join(config.dataDirectory, "postgres"),
    log: (event, fields) => log.info(event, fields as Parameters<Log["info"]>[1]),
  });
  undo.defer(() => server.stop());
  const lost = Promise.withResolvers<Ending>();
  server.onExit((reason, next) => {
    log.error("supervisor.database-ended", { reason, next });
    if (next === "gave-up")
      lost.resolve({
        failure: `The embedded database ended and does not start again: ${reason}. Its log: ${server.logFile}`,
      });
  });
  return { url: server.url, where: server.dataDirectory, embedded: { fresh: server.startedFresh }, lost: lost.promise };
}

function createChildren(
  config: Config,
  about: {
    readonly environment: Environment;
    readonly world: World;
    readonly log: Log;
    readonly logFile: LogFile;
    readonly url: string;
  },
): readonly RoleChild[] {
  const environment = {
    ...about.environment,
    DATABASE_URL: about.url,
    SETPOINT_DATA: config.dataDirectory,
    SETPOINT_KINDS: kindModulesOf(config).join(","),
    ...(config.demo ? demoCredentials : {}),
  };
  const children: RoleChild[] = [];
  const changed = () => {
    const services = children.map(({ role, state, detail }) => ({ name: role, state, detail }));
    for (const child of children) child.send({ type: "services", services });
  };
  const relay = (from: string) => (message: Message) => {
    const others = children.filter(({ role }) => role !== from);
    // Metrics are asked of the other roles, and the answers go back under the id of the question.
    if (message.type === "ask-metrics") {
      const asked = others.filter(({ state }) => state === "running");
      const asker = children.find(({ role }) => role === from);
      asker?.send({ type: "metrics-asked", id: message.id, count: asked.length });
      for (const child of asked) child.send(message);
    }
    if (message.type === "metrics") for (const child of others) child.send(message);
    // Only the demo kills, and only to show that it does not matter.
    if (message.type === "kill" && from === "demo") children.find(({ role }) => role === message.role)?.kill();
  };
  for (const role of config.demo ? [...roles, "demo"] : roles) {
    children.push(
      new RoleChild({
        role,
        main: fileURLToPath(new URL("../main.ts", import.meta.url)),
        environment,
        clock: about.world.clock,
        log: about.log,
        printed: (text) => about.logFile.write(text),
        message: relay(role),
        changed,
      }),
    );
  }
  return children;
}

/** Whoever brings no kinds of their own gets the tutorial's, so that there is something to declare on the first evening. */
function kindModulesOf(config: Config): readonly string[] {
  return config.kindModules.length > 0
    ? config.kindModules
    : [fileURLToPath(new URL("../../examples/demo.ts", import.meta.url))];
}

/** All at once; a second signal ends the patience. */
async function stopAll(children: readonly RoleChild[], log: Log, signals: Signals): Promise<void> {
  const stopped = Promise.all(children.map((child) => child.stop({ atOnce: false })));
  const insist = () => void Promise.all(children.map((child) => child.stop({ atOnce: true })));
  if (signals.second.aborted) insist();
  signals.second.addEventListener("abort", insist, { once: true });
  await stopped;
  log.info("supervisor.roles-stopped");
}

function banner(
  config: Config,
  world: World,
  about: {
    readonly logFile: string;
    readonly database: string;
    readonly link: string | undefined;
    readonly tookMs: number;
  },
): string {
  const url = `${config.publicUrl ?? `http://${listenAddress}:${config.port}`}/`;
  const lines = [
    ["Console", url],
    about.link === undefined
      ? ["Sign in", `${url}sign-in; a one-time link: bin/setpoint.mjs auth link`]
      : ["Sign in", `${about.link} (once, within a day: you become the administrator)`],
    [
      "",
      `the setpoint command signs in by itself; for the API: "Authorization: Bearer" and the token in ${tokenFileOf(config.dataDirectory)}`,
    ],
    ["Data", `${config.dataDirectory} (SETPOINT_DATA); database: ${about.database}`],
    ["Port", `${config.port} on ${listenAddress} (SETPOINT_PORT)`],
    ["Log", about.logFile],
    ["Next", "bin/setpoint.mjs doctor; bin/setpoint.mjs --help"],
  ];
  const body = lines.map(([name = "", value = ""]) => `  ${name.padEnd(13)}${value}`).join("\n");
  return `Setpoint ${world.version} is ready. It took ${(about.tookMs / 1_000).toFixed(1)} s.\n\n${body}\n\nStop with Ctrl-C.\n`;
}
