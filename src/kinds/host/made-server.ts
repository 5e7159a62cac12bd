import { z } from "zod";

/** What the step that makes a server comes to. */
export interface MadeServer {
  readonly id: string;
  /** The provider's own work that was going on when the call was answered. */
  readonly work?: string | undefined;
}
export const serverShape: z.ZodType<MadeServer> = z.object({ id: z.string(), work: z.string().optional() });
