import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { CliError } from "./cli-error.ts";
import { exitCodes } from "./exit-codes.ts";
import type { CliWorld } from "./world.ts";

/** By the address of the server, so that a session is never sent to another one. */
const fileSchema = z.record(z.string(), z.object({ token: z.string(), email: z.string() }));
type Sessions = z.output<typeof fileSchema>;

/** SETPOINT_CONFIG, or where this system keeps what programs remember for a person. */
export function configDirectory(world: CliWorld): string | undefined {
  const { SETPOINT_CONFIG: named, XDG_CONFIG_HOME: shared, HOME: home } = world.environment;
  if (named !== undefined && named !== "") return named;
  if (shared !== undefined && shared !== "") return join(shared, "setpoint");
  return home === undefined || home === "" ? undefined : join(home, ".config", "setpoint");
}

function fileOf(world: CliWorld): string | undefined {
  const directory = configDirectory(world);
  return directory === undefined ? undefined : join(directory, "sessions.json");
}

export function storedSession(
  world: CliWorld,
  url: string,
): { readonly token: string; readonly email: string } | undefined {
  return read(fileOf(world))[url];
}

export function storeSession(
  world: CliWorld,
  url: string,
  session: { readonly token: string; readonly email: string },
): string {
  const file = fileOf(world);
  if (file === undefined)
    throw new CliError(
      "There is nowhere to keep the session: set SETPOINT_CONFIG to a folder of yours",
      exitCodes.failed,
    );
  write(file, { ...read(file), [url]: session });
  return file;
}

/** False: there was none. */
export function forgetSession(world: CliWorld, url: string): boolean {
  const file = fileOf(world);
  const { [url]: known, ...others } = read(file);
  if (known === undefined || file === undefined) return false;
  write(file, others);
  return true;
}

function read(file: string | undefined): Sessions {
  if (file === undefined) return {};
  try {
    return fileSchema.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return {};
    const reason = (thrown as NodeJS.ErrnoException).code ?? "it is not what was written there";
    throw new CliError(
      `The sessions in ${file} cannot be read (${reason}). Remove the file and sign in again`,
      exitCodes.failed,
      {
        cause: thrown,
      },
    );
  }
}

/** Beside it first and then renamed: nobody ever finds half of it, nor one that others can read. */
function write(file: string, sessions: Sessions): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const beside = `${file}.new`;
    writeFileSync(beside, `${JSON.stringify(sessions, undefined, 2)}\n`, { mode: 0o600 });
    chmodSync(beside, 0o600);
    renameSync(beside, file);
  } catch (thrown) {
    const reason = (thrown as NodeJS.ErrnoException).code ?? String(thrown);
    throw new CliError(
      `The session cannot be kept in ${file} (${reason}). Set SETPOINT_CONFIG to a folder of yours`,
      exitCodes.failed,
      {
        cause: thrown,
      },
    );
  }
}
