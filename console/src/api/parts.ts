import type { z } from "zod";
import type { stepEntrySchema } from "../../../src/control-api/schemas/operation.ts";
import type { ComparisonDocument, DryRunDocument, PlanDocument, ResourceDocument } from "./types.ts";

/** Parts of documents that have no name of their own. */
export type Mode = "observe" | "propose" | "enforce";
export type Verdict = PlanDocument["subjects"][number]["verdicts"][number];
export type Difference = PlanDocument["subjects"][number]["update"][number]["differences"][number];
export type PlannedSubject = DryRunDocument["subjects"][number];
export interface ResourcePage {
  readonly items: readonly ResourceDocument[];
  readonly nextPageToken?: string;
}
export type StepEntry = z.output<typeof stepEntrySchema>;
export type ComparedItem = ComparisonDocument["subjects"][number]["items"][number];
