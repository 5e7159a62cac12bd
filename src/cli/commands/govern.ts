import type { Command } from "commander";
import {
  approvalAnswerSchema,
  type HeldChangeDocument,
  heldChangeListSchema,
  heldChangeSchema,
} from "../../control-api/schemas/governance.ts";
import type { ApiClient } from "../api-client.ts";
import { parseSeconds, shortDuration } from "../duration.ts";
import { safeText, shown, toned } from "../output.ts";
import {
  type OutputOptions,
  type RecordOptions,
  type Records,
  showOne,
  showRecords,
  withOutput,
  withRecords,
} from "../records.ts";
import { organizationPath, type ScopeOptions, withScope } from "../scope-path.ts";
import type { CliWorld } from "../world.ts";

/** held, approve, reject, withdraw: what a person decides. */
export function registerGovern(program: Command, world: CliWorld, client: ApiClient): void {
  registerHeld(program, world, client);
  registerDecisions(program, world, client);
}

function registerHeld(program: Command, world: CliWorld, client: ApiClient): void {
  const held = program.command("held").description("what waits for a person");
  withRecords(withScope(held.command("list")))
    .description("list held changes")
    .option("--state <state>", "open, approved, rejected, withdrawn or any", "open")
    .option("--level <level>", "subject, account, organization, platform or scope")
    .option("--guard <guard>", "only what this guard holds")
    .option("--kind <kind>", "only what concerns resources of this kind")
    .option("--older-than <duration>", "only what has waited for longer")
    .action((options: ScopeOptions & HeldFilters & RecordOptions) =>
      showRecords(world, options, async () => {
        const path = `${organizationPath(world, options)}/held-changes?${heldQuery(options).toString()}`;
        return heldRecords(world, heldChangeListSchema.parse(await client.get(path)).items);
      }),
    );
  withOutput(withScope(held.command("show")))
    .description("show one held change with everything it would do")
    .argument("<id>")
    .action(async (id: string, options: ScopeOptions & OutputOptions) => {
      const change = heldChangeSchema.parse(await client.get(heldPath(world, options, id)));
      showOne(world, options, { value: change, name: change.id, text: () => heldText(world, change) });
    });
}

function registerDecisions(program: Command, world: CliWorld, client: ApiClient): void {
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
  withScope(program.command("withdraw"))
    .description("take back a looser rule, a declaration or the end of a pause that you asked for")
    .argument("<id>")
    .option("--comment <text>", "why")
    .action(async (id: string, options: ScopeOptions & { readonly comment?: string }) => {
      const { comment } = options;
      await client.send("POST", `${heldPath(world, options, id)}:withdraw`, { body: { comment } });
      world.writeNote(`withdrawn: ${id}\n`);
    });
}

interface HeldFilters {
  readonly state: string;
  readonly level?: string;
  readonly guard?: string;
  readonly kind?: string;
  readonly olderThan?: string;
}

function heldQuery({ state, level, guard, kind, olderThan }: HeldFilters): URLSearchParams {
  const query = new URLSearchParams({ state });
  if (level !== undefined) query.set("level", level);
  if (guard !== undefined) query.set("guard", guard);
  if (kind !== undefined) query.set("kind", kind);
  if (olderThan !== undefined) query.set("olderThanSeconds", String(parseSeconds(olderThan)));
  return query;
}

function heldRecords(world: CliWorld, items: readonly HeldChangeDocument[]): Records<HeldChangeDocument> {
  return {
    value: { items },
    items,
    name: ({ id }) => id,
    head: ["ID", "STATE", "GUARD", "ITEMS", "OPENED", "LEFT", "WHY"],
    row: (item) => [
      item.id,
      item.state,
      item.guard,
      String(item.blastRadius.items),
      `${shortDuration(world.nowMs() - world.timeMs(item.openedAt))} ago`,
      item.overdue ? "overdue" : shortDuration(world.timeMs(item.deadline) - world.nowMs()),
      item.verdict.reason,
    ],
    wide: {
      head: ["LEVEL", "DEADLINE", "DIGEST"],
      cells: ({ level, deadline, digest }) => [level, deadline, digest],
    },
    empty: "Nothing waits.",
    note: "Look at one with: setpoint held show ID",
  };
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

function heldPath(world: CliWorld, options: ScopeOptions, id: string): string {
  return `${organizationPath(world, options)}/held-changes/${encodeURIComponent(id)}`;
}
