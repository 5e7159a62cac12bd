import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { type ProblemDocument, problemSchema } from "../control-api/schemas/common.ts";
import { CliError, problemError } from "./cli-error.ts";
import { currentContext } from "./context-file.ts";
import { exitCodes } from "./exit-codes.ts";
import { type ServerSentEvent, serverSentEvents } from "./server-sent-events.ts";
import { storedSession } from "./session-file.ts";
import type { CliWorld } from "./world.ts";

const defaultUrl = "http://127.0.0.1:7780";
const timeoutMs = 30_000;

export interface ApiAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export class ApiClient {
  readonly url: string;
  readonly #world: CliWorld;
  #reason: string | undefined;

  constructor(world: CliWorld) {
    this.#world = world;
    const url = world.environment["SETPOINT_URL"] ?? currentContext(world).url ?? servedHere(world) ?? defaultUrl;
    this.url = url.replace(/\/+$/, "");
  }

  /** Why, for the audit trail: it goes with everything that is changed from now on. */
  because(reason: string): void {
    this.#reason = reason;
  }

  /** Throws a CliError for anything but a success. */
  async send(
    method: string,
    path: string,
    options: { readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> } = {},
  ): Promise<ApiAnswer> {
    const token = options.headers?.["authorization"] === undefined ? requireSignedIn(this.#world, this.url) : "";
    const answer = await this.plain(method, path, {
      ...options,
      headers: { authorization: `Bearer ${token}`, ...options.headers },
    });
    if (answer.status >= 200 && answer.status < 300) return answer;
    throw problemError(problemOf(answer, `${method} ${path}`));
  }

  async get(path: string): Promise<unknown> {
    return (await this.send("GET", path)).body;
  }

  /** Server-sent events from a cursor on, until the connection ends or the signal fires. */
  async *events(
    path: string,
    options: { readonly cursor: string | undefined; readonly signal: AbortSignal },
  ): AsyncGenerator<ServerSentEvent, void, undefined> {
    const { cursor, signal } = options;
    const headers = {
      authorization: `Bearer ${requireSignedIn(this.#world, this.url)}`,
      accept: "text/event-stream",
      ...(cursor === undefined ? {} : { "last-event-id": cursor }),
    };
    const request = { url: this.url + path, headers, signal, whole: false };
    const answer = await this.#world.stream(request).catch((thrown: unknown) => {
      if (signal.aborted) return undefined;
      throw connectionError(this.url, thrown);
    });
    if (answer !== undefined) yield* serverSentEvents(await successOf(answer, path));
  }

  /** A long answer, as it comes. One that breaks off throws. */
  async *download(path: string): AsyncGenerator<string, void, undefined> {
    const headers = { authorization: `Bearer ${requireSignedIn(this.#world, this.url)}` };
    const signal = this.#world.timer(undefined);
    try {
      const answer = await this.#world.stream({ url: this.url + path, headers, signal, whole: true });
      yield* await successOf(answer, path);
    } catch (thrown) {
      throw thrown instanceof CliError ? thrown : connectionError(this.url, thrown);
    }
  }

  /** For what anybody may ask. Throws a CliError for anything but a success. */
  async open(method: string, path: string, body: unknown): Promise<ApiAnswer> {
    const answer = await this.plain(method, path, { body });
    if (answer.status >= 200 && answer.status < 300) return answer;
    throw problemError(problemOf(answer, `${method} ${path}`));
  }

  /** Without a token and without judging the answer. */
  async plain(
    method: string,
    path: string,
    options: { readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> } = {},
  ): Promise<ApiAnswer> {
    const json: Readonly<Record<string, string>> =
      options.body === undefined ? {} : { "content-type": "application/json" };
    const body = options.body === undefined ? undefined : JSON.stringify(options.body);
    try {
      const answer = await this.#world.request({
        method,
        url: this.url + path,
        headers: { ...json, ...reasonHeader(method, this.#reason), ...options.headers },
        body,
        timeoutMs,
      });
      return { status: answer.status, headers: answer.headers, body: parsed(answer.text) };
    } catch (thrown) {
      throw connectionError(this.url, thrown);
    }
  }
}

