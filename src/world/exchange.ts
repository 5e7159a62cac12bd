/** One request as the world sees it, whatever carried it. */
export interface WorldRequest {
  readonly method: string;
  /** Without the query, as it was sent. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
}

export interface WorldAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON, or text that is sent as it stands; undefined: no body. */
  readonly body: unknown;
}

/** What the carrier does with an answer: waits, then sends it, says nothing until the caller gives up, or hangs up. */
export interface WorldReaction {
  readonly waitMs: number;
  readonly send: "answer" | "nothing" | "cut";
  readonly answer: WorldAnswer;
}
