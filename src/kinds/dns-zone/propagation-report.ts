import { z } from "zod";

/** `current`: as the zone is at its account. `old`: something else. `silent`: no answer that says what is there. */
const answerShape = {
  server: z.string(),
  state: z.enum(["current", "old", "silent"]),
  answer: z.string(),
  /** Since when this server answers so. */
  sinceMs: z.number(),
};

const serverReportSchema = z.object({ ...answerShape, role: z.enum(["authoritative", "resolver"]) });
const setReportSchema = z.object({ key: z.string(), wanted: z.string(), answers: z.array(z.object(answerShape)) });

/** Servers by answers: the serial of each, and the record sets that changed lately or are not the same everywhere. */
export const propagationReportSchema = z.object({
  servers: z.array(serverReportSchema).readonly(),
  sets: z.array(setReportSchema).readonly(),
});

export type PropagationReport = z.output<typeof propagationReportSchema>;
export type ServerReport = z.output<typeof serverReportSchema>;
export type SetReport = z.output<typeof setReportSchema>;
