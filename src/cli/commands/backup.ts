import type { Command } from "commander";
import { CliError } from "../cli-error.ts";
import { exitCodes } from "../exit-codes.ts";
import type { CliWorld } from "../world.ts";

const actions = [
  ["create", "write every table into one encrypted file, in one snapshot; the product may go on running"],
  ["verify", "read a backup to its end and check every count and hash; writes nothing"],
  ["restore", "put a backup into an empty database: frozen, observing, with nobody signed in"],
] as const;

/** Beside the database, and not through the API: whoever can do this has the root key. */
export function registerBackup(program: Command, world: CliWorld): void {
  const backup = program.command("backup").description("make, check and put back backups (beside the database)");
  for (const [action, description] of actions) {
    backup
      .command(`${action} <file>`)
      .description(description)
      .action(async (file: string) => {
        const code = await world.runRole(`backup-${action}`, file);
        if (code !== 0) throw new CliError(`The backup could not be ${past[action]}: see above`, exitCodes.failed);
      });
  }
}

const past = { create: "made", verify: "verified", restore: "restored" } as const;
