import { type Command, InvalidArgumentError } from "commander";

/** The simulated outside: for trying out what would happen, with clouds that cost nothing and can be broken at will. */
export function registerWorld(program: Command, about: { readonly run: (values: readonly string[]) => Promise<void> }) {
  program
    .command("world")
    .description("start a simulated outside: clouds that behave like the real ones, with faults at will")
    .option("--port <number>", "where it listens, on 127.0.0.1", numberFrom(0, 65_535), 7790)
    .option("--seed <number>", "what chance is drawn from", numberFrom(0, 2_147_483_647), 1)
    .option("--account <name...>", "accounts to begin with (default: demo)")
    .option("--pace <factor>", "how long actions take, as a share of the usual time", numberFrom(0, 1_000), 1)
    .option("--lag <seconds>", "how far lists lag behind what was done", numberFrom(0, 900), 0)
    .option(
      "--step <ms>",
      "count time by requests instead of seconds, for runs that repeat exactly",
      numberFrom(1, 3_600_000),
    )
    .option("--state <file>", "load this state first (from GET /_world/state)")
    .action((options: WorldFlags) => about.run([JSON.stringify(options)]));
}

interface WorldFlags {
  readonly port: number;
  readonly seed: number;
  readonly account?: readonly string[];
  readonly pace: number;
  readonly lag: number;
  readonly step?: number;
  readonly state?: string;
}

function numberFrom(least: number, most: number) {
  return (text: string): number => {
    const number = Number(text);
    if (text.trim() !== "" && number >= least && number <= most) return number;
    throw new InvalidArgumentError(`It must be a number from ${least} to ${most}.`);
  };
}
