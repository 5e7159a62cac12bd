export interface ServerSentEvent {
  readonly id: string | undefined;
  readonly event: string;
  readonly data: string;
}

/** Takes text as it comes and gives events as they are whole. Comments only keep the connection open. */
export async function* serverSentEvents(
  chunks: AsyncIterable<string>,
): AsyncGenerator<ServerSentEvent, void, undefined> {
  let pending = "";
  for await (const chunk of chunks) {
    pending += chunk;
    for (let end = pending.indexOf("\n\n"); end !== -1; end = pending.indexOf("\n\n")) {
      const event = parsed(pending.slice(0, end));
      pending = pending.slice(end + 2);
      if (event !== undefined) yield event;
    }
  }
}

function parsed(text: string): ServerSentEvent | undefined {
  const fields = new Map(
    text
      .split("\n")
      .filter((line) => !line.startsWith(":"))
      .map((line) => {
        const colon = line.indexOf(":");
        return [line.slice(0, colon), line.slice(colon + 1).trimStart()] as const;
      }),
  );
  const data = fields.get("data");
  if (data === undefined) return undefined;
  return { id: fields.get("id"), event: fields.get("event") ?? "message", data };
}
