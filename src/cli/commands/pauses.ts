import type { Command } from "commander";
import {
  endedSchema,
  freezePreviewSchema,
  type PauseDocument,
  type PendingDocument,
  pauseListSchema,
  pausePreviewSchema,
  pauseSchema,
  pendingSchema,
} from "../../control-api/schemas/governance.ts";
import type { ApiClient } from "../api-client.ts";
import { CliError, usageError } from "../cli-error.ts";
import { parseSeconds, shortDuration } from "../duration.ts";
import { exitCodes } from "../exit-codes.ts";
import { safeText } from "../output.ts";
import { type RecordOptions, type Records, showRecords, withRecords } from "../records.ts";
import { organizationOf, organizationPath, type ScopeOptions, withScope } from "../scope-path.ts";
import type { CliWorld } from "../world.ts";
import { targetPath } from "./declare.ts";

interface PauseOptions extends ScopeOptions {
  readonly level: string;
  readonly for: string;
  readonly reason?: string;
}

/** pause, suspend, freeze, resume, unfreeze: stopping, and going on. */
export function registerPauses(program: Command, world: CliWorld, client: ApiClient): void {
  withScope(program.command("resume"))
    .description("end a pause, or every freeze; shows first what would run")
    .argument("[id]", "the pause to end; without it, every freeze of the platform")
    .option("-y, --yes", "do not ask")
    .action(async (id: string | undefined, options: ScopeOptions & { readonly yes?: boolean }) => {
      await resume(world, client, id, options);
    });
  registerSuspend(program, world, client);
  withRecords(withScope(program.command("pause")))
    .description("stop deletes, writes or everything in a scope for a while; or: pause list")
    .argument(
      "<what>",
      "organization, projects/P, projects/P/workspaces/W, accounts/A, or a resource such as dnszones/Z; or list",
    )
    .option("--level <level>", "deletes, writes or all", "writes")
    .option("--for <duration>", "how long", "1h")
    .option("--reason <text>", "why; others see it")
    .action(async (what: string, options: PauseOptions & RecordOptions) => {
      const path = `${organizationPath(world, options)}/pauses`;
      if (what === "list")
        return await showRecords(world, options, async () =>
          pauseRecords(world, pauseListSchema.parse(await client.get(path)).items),
        );
      await createPause(world, client, path, options, { on: what });
    });
  program
    .command("freeze")
    .description("pause the whole platform")
    .option("--level <level>", "deletes, writes or all", "writes")
    .option("--for <duration>", "how long", "1h")
    .option("--reason <text>", "why; everybody sees it")
    .action(async (options: PauseOptions) => {
      await createPause(world, client, "/v1/freeze", options, {});
    });
}

async function createPause(
  world: CliWorld,
  client: ApiClient,
  path: string,
  options: PauseOptions,
  on: { readonly on?: string },
): Promise<void> {
  if (options.reason === undefined) throw usageError("say why with --reason: whoever finds it stopped must know");
  const body = { ...on, level: options.level, reason: options.reason, forSeconds: parseSeconds(options.for) };
  const pause = pauseSchema.parse((await client.send("POST", path, { body })).body);
  world.writeData(`${pause.id}\n`);
  world.writeNote(
    `${pause.level} paused at ${pause.on ?? pause.scope} until ${pause.expiresAt}; end it with: setpoint resume${path === "/v1/freeze" ? "" : ` ${pause.id}`}\n`,
  );
}

function pauseRecords(world: CliWorld, items: readonly PauseDocument[]): Records<PauseDocument> {
  return {
    value: { items },
    items,
    name: ({ id }) => id,
    head: ["ID", "SCOPE", "LEVEL", "BY", "LEFT", "REASON"],
    row: (pause) => [
      pause.id,
      pause.on ?? pause.scope,
      pause.level,
      pause.author,
      shortDuration(world.timeMs(pause.expiresAt) - world.nowMs()),
      pause.reason,
    ],
    wide: { head: ["UNTIL"], cells: ({ expiresAt }) => [expiresAt] },
    empty: "Nothing is paused.",
  };
}

async function resume(
  world: CliWorld,
  client: ApiClient,
  id: string | undefined,
  options: ResumeOptions,
): Promise<void> {
  const end =
    id === undefined ? await previewFreezes(world, client, options) : await previewOne(world, client, id, options);
  await confirmResume(world, options.yes === true);
  const answer = await client.send("DELETE", end);
  world.writeNote(`resumed: ${endedSchema.parse(answer.body).ended.join(", ")}\n`);
}

