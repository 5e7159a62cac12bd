import { z } from "zod";
import type { Table, WorldTime } from "../table.ts";
import { newProject, type Project, tableNames } from "./project.ts";
import type { RowOf, TableName } from "./rows.ts";

const settingSchema = z.strictObject({
  cpu: z.number().min(0).max(10_000).nullish(),
  network: z.number().min(0).nullish(),
});
export const serverLoadSchema = z.record(z.string().min(1), settingSchema);

const rowsSchema = z.array(z.looseObject({ id: z.int() }));
/** What every table but that of the actions has: without it no list could be made. */
const thingsSchema = z.array(
  z.looseObject({ id: z.int(), createdMs: z.number(), labels: z.record(z.string(), z.string()) }),
);
export const savedProjectSchema = z.object({
  name: z.string(),
  limits: z.record(z.string(), z.int().min(0)),
  requestsPerHour: z.int().min(1),
  rate: z.object({ left: z.number(), atMs: z.number() }),
  load: serverLoadSchema.default({}),
  running: z.array(z.int()),
  tables: z.object({ actions: rowsSchema.default([]) }).catchall(thingsSchema),
});

export function saveProject(project: Project): z.input<typeof savedProjectSchema> {
  const { name, limits, requestsPerHour, rate, load, running } = project;
  const tables = tableNames.map((table) => [table, project[table].all().map((row) => ({ ...row }))] as const);
  const saved = Object.fromEntries(tables) as z.input<typeof savedProjectSchema>["tables"];
  return { name, limits, requestsPerHour, rate, load: { ...load }, running: [...running], tables: saved };
}

export function loadProject(saved: z.output<typeof savedProjectSchema>, time: WorldTime): Project {
  const project = newProject(saved.name, time);
  for (const table of tableNames) {
    const rows = project[table] as unknown as Table<RowOf[TableName]>;
    for (const row of saved.tables[table] ?? []) rows.put(row as unknown as RowOf[TableName]);
  }
  project.limits = { ...project.limits, ...saved.limits };
  project.requestsPerHour = saved.requestsPerHour;
  project.rate = saved.rate;
  project.load = saved.load;
  project.running = saved.running;
  return project;
}
