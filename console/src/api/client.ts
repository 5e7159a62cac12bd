import type { ProblemDocument } from "./types.ts";

/** A refusal of the API, in its own words. */
export class ApiProblem extends Error {
  readonly problem: ProblemDocument;

  constructor(problem: ProblemDocument) {
    super(problem.detail);
    this.name = "ApiProblem";
    this.problem = problem;
  }

  get code(): ProblemDocument["code"] {
    return this.problem.code;
  }
}

export interface RequestOptions {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Why, for the audit trail. */
  readonly reason?: string | undefined;
  readonly signal?: AbortSignal;
}

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** Asks the API with the session's cookie. Whoever has none is sent to sign in and comes back to the same page. */
export async function api<Answer>(method: Method, path: string, options: RequestOptions = {}): Promise<Answer> {
  return (await apiWithHeaders<Answer>(method, path, options)).body;
}

export async function apiWithHeaders<Answer>(
  method: Method,
  path: string,
  options: RequestOptions = {},
): Promise<{ readonly body: Answer; readonly headers: Headers }> {
  const { body, headers, reason, signal } = options;
  const answer = await fetch(path, {
    method,
    credentials: "same-origin",
    cache: "no-store",
    headers: {
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(reason === undefined || reason === "" ? {} : { "setpoint-reason": encodedReason(reason) }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  }).catch((thrown: unknown) => {
    if (thrown instanceof DOMException && thrown.name === "AbortError") throw thrown;
    throw unreachable(method !== "GET");
  });
  const text = await answer.text();
  if (answer.ok) return { body: parsed(text) as Answer, headers: answer.headers };
  throw problemOf(answer.status, text, `${method} ${path}`);
}

/** A refusal, from what was answered; 0 where nobody answered. */
export function problemOf(status: number, text: string, what: string): ApiProblem {
  if (status === 0) return unreachable(false);
  const document = parsed(text);
  const problem = isProblem(document) ? document : unknownAnswer(status, what);
  // A password or a code that is wrong is no reason to leave: the session is as good as before.
  if (status === 401 && problem.code !== "SIGN_IN_REFUSED") signIn();
  return new ApiProblem(problem);
}

export function get<Answer>(path: string, signal?: AbortSignal): Promise<Answer> {
  return api<Answer>("GET", path, signal === undefined ? {} : { signal });
}

/** Query parameters without those that say nothing. */
export function query(parameters: Readonly<Record<string, string | number | boolean | undefined>>): string {
  const given = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined || value === "" ? [] : [[name, String(value)] as [string, string]],
  );
  return given.length === 0 ? "" : `?${new URLSearchParams(given).toString()}`;
}

export function signIn(): void {
  const { pathname, search } = location;
  if (pathname === "/sign-in") return;
  location.assign(`/sign-in${pathname.startsWith("/o/") ? `?next=${encodeURIComponent(pathname + search)}` : ""}`);
}

/** Headers carry bytes: letters beyond Latin go as UTF-8. */
function encodedReason(reason: string): string {
  return String.fromCharCode(...new TextEncoder().encode(reason.replace(/\p{Cc}+/gu, " ").trim()));
}

function parsed(text: string): unknown {
  if (text === "") return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function isProblem(value: unknown): value is ProblemDocument {
  return typeof value === "object" && value !== null && "code" in value && "detail" in value;
}

function unknownAnswer(status: number, what: string): ProblemDocument {
  const detail = `${what} was answered with ${status} and no explanation.`;
  return { type: "about:blank", title: "Unknown answer", status, detail, code: "INTERNAL" };
}

/** What was only asked is asked again when the stream of changes is back; what was to be done may have been done without an answer. */
function unreachable(mayHaveActed: boolean): ApiProblem {
  const detail = mayHaveActed
    ? "The server does not answer, so it is not known whether this was done. It is not repeated by itself: look how it is now before you try again."
    : "The server does not answer. It is asked again as soon as it is back.";
  return new ApiProblem({ type: "about:blank", title: "No connection", status: 0, detail, code: "UNAVAILABLE" });
}