/** Shows what the end of one pause sets in motion below it, and answers what to delete for it. */
async function previewOne(world: CliWorld, client: ApiClient, id: string, options: ResumeOptions): Promise<string> {
  const path = `${organizationPath(world, options)}/pauses`;
  const pauses = pauseListSchema.parse(await client.get(path)).items;
  const found = pauses.find((pause) => pause.id === id);
  if (found === undefined) throw new CliError(`There is no pause ${id} in force`, exitCodes.notFound);
  if (found.scope === "platform") return await previewFreezes(world, client, options);
  const pause = `${path}/${encodeURIComponent(id)}`;
  const { pending } = pausePreviewSchema.parse(await client.get(`${pause}/preview`));
  if (pending.items.length === 0) world.writeNote(`${nothingToWrite}\n`);
  showPending(world, pending);
  return pause;
}

/**
 * A freeze holds every organization, so all of them are counted; what is left to do is told for the one that the command
 * means, where the caller may read it: whoever runs the platform often reads nothing of its tenants.
 */
async function previewFreezes(world: CliWorld, client: ApiClient, options: ResumeOptions): Promise<string> {
  const { freezes, organizations } = freezePreviewSchema.parse(await client.get("/v1/freeze/preview"));
  if (freezes.length === 0)
    throw new CliError(
      "Nothing is frozen. Pauses of one scope are ended by their id: setpoint pause list",
      exitCodes.notFound,
    );
  for (const { level, author, reason } of freezes)
    world.writeNote(`would end: freeze of ${level} by ${safeText(author)}: ${safeText(reason)}\n`);
  const left = organizations.filter(({ leftToDo, due }) => leftToDo + due > 0);
  if (left.length === 0) world.writeNote(`${nothingToWrite}\n`);
  for (const { name, leftToDo, due } of left)
    world.writeNote(`in ${name}: ${leftToDo} with something left to do, ${due} due for a look\n`);
  const meant = organizationOf(world, options);
  if (left.some(({ name }) => name === meant)) {
    const answer = await client.send("GET", `${organizationPath(world, options)}/pending`).catch(withoutRight);
    if (answer !== undefined) showPending(world, pendingSchema.parse(answer.body));
  }
  return "/v1/freeze";
}

function withoutRight(thrown: unknown): undefined {
  if (thrown instanceof CliError && thrown.exitCode === exitCodes.notAllowed) return undefined;
  throw thrown;
}

const nothingToWrite = "Nothing would be written, as far as was last seen.";

function showPending(world: CliWorld, pending: PendingDocument): void {
  for (const item of pending.items) {
    const seen =
      item.lookedAt === undefined
        ? "never looked at"
        : `seen ${shortDuration(world.nowMs() - world.timeMs(item.lookedAt))} ago`;
    const becomes = item.blockedBy.length === 0 ? "would run" : "would still wait";
    world.writeNote(
      `${becomes}: ${item.kind}/${item.name}: ${item.differences} difference${item.differences === 1 ? "" : "s"} (${seen}): ${safeText(item.message)}\n`,
    );
  }
  if (pending.truncated) world.writeNote("… and more\n");
}

/** The words that people know from elsewhere. */
function registerSuspend(program: Command, world: CliWorld, client: ApiClient): void {
  withScope(program.command("suspend"))
    .description("stop writes for one resource for a while; it is still looked at")
    .argument("<kind/name>")
    .option("--level <level>", "deletes, writes or all", "writes")
    .option("--for <duration>", "how long", "1h")
    .option("--reason <text>", "why; others see it")
    .action(async (target: string, options: PauseOptions) => {
      const base = organizationPath(world, options);
      const { path } = await targetPath(world, client, target, options);
      await createPause(world, client, `${base}/pauses`, options, { on: path.slice(base.length + 1) });
    });
  withScope(program.command("unfreeze"))
    .description("end every freeze; shows first what would run")
    .option("-y, --yes", "do not ask")
    .action(async (options: ResumeOptions) => {
      await resume(world, client, undefined, options);
    });
}

type ResumeOptions = ScopeOptions & { readonly yes?: boolean };

async function confirmResume(world: CliWorld, yes: boolean): Promise<void> {
  if (yes) return;
  if (!world.interactive) throw usageError("nobody can be asked here: add --yes to resume");
  const answer = await world.ask("Resume? [y/N] ");
  if (!/^y(es)?$/i.test(answer.trim())) throw new CliError("cancelled; still paused", exitCodes.cancelled);
}
