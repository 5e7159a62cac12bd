import { thrownMessage } from "../kernel/errors.ts";
import { StoreError } from "../store/errors.ts";
import { Problem } from "./problem.ts";
import type { ProblemCode } from "./schemas/common.ts";

/** The one place where something thrown by anybody becomes an answer. */
export function toProblem(thrown: unknown): Problem {
  if (thrown instanceof Problem) return thrown;
  if (thrown instanceof StoreError) return storeProblem(thrown);
  const status = statusOf(thrown);
  if (status === 413) return new Problem("TOO_LARGE", "The request is larger than 1 MiB: split it");
  if (status === 415)
    return new Problem("BODY_INVALID", 'The body must be JSON: send "Content-Type: application/json"');
  if (status !== undefined && status >= 400 && status < 500) {
    return new Problem("BODY_INVALID", `The request cannot be read: ${thrownMessage(thrown)}`);
  }
  return new Problem(
    "INTERNAL",
    "Something went wrong on our side. Nothing is known to have changed; the log has the request id",
  );
}

function storeProblem(error: StoreError): Problem {
  const codes: Partial<Record<StoreError["code"], ProblemCode>> = {
    ALREADY_EXISTS: "ALREADY_EXISTS",
    NOT_FOUND: "NOT_FOUND",
    BAD_VALUE: "FIELDS_INVALID",
  };
  if (error.retryable) return new Problem("UNAVAILABLE", error.message, { retryAfterSeconds: 5 });
  const code = codes[error.code];
  return code === undefined
    ? new Problem("INTERNAL", "The database refused this. The log has the request id")
    : new Problem(code, error.message);
}

function statusOf(thrown: unknown): number | undefined {
  return thrown instanceof Error && "statusCode" in thrown && typeof thrown.statusCode === "number"
    ? thrown.statusCode
    : undefined;
}
