import type { Command } from "commander";
import {
  approvalAnswerSchema,
  endedSchema,
  type HeldChangeDocument,
  heldChangeListSchema,
  heldChangeSchema,
  type PauseDocument,
  pauseListSchema,
  pauseSchema,
  pendingSchema,
} from "../../control-api/schemas/governance.ts";
import type { ApiClient } from "../api-client.ts";
import { CliError, usageError } from "../cli-error.ts";
import { parseSeconds, shortDuration } from "../duration.ts";
import { exitCodes } from "../exit-codes.ts";
import { json, parseFormat, safeText, table, toned, yaml } from "../output.ts";
import { organizationPath, type ScopeOptions, withScope } from "../scope-path.ts";
import type { CliWorld } from "../world.ts";

/** held, approve, reject, pause, freeze, resume: what a person decides. */
export function registerGovern(program: Command, world: CliWorld, client: ApiClient): void {
  registerHeld(program, world, client);
  registerPauses(program, world, client);
  withScope(program.command("resume"))
    .description("end a pause, or every freeze; shows first what would run")
    .argument("[id]", "the pause to end; without it, every freeze of the platform")
    .option("-y, --yes", "do not ask")
    .action(async (id: string | undefined, options: ScopeOptions & { readonly yes?: boolean }) => {
      await resume(world, client, id, options);
    });
}

function registerHeld(program: Command, world: CliWorld, client: ApiClient): void {
  const held = program.command("held").description("what waits for a person");
  withScope(held.command("list"))
    .description("list held changes")
    .option("--state <state>", "open, approved, rejected, withdrawn or any", "open")
    .option("--level <level>", "subject, account, organization, platform or scope")
    .option("--guard <guard>", "only what this guard holds")
    .option("--kind <kind>", "only what concerns resources of this kind")
    .option("--older-than <duration>", "only what has waited for longer")
    .option("-o, --output <format>", "table, json, yaml or name", "table")
    .action(async (options: ScopeOptions & HeldFilters) => {
      const format = parseFormat(options.output);
      const query = heldQuery(options);
      const { items } = heldChangeListSchema.parse(
        await client.get(`${organizationPath(world, options)}/held-changes?${query.toString()}`),
      );
      if (format === "json") return world.writeData(json({ items }));
      if (format === "yaml") return world.writeData(yaml({ items }));
      if (format === "name") return world.writeData(items.map((item) => `${item.id}\n`).join(""));
      if (items.length === 0) return world.writeNote("Nothing waits.\n");
      const rows = items.map((item) => [
        item.id,
        item.state,
        item.guard,
        String(item.blastRadius.items),
        `${shortDuration(world.nowMs() - world.timeMs(item.openedAt))} ago`,
        item.overdue ? "overdue" : shortDuration(world.timeMs(item.deadline) - world.nowMs()),
        item.verdict.reason,
      ]);
      world.writeData(table(world, ["ID", "STATE", "GUARD", "ITEMS", "OPENED", "LEFT", "WHY"], rows));
      world.writeNote("Look at one with: setpoint held show ID\n");
    });
  withScope(held.command("show"))
    .description("show one held change with everything it would do")
    .argument("<id>")
    .option("-o, --output <format>", "table, json or yaml", "table")
    .action(async (id: string, options: ScopeOptions & { readonly output: string }) => {
      const format = parseFormat(options.output);
      const change = heldChangeSchema.parse(await client.get(heldPath(world, options, id)));
      if (format === "json") world.writeData(json(change));
      else if (format === "yaml") world.writeData(yaml(change));
      else world.writeData(heldText(world, change));
    });
  withScope(program.command("approve"))
    .description("approve a held change exactly as its digest names it")
    .argument("<id>")
    .requiredOption("--digest <digest>", "the digest that held show printed: what you saw is what you approve")
    .option("--for <duration>", "how long the approval may be used", "1h")
    .option("--comment <text>", "what others should know about it")
    .action(
      async (
        id: string,
        options: ScopeOptions & { readonly digest: string; readonly for: string; readonly comment?: string },
      ) => {
        const { digest, comment } = options;
        const body = { digest, forSeconds: parseSeconds(options.for), comment };
        const answer = approvalAnswerSchema.parse(
          (await client.send("POST", `${heldPath(world, options, id)}:approve`, { body })).body,
        );
        world.writeNote(
          answer.grants === 0
            ? "approved: it holds now\n"
            : `approved: ${answer.grants} items may each be done once within ${options.for}\n`,
        );
      },
    );
  withScope(program.command("reject"))
    .description("reject a held change: it stays undone until it changes")
    .argument("<id>")
    .requiredOption("--comment <text>", "why; whoever asked for it reads this")
    .action(async (id: string, options: ScopeOptions & { readonly comment: string }) => {
      const body = { comment: options.comment };
      await client.send("POST", `${heldPath(world, options, id)}:reject`, { body });
      world.writeNote(`rejected: ${id}\n`);
    });
}

interface HeldFilters {
  readonly state: string;
  readonly level?: string;
  readonly guard?: string;
  readonly kind?: string;
  readonly olderThan?: string;
  readonly output: string;
}

function heldQuery({ state, level, guard, kind, olderThan }: HeldFilters): URLSearchParams {
  const query = new URLSearchParams({ state });
  if (level !== undefined) query.set("level", level);
  if (guard !== undefined) query.set("guard", guard);
  if (kind !== undefined) query.set("kind", kind);
  if (olderThan !== undefined) query.set("olderThanSeconds", String(parseSeconds(olderThan)));
  return query;
}

