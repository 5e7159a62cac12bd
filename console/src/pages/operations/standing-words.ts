import type { OperationDocument } from "../../api/types.ts";

type Standing = Pick<OperationDocument, "state" | "step" | "message" | "waitsFor">;

/**
 * What an operation does or waits for, beside the name of its step. The API's words name the step themselves, for readers who have
 * nothing else; and that something succeeded is said by its state.
 */
export function standingWords({ state, step, message, waitsFor }: Standing): string | undefined {
  if (state === "succeeded") return undefined;
  const words = waitsFor ?? message;
  if (words === `after '${step}'`) return "done, the next step follows";
  const named = `waits for '${step}': `;
  return words.startsWith(named) ? words.slice(named.length) : words;
}
