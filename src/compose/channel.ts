import { z } from "zod";

/** What the supervisor and its roles say to each other. */
const messageSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("ready"), detail: z.string() }),
  z.object({ type: z.literal("failed"), message: z.string() }),
  z.object({ type: z.literal("ask-metrics"), id: z.number() }),
  /** How many were asked: so many answers come. */
  z.object({ type: z.literal("metrics-asked"), id: z.number(), count: z.number() }),
  z.object({ type: z.literal("kill"), role: z.string() }),
  z.object({ type: z.literal("metrics"), id: z.number(), text: z.string() }),
  z.object({
    type: z.literal("services"),
    services: z.array(z.object({ name: z.string(), state: z.string(), detail: z.string() })),
  }),
]);
export type Message = z.output<typeof messageSchema>;

/** Undefined for anything else that may come through a channel. */
export function parseMessage(message: unknown): Message | undefined {
  return messageSchema.safeParse(message).data;
}
