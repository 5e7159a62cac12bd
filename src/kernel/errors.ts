/** Every way a look or a write can fail. A new code does not compile until each audience has decided what it means. */
export type ErrorCode =
  | "SPEC_INVALID"
  | "KIND_UNKNOWN"
  | "ACCOUNT_UNKNOWN"
  | "CREDENTIAL_REFUSED"
  | "NOT_FOUND"
  | "ALREADY_EXISTS"
  | "PRECONDITION_FAILED"
  | "PROVIDER_REFUSED"
  | "PROVIDER_UNAVAILABLE"
  | "RATE_LIMITED"
  | "DEPENDENCY_NOT_READY"
  | "TIMED_OUT"
  | "WILDCARD_REFUSED"
  | "INTERNAL";

export class EngineError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/** Trying again cannot help until an input changes. Stops writes, not looks. */
export class TerminalError extends EngineError {}

/** Trying again may help, and not before `afterMs`, where the provider or its client knows how long it takes. */
export class RetryableError extends EngineError {
  readonly afterMs: number | undefined;
  /** False when the provider surely did nothing (refused before acting); otherwise the effect may have happened. */
  readonly ambiguous: boolean;

  constructor(
    code: ErrorCode,
    message: string,
    options: ErrorOptions & { readonly afterMs?: number; readonly ambiguous?: boolean } = {},
  ) {
    super(code, message, options);
    this.afterMs = options.afterMs;
    this.ambiguous = options.ambiguous ?? true;
  }
}

/** The one place where something thrown by anybody becomes something we understand. */
export function toEngineError(thrown: unknown): EngineError {
  if (thrown instanceof EngineError) return thrown;
  return new RetryableError("INTERNAL", `Unexpected failure: ${thrownMessage(thrown)}`, { cause: thrown });
}

/** What was thrown, in words: anything can be. */
export function thrownMessage(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** Once something was done outside, no failure can say that nothing was: it is looked for before it is tried again. */
export async function afterEffect<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (thrown) {
    const error = toEngineError(thrown);
    if (error instanceof RetryableError && error.ambiguous) throw error;
    const hint = error instanceof RetryableError && error.afterMs !== undefined ? { afterMs: error.afterMs } : {};
    throw new RetryableError(error.code, error.message, { ...hint, ambiguous: true, cause: error });
  }
}
