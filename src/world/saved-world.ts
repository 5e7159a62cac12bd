import { z } from "zod";
import { faultSchema } from "./fault-schema.ts";
import type { World } from "./world.ts";

/** What a world is, as JSON: save it, look at it, load it elsewhere. */
const savedSchema = z.object({
  format: z.literal("setpoint-world/1"),
  nowMs: z.number(),
  random: z.int(),
  settings: z.object({
    pace: z.number().min(0),
    listLagSeconds: z.number().min(0),
    pageMax: z.int().min(1).optional(),
  }),
  faults: z.array(z.object({ id: z.int(), placedMs: z.number(), struck: z.int(), fault: faultSchema })),
  lastFault: z.int().min(0),
  clouds: z.record(z.string(), z.unknown()),
});

export function saveWorld({ core, clouds }: World): z.input<typeof savedSchema> {
  return {
    format: "setpoint-world/1",
    nowMs: core.time.nowMs,
    random: core.random.state,
    settings: { ...core.settings },
    faults: core.tray.list().map((placed) => ({ ...placed })),
    lastFault: core.tray.lastId,
    clouds: Object.fromEntries(clouds.map((cloud) => [cloud.name, cloud.save()])),
  };
}

export function loadWorld({ core, clouds }: World, saved: unknown): void {
  const read = savedSchema.parse(saved);
  core.time.nowMs = read.nowMs;
  for (const cloud of clouds) {
    const own = read.clouds[cloud.name];
    if (own !== undefined) cloud.load(own);
  }
  core.random.state = read.random;
  Object.assign(core.settings, { pageMax: undefined, ...read.settings });
  core.tray.load(read.faults, read.lastFault);
}