interface PauseOptions extends ScopeOptions {
  readonly level: string;
  readonly for: string;
  readonly reason?: string;
  readonly output: string;
}

function registerPauses(program: Command, world: CliWorld, client: ApiClient): void {
  withScope(program.command("pause"))
    .description("stop deletes, writes or everything in a scope for a while; or: pause list")
    .argument(
      "<what>",
      "organization, projects/P, projects/P/workspaces/W, accounts/A, or a resource such as dnszones/Z; or list",
    )
    .option("--level <level>", "deletes, writes or all", "writes")
    .option("--for <duration>", "how long", "1h")
    .option("--reason <text>", "why; others see it")
    .option("-o, --output <format>", "table, json or yaml", "table")
    .action(async (what: string, options: PauseOptions) => {
      const path = `${organizationPath(world, options)}/pauses`;
      if (what === "list")
        return showPauses(world, pauseListSchema.parse(await client.get(path)).items, options.output);
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
    `${pause.level} paused at ${pause.scope} until ${pause.expiresAt}; end it with: setpoint resume${path === "/v1/freeze" ? "" : ` ${pause.id}`}\n`,
  );
}

function showPauses(world: CliWorld, items: readonly PauseDocument[], output: string): void {
  const format = parseFormat(output);
  if (format === "json") return world.writeData(json({ items }));
  if (format === "yaml") return world.writeData(yaml({ items }));
  if (items.length === 0) return world.writeNote("Nothing is paused.\n");
  const rows = items.map((pause) => [
    pause.id,
    pause.scope,
    pause.level,
    pause.author,
    shortDuration(world.timeMs(pause.expiresAt) - world.nowMs()),
    pause.reason,
  ]);
  world.writeData(table(world, ["ID", "SCOPE", "LEVEL", "BY", "LEFT", "REASON"], rows));
}

async function resume(
  world: CliWorld,
  client: ApiClient,
  id: string | undefined,
  options: ScopeOptions & { readonly yes?: boolean },
): Promise<void> {
  const base = organizationPath(world, options);
  const pauses = pauseListSchema.parse(await client.get(`${base}/pauses`)).items;
  const chosen = pauses.filter((pause) => (id === undefined ? pause.scope === "platform" : pause.id === id));
  if (chosen.length === 0) {
    throw new CliError(
      id === undefined
        ? "Nothing is frozen. Pauses of one scope are ended by their id: setpoint pause list"
        : `There is no pause ${id} in force`,
      exitCodes.notFound,
    );
  }
  const pending = pendingSchema.parse(await client.get(`${base}/pending`));
  const running = pending.items.filter((item) => item.blockedBy.length === 0);
  if (running.length === 0) world.writeNote("Nothing would be written, as far as was last seen.\n");
  for (const item of running) {
    const seen =
      item.lookedAt === undefined
        ? "never looked at"
        : `seen ${shortDuration(world.nowMs() - world.timeMs(item.lookedAt))} ago`;
    world.writeNote(
      `would run: ${item.kind}/${item.name}: ${item.differences} differences (${seen}): ${safeText(item.message)}\n`,
    );
  }
  if (pending.truncated) world.writeNote("… and more\n");
  await confirmResume(world, options.yes === true);
  const frozen = chosen.every((pause) => pause.scope === "platform");
  const answer = await client.send(
    "DELETE",
    frozen ? "/v1/freeze" : `${base}/pauses/${encodeURIComponent(chosen[0]?.id ?? "")}`,
  );
  world.writeNote(`resumed: ${endedSchema.parse(answer.body).ended.join(", ")}\n`);
}

async function confirmResume(world: CliWorld, yes: boolean): Promise<void> {
  if (yes) return;
  if (!world.interactive) throw usageError("nobody can be asked here: add --yes to resume");
  const answer = await world.ask("Resume? [y/N] ");
  if (!/^y(es)?$/i.test(answer.trim())) throw new CliError("cancelled; still paused", exitCodes.cancelled);
}

function heldText(world: CliWorld, change: HeldChangeDocument): string {
  const { approval, blastRadius } = change;
  const lines = [
    `${change.id}  ${change.state}, at the ${change.level}, ${change.overdue ? "overdue since" : "decide before"} ${change.deadline}`,
    `touches ${blastRadius.items} items of ${blastRadius.resources} resources`,
    ...approval.notBy.map(({ who, why }) => `not to be approved by ${safeText(who)}: ${why}`),
    `guard ${change.guard}: ${safeText(change.verdict.reason)}`,
    `numbers: ${
      Object.entries(change.verdict.numbers)
        .map(([name, value]) => `${name} ${value}`)
        .join(", ") || "none"
    }`,
    "",
    ...change.items.flatMap((item) => [
      `  ${toned(world, item.action === "delete" ? "bad" : "warn", item.action)} ${safeText(item.key)}  (${item.kind}/${safeText(item.name)})`,
      ...item.differences.map(
        (difference) => `      ${difference.field}: ${shown(difference.seen)} → ${shown(difference.wanted)}`,
      ),
    ]),
    "",
    `digest: ${change.digest}`,
  ];
  if (change.state === "open" || change.state === "rejected")
    lines.push(toned(world, "soft", `→ setpoint approve ${change.id} --digest ${change.digest}`));
  return `${lines.join("\n")}\n`;
}

function shown(value: unknown): string {
  return value === undefined || value === null
    ? "nothing"
    : safeText(typeof value === "string" ? value : JSON.stringify(value));
}

function heldPath(world: CliWorld, options: ScopeOptions, id: string): string {
  return `${organizationPath(world, options)}/held-changes/${encodeURIComponent(id)}`;
}
