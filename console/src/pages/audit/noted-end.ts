import type { LogPoint } from "../../../../src/ports/read-store.ts";

/** Where this browser last saw the record of an organization end, and when. */
export interface NotedEnd extends LogPoint {
  readonly at: string;
}

const keyOf = (organization: string) => `setpoint-audit-end/${organization}`;

/** Nothing where the browser keeps nothing, or something else stands there. */
export function notedEnd(organization: string): NotedEnd | undefined {
  try {
    const { position, hash, at } = JSON.parse(localStorage.getItem(keyOf(organization)) ?? "{}") as Partial<NotedEnd>;
    if (typeof position !== "number" || typeof hash !== "string" || typeof at !== "string") return undefined;
    return { position, hash, at };
  } catch {
    return undefined;
  }
}

export function noteEnd(organization: string, end: NotedEnd): void {
  try {
    localStorage.setItem(keyOf(organization), JSON.stringify(end));
  } catch {
    // A full or forbidden store: the next check compares with what somebody pastes, or with nothing.
  }
}

/** POSITION:HASH, as this page and `setpoint audit verify` print it. */
export function readEnd(text: string): LogPoint | undefined {
  const match = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text.trim());
  return match === null ? undefined : { position: Number(match[1]), hash: match[2] ?? "" };
}

export function endText({ position, hash }: LogPoint): string {
  return `${position}:${hash}`;
}
