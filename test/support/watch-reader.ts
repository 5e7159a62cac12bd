import { token } from "./api.ts";

export interface WatchEvent {
  readonly event: string;
  readonly id: string | undefined;
  readonly data: {
    readonly type: string;
    readonly uid?: string;
    readonly name?: string;
    readonly revision?: number;
    readonly position?: string;
    readonly statusRevision?: number;
    readonly object?: { readonly metadata: { readonly name: string; readonly uid: string }; readonly spec: unknown };
  };
}

export interface WatchReader {
  readonly status: number;
  readonly events: readonly WatchEvent[];
  readonly body: () => Promise<unknown>;
  /** The first event, from where the last call left off, that fits; undefined when the stream ended before. */
  next(fits: (event: WatchEvent) => boolean): Promise<WatchEvent | undefined>;
  /** Resolves when the other end has closed the stream. */
  readonly ended: Promise<void>;
  close(): void;
}

/** Reads server-sent events off a real connection. */
export async function openWatch(url: string, headers: Record<string, string> = {}): Promise<WatchReader> {
  const over = new AbortController();
  const answer = await fetch(url, { headers: { authorization: `Bearer ${token}`, ...headers }, signal: over.signal });
  const events: WatchEvent[] = [];
  let wake = () => {};
  let isOver = false;
  const streams = answer.headers.get("content-type")?.startsWith("text/event-stream") === true;
  const ended = (async () => {
    if (!streams || answer.body === null) return;
    let text = "";
    try {
      for await (const chunk of answer.body.pipeThrough(new TextDecoderStream())) {
        text += chunk;
        const blocks = text.split("\n\n");
        text = blocks.pop() ?? "";
        events.push(...blocks.flatMap(eventOf));
        wake();
      }
    } catch {
      // Closed from this side, or cut off: either way it is over.
    }
    isOver = true;
    wake();
  })();
  let read = 0;
  return {
    status: answer.status,
    events,
    body: (): Promise<unknown> => answer.json(),
    ended,
    close: () => over.abort(),
    next: async (fits) => {
      for (;;) {
        while (read < events.length) {
          const event = events[read++];
          if (event !== undefined && fits(event)) return event;
        }
        if (isOver) return undefined;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}

function eventOf(block: string): readonly WatchEvent[] {
  const lines = block.split("\n");
  const value = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
  const data = value("data");
  // What only says that the connection is still there.
  if (block.startsWith(":")) return [{ event: "COMMENT", id: undefined, data: { type: block.slice(1).trim() } }];
  if (data === undefined) return [];
  return [{ event: value("event") ?? "", id: value("id"), data: JSON.parse(data) as WatchEvent["data"] }];
}