async function successOf(
  answer: Awaited<ReturnType<CliWorld["stream"]>>,
  path: string,
): Promise<AsyncIterable<string>> {
  if (answer.status === 200) return answer.chunks;
  const text: string[] = [];
  for await (const chunk of answer.chunks) text.push(chunk);
  throw problemError(problemOf({ ...answer, body: parsed(text.join("")) }, `GET ${path}`));
}

/** Headers carry bytes: letters beyond Latin go as UTF-8, and a line break would end the header. */
function reasonHeader(method: string, reason: string | undefined): Readonly<Record<string, string>> {
  if (reason === undefined || method === "GET") return {};
  const line = reason.replace(/\p{Cc}+/gu, " ").trim();
  return line === "" ? {} : { "setpoint-reason": Buffer.from(line, "utf8").toString("latin1") };
}

function requireSignedIn(world: CliWorld, url: string): string {
  const token = findToken(world, url);
  if (token !== undefined) return token;
  throw new CliError(
    "You are not signed in. Sign in with: setpoint auth login. Programs set SETPOINT_TOKEN; on the machine that Setpoint runs on, point SETPOINT_DATA at the data directory that holds operator.token",
    exitCodes.notAllowed,
  );
}

/** SETPOINT_TOKEN, the session of `setpoint auth login`, or the operator's file. */
export function findToken(world: CliWorld, url: string): string | undefined {
  const given = world.environment["SETPOINT_TOKEN"]?.trim();
  if (given !== undefined && given !== "") return given;
  return storedSession(world, url)?.token ?? operatorToken(world);
}

/** The token file of the data directory: the named one, the one here, or the clone's. */
export function operatorToken(world: CliWorld): string | undefined {
  for (const file of tokenFiles(world)) {
    if (!existsSync(file)) continue;
    try {
      return readFileSync(file, "utf8").trim();
    } catch {
      throw new CliError(
        `The token file ${file} cannot be read by this user. Run as the user who started Setpoint, or set SETPOINT_TOKEN`,
        exitCodes.notAllowed,
      );
    }
  }
  return undefined;
}

/**
 * Where the Setpoint of the operator's file listens, on this machine: whoever started it on another port need not say so again.
 * A token that was given goes where its owner says, and not to whoever left a file in this folder.
 */
function servedHere(world: CliWorld): string | undefined {
  if ((world.environment["SETPOINT_TOKEN"] ?? "").trim() !== "") return undefined;
  const file = tokenFiles(world).find((path) => existsSync(path));
  if (file === undefined) return undefined;
  try {
    const port = readFileSync(join(dirname(file), "api.port"), "utf8").trim();
    return /^\d{1,5}$/.test(port) ? `http://127.0.0.1:${port}` : undefined;
  } catch {
    return undefined;
  }
}

export function tokenFiles(world: CliWorld): readonly string[] {
  const named = world.environment["SETPOINT_DATA"];
  if (named !== undefined && named !== "") return [resolve(named, "operator.token")];
  const clone = fileURLToPath(new URL("../../.setpoint/operator.token", import.meta.url));
  return [...new Set([resolve(".setpoint", "operator.token"), clone])];
}

function parsed(text: string): unknown {
  if (text === "") return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function problemOf(answer: ApiAnswer, what: string): ProblemDocument {
  const problem = problemSchema.safeParse(answer.body);
  if (problem.success) return problem.data;
  const detail = `${what} was answered with ${answer.status} and no explanation. Is SETPOINT_URL the address of a Setpoint of this version?`;
  return { type: "about:blank", title: "Unknown answer", status: answer.status, detail, code: "INTERNAL" };
}

function connectionError(url: string, thrown: unknown): CliError {
  const name = thrown instanceof Error ? thrown.name : "";
  if (name === "TimeoutError")
    return new CliError(`${url} did not answer within ${timeoutMs / 1_000} s`, exitCodes.timedOut, { cause: thrown });
  const cause = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown;
  const reason = cause instanceof Error ? ("code" in cause ? String(cause.code) : cause.message) : String(cause);
  return new CliError(
    `Setpoint does not answer at ${url} (${reason}). Start it with "npm start", or set SETPOINT_URL`,
    exitCodes.failed,
    { cause: thrown },
  );
}
