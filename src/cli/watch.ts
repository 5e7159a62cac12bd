import { z } from "zod";
import { type ResourceDocument, resourceSchema } from "../control-api/schemas/resource.ts";
import type { ApiClient } from "./api-client.ts";

export type WatchEvent =
  | { readonly type: "ADDED" | "MODIFIED"; readonly object: ResourceDocument }
  | { readonly type: "DELETED"; readonly name: string };

const eventSchema = z.union([
  z.object({ type: z.enum(["ADDED", "MODIFIED"]), object: resourceSchema }),
  z.object({ type: z.literal("DELETED"), name: z.string() }),
]);

/** The events of a list until the signal fires. A connection that is lost is taken up where it was. */
export async function* watchList(
  client: ApiClient,
  path: string,
  signal: AbortSignal,
): AsyncGenerator<WatchEvent, void, undefined> {
  let cursor: string | undefined;
  while (!signal.aborted) {
    for await (const event of client.events(path, { cursor, signal })) {
      cursor = event.id ?? cursor;
      const parsed = eventSchema.safeParse(JSON.parse(event.data));
      if (parsed.success) yield parsed.data;
    }
  }
}
