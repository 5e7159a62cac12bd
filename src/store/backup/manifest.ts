import { z } from "zod";

/** What stands unencrypted at the beginning of a file: enough to know which key it needs and whether we can read it. */
export const headerSchema = z.strictObject({
  format: z.literal("setpoint-backup/1"),
  createdAtMs: z.int(),
  installationId: z.string(),
  incarnation: z.int(),
  schemaVersion: z.int(),
  salt: z.string(),
  /** Says which root key it is and nothing about it. */
  rootKeyId: z.string().optional(),
  note: z.string(),
});
export type BackupHeader = z.output<typeof headerSchema>;

export const tableStartSchema = z.strictObject({ table: z.string(), columns: z.array(z.string()) });

/** What the file holds, written last: when it was read, everything before it can be checked against it. */
export const manifestSchema = z.strictObject({
  tables: z.array(z.strictObject({ table: z.string(), rows: z.int(), bytes: z.int(), sha256: z.string() })),
  migrations: z.array(z.strictObject({ version: z.int(), name: z.string(), checksum: z.string() })),
  /** Counters go on from where they were, so that no number is given twice. */
  sequences: z.array(z.strictObject({ sequence: z.string(), value: z.int() })),
});
export type Manifest = z.output<typeof manifestSchema>;

export const rootKeyNote =
  "The root key is not in this file: keep root.key (or SETPOINT_ROOT_KEY) apart; without it the backup cannot be read.";
