import { Command, CommanderError } from "commander";
import { ApiClient } from "./api-client.ts";
import { CliError } from "./cli-error.ts";
import { registerAccess } from "./commands/access.ts";
import { registerAdopt } from "./commands/adopt.ts";
import { registerApply } from "./commands/apply.ts";
import { registerPool } from "./commands/pool.ts";
import { registerAdminister } from "./commands/administer.ts";
import { registerAuth } from "./commands/auth.ts";
import { registerAudit } from "./commands/audit.ts";
import { registerBackup } from "./commands/backup.ts";
import { registerCompletion } from "./commands/completion.ts";
import { registerConnect } from "./commands/connect.ts";
import { registerContext } from "./commands/context.ts";
import { registerExplain } from "./commands/explain.ts";
import { registerExport } from "./commands/export.ts";
import { registerIgnore } from "./commands/ignore.ts";
import { registerInspect } from "./commands/inspect.ts";
import { registerPauses } from "./commands/pauses.ts";
import { registerPlan } from "./commands/plan.ts";
import { registerPlans } from "./commands/plans.ts";
import { registerRaw } from "./commands/raw.ts";
import { registerDeclare } from "./commands/declare.ts";
import { registerDoctor } from "./commands/doctor.ts";
import { registerGovern } from "./commands/govern.ts";
import { registerOperations } from "./commands/operations.ts";
import { registerOrganizations } from "./commands/organization.ts";
import { registerPeople } from "./commands/people.ts";
import { registerRead } from "./commands/read.ts";
import { registerRules } from "./commands/rules.ts";
import { registerSecrets } from "./commands/secret.ts";
import { registerTokens } from "./commands/token.ts";
import { registerWorld } from "./commands/world.ts";
import { registerWebhooks } from "./commands/webhook.ts";
import { exitCodes } from "./exit-codes.ts";
import { completeHelp } from "./help.ts";
import { safeText, toned } from "./output.ts";
import type { CliWorld } from "./world.ts";

const examples = `
Examples:
  setpoint dev                                        start everything here, on an embedded database
  setpoint apply -f zone.yaml                         declare
  setpoint get dnszone                                what is declared and what was last seen
  setpoint why dnszone/example                        why it is as it is
  setpoint held list                                  what waits for you
  setpoint freeze --reason "provider incident"        stop all writes

Exit codes: 0 done, 1 error, 2 changes (only with --detailed-exitcode), 3 not signed in or not allowed,
4 failed outside, 5 refused by a guard, 6 not found, 8 cancelled, 9 timeout, 10 waiting for approval,
11 frozen, 12 conflict, 64 wrong usage or invalid file.
`;

/** Runs one command line and answers with its exit code. Never throws. */
export async function runCli(world: CliWorld, argv: readonly string[], version: string): Promise<number> {
  const program = createProgram(world, version);
  try {
    await program.parseAsync([...argv], { from: "user" });
    return lastRoleCode.get(program) ?? exitCodes.done;
  } catch (thrown) {
    return explain(world, thrown, argv.includes("--debug"));
  }
}

/** Exit code of a role that was run by `dev`, `api` or `scheduler`. */
const lastRoleCode = new WeakMap<Command, number>();

export function createProgram(world: CliWorld, version: string): Command {
  const program = new Command("setpoint")
    .description("keeps what exists as it was declared")
    .version(version)
    .option("--debug", "print stack traces")
    .addHelpText("after", examples)
    .showSuggestionAfterError()
    .showHelpAfterError("(what it takes: add --help)")
    .exitOverride()
    .configureOutput({ writeOut: (text) => world.writeData(text), writeErr: (text) => world.writeNote(text) });
  const client = new ApiClient(world);
  program.hook("preAction", (_program, command) => {
    const { reason } = command.opts<{ readonly reason?: string }>();
    if (reason !== undefined) client.because(reason);
  });
  const roles = {
    dev: "start the whole product here, on an embedded database",
    scheduler: "run a scheduler (needs DATABASE_URL)",
    worker: "run a worker, for operations (needs DATABASE_URL)",
    migrate: "bring the database to this version (needs DATABASE_URL)",
    restored: "say that the database was restored from a backup (needs DATABASE_URL)",
  };
  const runRole = async (role: string) => void lastRoleCode.set(program, await world.runRole(role));
  for (const [role, description] of Object.entries(roles)) {
    program
      .command(role)
      .description(description)
      .action(() => runRole(role));
  }
  registerWorld(program, {
    run: async (values) => void lastRoleCode.set(program, await world.runRole("world", ...values)),
  });
  registerBackup(program, world);
  registerAuth(program, world, client);
  registerPeople(program, world, client);
  registerApply(program, world, client);
  registerDeclare(program, world, client);
  registerConnect(program, world, client);
  registerAdopt(program, world, client);
  registerRead(program, world, client);
  registerInspect(program, world, client);
  registerExplain(program, world, client);
  registerPlan(program, { world, client, endWith: (code) => lastRoleCode.set(program, code) });
  registerPlans(program, world, client);
  registerGovern(program, world, client);
  registerOperations(program, world, client);
  registerPauses(program, world, client);
  registerExport(program, world, client);
  registerAdminister(program, world, client);
  registerPool(program, world, client);
  registerOrganizations(program, world, client);
  registerAccess(program, world, client);
  registerTokens(program, world, client);
  registerSecrets(program, world, client);
  registerAudit(program, world, client);
  registerContext(program, world);
  registerRaw(program, { world, client, runRole: () => runRole("api") });
  registerCompletion(program, world, client);
  registerDoctor(program, world, client);
  registerRules(program, world, client);
  registerIgnore(program, world, client);
  registerWebhooks(program, world, client);
  completeHelp(program);
  return program;
}

function explain(world: CliWorld, thrown: unknown, debug: boolean): number {
  // Commander has printed its own message, and asks for 0 after help and version.
  if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? exitCodes.done : exitCodes.usage;
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const lines = error.message.split("\n").map(safeText).join("\n");
  world.writeNote(`${toned(world, "bad", "setpoint:")} ${lines}\n`);
  if (debug) world.writeNote(`${error.stack ?? ""}\n`);
  else if (!(error instanceof CliError))
    world.writeNote("This was not expected. Repeat it with --debug for the details.\n");
  return error instanceof CliError ? error.exitCode : exitCodes.failed;
}
