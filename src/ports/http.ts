export interface HttpRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: string | undefined;
  /** The whole call, connection and body included, ends within this time. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** A longer body ends the call; a cut body is never handed out. */
  readonly bodyLimitBytes?: number | undefined;
}

export interface HttpAnswer {
  readonly answered: true;
  readonly status: number;
  /** Names in lower case; repeated headers joined by ", ". */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** The answer's `Retry-After`, as a duration from its arrival. */
  readonly retryAfterMs?: number | undefined;
}

/** No whole answer came. It is a value and not an exception, because who asked must decide whether the effect may have happened. */
export interface HttpSilence {
  readonly answered: false;
  readonly reason: "timeout" | "aborted" | "connection" | "too-large";
  /** False when the request surely never left: then the other side did nothing. */
  readonly sent: boolean;
  readonly message: string;
}

/** One HTTP call. Never rejects, never follows redirects, never repeats by itself. */
export interface Http {
  request(request: HttpRequest): Promise<HttpAnswer | HttpSilence>;
}
