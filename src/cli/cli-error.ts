import type { ProblemDocument } from "../control-api/schemas/common.ts";
import { exitCodeOf, exitCodes } from "./exit-codes.ts";

/** An end with a message for a person and a code for a script. */
export class CliError extends Error {
  readonly exitCode: number;
  readonly problem: ProblemDocument | undefined;

  constructor(
    message: string,
    exitCode: number = exitCodes.failed,
    options: { readonly problem?: ProblemDocument; readonly cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = "CliError";
    this.exitCode = exitCode;
    this.problem = options.problem;
  }
}

export function usageError(message: string): CliError {
  return new CliError(message, exitCodes.usage);
}

/** What was thrown, in words: anything can be. */
export function thrownMessage(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** Every field error of the answer, not just the first. */
export function problemError(problem: ProblemDocument): CliError {
  const fields = (problem.errors ?? [])
    // A single one often stands in the sentence already.
    .filter(({ message }) => !problem.detail.includes(message))
    .map(({ pointer, message }) => `\n  ${pointer === "" ? "/" : pointer}: ${message}`)
    .join("");
  const verdict = problem.verdict === undefined ? "" : `\n  guard ${problem.verdict.guard}: ${problem.verdict.reason}`;
  return new CliError(`${problem.detail}${fields}${verdict}`, exitCodeOf(problem.code), { problem });
}
