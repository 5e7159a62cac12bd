import type { Command } from "commander";
import type { z } from "zod";
import {
  type ignoreRuleSchema,
  type LimitsDocument,
  limitsSchema,
  policySchema,
} from "../../control-api/schemas/governance.ts";
import type { ApiClient } from "../api-client.ts";
import { CliError, usageError } from "../cli-error.ts";
import { parseSeconds } from "../duration.ts";
import { exitCodes } from "../exit-codes.ts";
import { type RecordOptions, showRecords, withRecords } from "../records.ts";
import { scopePath, type ScopeOptions, withScope } from "../scope-path.ts";
import type { CliWorld } from "../world.ts";
import { putPolicy } from "./administer.ts";
import { targetPath } from "./declare.ts";

type Rule = z.output<typeof ignoreRuleSchema>;

interface IgnoreOptions extends ScopeOptions, RecordOptions {
  readonly item?: string;
  readonly reason?: string;
  readonly until?: string;
  readonly remove?: boolean;
}

/** ignore: a field that may differ outside without anybody acting upon it. */
export function registerIgnore(program: Command, world: CliWorld, client: ApiClient): void {
  withRecords(withScope(program.command("ignore")))
    .description(
      "leave a field of a resource's items as it is when it differs; without a field, the rules that hold for it",
    )
    .argument("<kind/name>")
    .argument("[field]", "a JSON pointer inside the items as `setpoint plan` names it, such as /ttlSeconds")
    .option("--item <key>", "of this item alone")
    .option("--reason <text>", "why; everybody who looks at the resource reads it")
    .option(
      "--until <when>",
      "act upon it again from then on: a time such as 2027-01-31T00:00:00Z, or a duration such as 7d",
    )
    .option("--remove", "act upon it again")
    .action(async (target: string, field: string | undefined, options: IgnoreOptions) => {
      const { path, kind, name } = await targetPath(world, client, target, options);
      // A rule about what does not exist would wait there for whoever takes the name.
      await client.get(path);
      if (field === undefined) return await list(world, client, { kind: kind.kind, name }, options);
      const { item } = options;
      const rule = { kind: kind.kind, name, ...(item === undefined ? {} : { item }), field };
      if (options.remove === true) return await remove(world, client, rule, options);
      await add(world, client, rule, options);
    });
}

async function list(
  world: CliWorld,
  client: ApiClient,
  about: { readonly kind: string; readonly name: string },
  options: IgnoreOptions,
): Promise<void> {
  await showRecords(world, options, async () => {
    const { ignore = [] } = limitsSchema.parse(await client.get(`${scopePath(world, options)}/limits`));
    const items = ignore.filter(({ kind, name }) => kind === about.kind && (name ?? about.name) === about.name);
    return {
      value: { items },
      items,
      name: ({ field }: NonNullable<LimitsDocument["ignore"]>[number]) => field,
      head: ["FIELD", "ITEM", "OF", "FROM", "UNTIL", "WHY"],
      row: ({ field, item = "every", kind, name = "every", from, until = "taken back", reason }) => [
        field,
        item,
        `${kind}/${name}`,
        from,
        until,
        reason,
      ],
      empty: `Nothing of ${about.kind}/${about.name} is ignored.`,
    };
  });
}

async function add(
  world: CliWorld,
  client: ApiClient,
  rule: Omit<Rule, "reason">,
  options: IgnoreOptions,
): Promise<void> {
  const { reason } = options;
  if (reason === undefined) throw usageError("say why with --reason: whoever finds a difference must know");
  const end = options.until === undefined ? {} : { until: endOf(world, options.until) };
  await change(world, client, options, (rules) => [
    ...rules.filter((one) => !isSame(one, rule)),
    { ...rule, reason, ...end },
  ]);
  world.writeData(`${rule.kind}/${rule.name ?? ""} ${rule.field} ignored\n`);
  world.writeNote("it is left as it is from the next look on; making and removing items go on as before\n");
}

/** A time, or how long from now. */
function endOf(world: CliWorld, text: string): string {
  const given = world.timeMs(text);
  const untilMs = Number.isNaN(given) ? world.nowMs() + parseSeconds(text) * 1_000 : given;
  if (untilMs <= world.nowMs()) throw usageError(`--until ${text} has passed already`);
  return world.isoTime(untilMs);
}

async function remove(
  world: CliWorld,
  client: ApiClient,
  rule: Omit<Rule, "reason">,
  options: IgnoreOptions,
): Promise<void> {
  await change(world, client, options, (rules) => {
    const left = rules.filter((one) => !isSame(one, rule));
    if (left.length === rules.length)
      throw new CliError(
        `No rule of this scope ignores ${rule.field}${rule.item === undefined ? "" : ` of ${rule.item}`} here. See: setpoint ignore ${rule.kind.toLowerCase()}/${rule.name ?? ""}`,
        exitCodes.notFound,
      );
    return left;
  });
  world.writeData(`${rule.kind}/${rule.name ?? ""} ${rule.field} acted upon again\n`);
}

/** The rules stand in the policy of the scope that the resource lives in. */
async function change(
  world: CliWorld,
  client: ApiClient,
  options: ScopeOptions,
  to: (rules: readonly Rule[]) => readonly Rule[],
): Promise<void> {
  const path = `${scopePath(world, options)}/policy`;
  const { headers, body } = await client.send("GET", path);
  const { ignore = [], ...rest } = policySchema.parse(body);
  const rules = to(ignore);
  await putPolicy(client, path, {
    body: { ...rest, ...(rules.length === 0 ? {} : { ignore: rules }) },
    etag: headers["etag"],
  });
}

function isSame(one: Rule, other: Omit<Rule, "reason">): boolean {
  return one.kind === other.kind && one.name === other.name && one.item === other.item && one.field === other.field;
}
