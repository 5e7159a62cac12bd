import type { Command } from "commander";
import { limitsSchema, policyHistorySchema, type LimitsDocument } from "../../control-api/schemas/governance.ts";
import { quotaListSchema } from "../../control-api/schemas/quota.ts";
import type { ApiClient } from "../api-client.ts";
import { usageError } from "../cli-error.ts";
import { findKind } from "../kind-names.ts";
import { ignoredText } from "../ignored-text.ts";
import { safeText, table, yaml } from "../output.ts";
import { type OutputOptions, type RecordOptions, showOne, showRecords, withOutput, withRecords } from "../records.ts";
import { organizationPath, ruledPath, type ScopeOptions, withScope } from "../scope-path.ts";
import type { CliWorld } from "../world.ts";

/** limits, policy-history, quota: what holds, since when, and how much there may be. */
export function registerRules(program: Command, world: CliWorld, client: ApiClient): void {
  withOutput(withScope(program.command("limits")))
    .description("what holds in a scope, and which scope says so: mode, protection, four eyes and every limit")
    .argument("[scope]", "platform, organization, project or workspace", "organization")
    .option("--kind <kind>", "as it holds for resources of this kind")
    .action(async (word: string, options: ScopeOptions & OutputOptions & { readonly kind?: string }) => {
      const query =
        options.kind === undefined ? "" : `?kind=${encodeURIComponent((await findKind(client, options.kind)).kind)}`;
      const value = limitsSchema.parse(await client.get(`${ruledPath(world, word, options)}/limits${query}`));
      showOne(world, options, {
        value,
        name: value.limits.map(({ name }) => name).join("\n"),
        text: () => limitsText(world, value),
      });
    });
  withRecords(withScope(program.command("policy-history")))
    .description("every version of the policy of a scope, newest first, and why it was changed")
    .argument("[scope]", "platform, organization, project or workspace", "organization")
    .action((word: string, options: ScopeOptions & RecordOptions) =>
      showRecords(world, options, async () => {
        const path = `${ruledPath(world, word, options)}/policy/history`;
        const { items } = policyHistorySchema.parse(await client.get(path));
        return {
          value: { items },
          items,
          name: ({ version }) => String(version),
          head: ["VERSION", "AT", "BY", "WHY"],
          row: ({ version, at, author, reason }) => [String(version), at, author, reason ?? ""],
          below: ({ policy }) =>
            yaml(policy)
              .trimEnd()
              .split("\n")
              .map((line) => `    ${safeText(line)}`),
          empty: `The policy of the ${word} was never changed.`,
        };
      }),
    );
  registerQuotas(program, world, client);
}

function limitsText(world: CliWorld, { mode, protect, fourEyes, limits, ignore = [] }: LimitsDocument): string {
  const rows = [
    ["mode", mode.value, mode.from, ""],
    ["protect", protect.value ? "yes" : "no", protect.from ?? "nobody", ""],
    ["fourEyes", fourEyes.value ? "yes" : "no", fourEyes.from ?? "nobody", ""],
    ...limits.map(({ name, value, default: own, ceiling }) => [
      name,
      limitText(value),
      own.from,
      ceiling === undefined ? "" : `${limitText(ceiling.value)} from ${ceiling.from}`,
    ]),
  ];
  const ignored = ignore.map((rule) => `${ignoredText(rule)}\n`);
  return table(world, ["WHAT", "HOLDS", "FROM", "CEILING"], rows) + ignored.join("");
}

function limitText(value: LimitsDocument["limits"][number]["value"]): string {
  if (typeof value === "number") return String(value);
  return `${value.count}, ${value.percent} %, at least ${value.atLeast}`;
}

function registerQuotas(program: Command, world: CliWorld, client: ApiClient): void {
  const quota = program.command("quota").description("how many resources of each kind there may be");
  withRecords(withScope(quota.command("list")))
    .description("how many there are of each kind, and how many there may be")
    .action((options: ScopeOptions & RecordOptions) =>
      showRecords(world, options, async () => {
        const { items } = quotaListSchema.parse(await client.get(`${organizationPath(world, options)}/quotas`));
        return {
          value: { items },
          items,
          name: ({ kind }) => kind,
          head: ["KIND", "USED", "LIMIT", "FROM"],
          row: ({ kind, used = 0, limit, own }) => [
            kind,
            { text: String(used), tone: used >= limit ? "bad" : "good" },
            String(limit),
            own ? "the organization" : "the platform",
          ],
          empty: "No quota is set.",
        };
      }),
    );
  withScope(quota.command("set"))
    .description("set how many there may be of a kind in an organization, or by default (operators of the platform)")
    .argument("<kind>", 'a kind, or "*" for those without a limit of their own')
    .argument("<limit>", "a number, or none: back to the default")
    .option("--platform", "for every organization without a limit of its own")
    .action(async (word: string, text: string, options: ScopeOptions & { readonly platform?: boolean }) => {
      const limit = text === "none" ? null : Number(text);
      if (limit !== null && (!Number.isSafeInteger(limit) || limit < 0))
        throw usageError(`"${text}" is not a limit: write a number from 0, or none`);
      const kind = word === "*" ? word : (await findKind(client, word)).kind;
      const base = options.platform === true ? "/v1" : organizationPath(world, options);
      await client.send("PUT", `${base}/quotas/${encodeURIComponent(kind)}`, { body: { limit } });
      world.writeData(`quota/${kind} ${limit === null ? "is the default again" : `set to ${limit}`}\n`);
    });
}
