import { readFileSync } from "node:fs";
import { z } from "zod";
import { serveWorld } from "../world/http-server.ts";
import { World, type WorldOptions } from "../world/world.ts";
import { portError } from "./port-error.ts";
import { StartError } from "./start-error.ts";
import type { World as Ports } from "./world.ts";

const flagsSchema = z.object({
  port: z.int(),
  seed: z.number(),
  account: z.array(z.string().regex(/^[a-z][a-z0-9]{0,39}$/)).default(["demo"]),
  pace: z.number(),
  lag: z.number(),
  step: z.number().optional(),
  state: z.string().optional(),
});

/** Serves a simulated outside until it is told to end. It needs no database and knows no secret. */
export async function runWorld(values: string | undefined, { clock }: Ports): Promise<number> {
  const parsed = flagsSchema.safeParse(JSON.parse(values ?? "{}"));
  if (!parsed.success) {
    throw new StartError("An account of a world has up to 40 small letters and digits in its name, a letter first.");
  }
  const { port, seed, account: accounts, pace, lag, step, state } = parsed.data;
  const options: WorldOptions = { seed, accounts, pace, listLagSeconds: lag, stepMs: step };
  const world = new World(clock, options);
  if (state !== undefined) loadState(world, state);
  const ended = new Promise<void>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => resolve());
    process.once("disconnect", () => resolve());
  });
  const server = await serveWorld(world, clock, port).catch((thrown: unknown) => {
    throw portError(thrown, port, "setpoint world --port");
  });
  process.stdout.write(greeting(world, server.url));
  await ended;
  await server[Symbol.asyncDispose]();
  return 0;
}

function loadState(world: World, file: string): void {
  try {
    world.load(JSON.parse(readFileSync(file, "utf8")));
  } catch (thrown) {
    const reason = thrown instanceof z.ZodError ? z.prettifyError(thrown) : String(thrown);
    throw new StartError(`${file} is no state of a world (GET /_world/state writes one): ${reason}`, { cause: thrown });
  }
}

function greeting(world: World, url: string): string {
  const lines = world.clouds.flatMap((cloud) => [
    `${cloud.name}: ${url}${cloud.basePath}`,
    ...cloud.book.tokens().map(({ account, access, token }) => `  ${account} (${access}): ${token}`),
  ]);
  return `${lines.join("\n")}\nfaults, state and requests: ${url}/_world\n`;
}
