import { providerErrorOf, toError } from "./answer-error.ts";
import type { HetznerClient } from "./client.ts";

/**
 * Whether the token may write, by a request that cannot succeed: an SSH key without a name and a key. A token that may only read
 * is refused for that (403) before anybody looks at the body (422).
 */
export async function readRights(
  client: HetznerClient,
  signal: AbortSignal,
): Promise<{ readonly write: boolean; readonly reason: string }> {
  const what = "the question whether the token may write";
  const call = { method: "POST" as const, path: ["ssh_keys"], body: { name: "", public_key: "" }, what };
  const answer = await client.send(call, signal);
  const { code, message } = providerErrorOf(answer);
  if (answer.status === 422 || code === "invalid_input") return { write: true, reason: "the token may write" };
  if (answer.status === 403) return { write: false, reason: `${code}: ${message}` };
  throw toError(what, answer);
}
