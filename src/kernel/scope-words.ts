import type { Pause } from "../ports/records.ts";
import { scopeNames } from "./scope-names.ts";

const seenFromBelow: Readonly<Record<string, string>> = {
  organization: "the organization",
  account: "its account",
  resource: "the resource itself",
};

/** A scope as it is called by whoever looks up at it from something below: nobody knows ids. */
export function scopeWords(scope: string): string {
  const { project, workspace } = scopeNames(scope);
  if (workspace !== undefined) return `workspace ${project}/${workspace}`;
  if (project !== undefined) return `project ${project}`;
  return seenFromBelow[scope.split("/")[0] ?? ""] ?? scope;
}

/** Why something waits, from the side of what the pause covers. */
export function pausedWords(
  { level, scope, author, reason }: Omit<Pause, "id" | "expiresAtMs">,
  left?: string,
): string {
  const what = level === "all" ? "everything" : level;
  const until = left === undefined ? "" : ` for another ${left}`;
  return `${what} paused at ${scopeWords(scope)} by ${author}${until}: ${reason}`;
}
