import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import type { JournalEntry } from "../../src/ports/operation-store.ts";

/** The journals that releases left behind: one folder per release, one file per pipeline, version and end. */
export const recordedFolder = fileURLToPath(new URL("./recorded", import.meta.url));

const entrySchema = z.object({
  place: z.int(),
  step: z.string(),
  version: z.int(),
  direction: z.enum(["forward", "back"]),
  result: z.enum(["done", "skipped", "begun", "failed", "noted", "again", "moved"]),
  atMs: z.int(),
  input: z.json().optional(),
  output: z.json().optional(),
  message: z.string().optional(),
  code: z.string().optional(),
  attempt: z.int().optional(),
  tookMs: z.number().optional(),
});

const recordingSchema = z.strictObject({
  /** The release whose code wrote it. */
  release: z.string(),
  kind: z.string(),
  pipeline: z.string(),
  version: z.int(),
  /** How it ended. */
  state: z.enum(["succeeded", "cancelled"]),
  input: z.json(),
  /** What was declared when it ran, and whether that was being deleted. */
  spec: z.json(),
  leaving: z.boolean(),
  journal: z.array(entrySchema),
});
export type Recording = Omit<z.output<typeof recordingSchema>, "journal"> & {
  readonly journal: readonly JournalEntry[];
};

export function fileOf({ release, pipeline, version, state }: Omit<Recording, "journal">): string {
  const plain = (text: string) => text.replaceAll(".", "-");
  return join(recordedFolder, `release-${plain(release)}`, `${plain(pipeline)}-${version}-${state}.json`);
}

export function parseRecording(text: string): Recording {
  return recordingSchema.parse(JSON.parse(text));
}

export function recordings(): readonly { readonly file: string; readonly recording: Recording }[] {
  if (!existsSync(recordedFolder)) return [];
  return readdirSync(recordedFolder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".json"))
    .sort()
    .map((name) => ({ file: name, recording: parseRecording(readFileSync(join(recordedFolder, name), "utf8")) }));
}
