import type { Command } from "commander";
import {
  type ResourceDocument,
  historySchema,
  resourceEventListSchema,
  resourceSchema,
  whySchema,
} from "../../control-api/schemas/resource.ts";
import type { ApiClient } from "../api-client.ts";
import { shortDuration } from "../duration.ts";
import { knownKinds } from "../kind-names.ts";
import { listAll } from "../list-all.ts";
import { type Cell, safeText, shown, statusTone, table, toned } from "../output.ts";
import { type OutputOptions, type RecordOptions, showOne, showRecords, withOutput, withRecords } from "../records.ts";
import { scopePath, type ScopeOptions, withScope } from "../scope-path.ts";
import type { CliWorld } from "../world.ts";
import { targetPath } from "./declare.ts";

type Options = ScopeOptions & OutputOptions;

/** describe, tree, events, history: one resource from every side. */
export function registerInspect(program: Command, world: CliWorld, client: ApiClient): void {
  one(
    program,
    "describe",
    "everything about one resource: what is declared, what was seen, what stands in the way",
  ).action(async (target: string, options: Options) => {
    const { path } = await targetPath(world, client, target, options);
    const resource = resourceSchema.parse(await client.get(path));
    const why = whySchema.parse(await client.get(`${path}/why`));
    const blocking = why.chain.filter((reason) => reason.blocking).map((reason) => `  ✗ ${safeText(reason.words)}\n`);
    showOne(world, options, {
      value: { resource, why },
      name: nameOf(resource),
      text: () => `${describeText(world, resource)}\n${safeText(why.summary)}\n${blocking.join("")}`,
    });
  });

  one(program, "tree", "a resource with what it is part of and what is part of it").action(
    async (target: string, options: Options) => {
      const { path } = await targetPath(world, client, target, options);
      const resource = resourceSchema.parse(await client.get(path));
      const parts = await partsOf(world, client, resource, options);
      const tree = { resource, parts };
      showOne(world, options, {
        value: tree,
        name: [resource, ...parts].map(nameOf).join("\n"),
        text: () => treeText(world, tree),
      });
    },
  );

  registerPast(program, world, client);
}

function registerPast(program: Command, world: CliWorld, client: ApiClient): void {
  withRecords(withScope(program.command("events")))
    .description("what happened to a resource in the log, newest first")
    .argument("<kind/name>")
    .action(async (target: string, options: ScopeOptions & RecordOptions) => {
      const { path } = await targetPath(world, client, target, options);
      await showRecords(world, options, async () => {
        const events = resourceEventListSchema.parse(await client.get(`${path}/events`));
        return {
          value: events,
          items: events.items,
          name: ({ position }) => position,
          head: ["AT", "WHAT", "BY", "REVISION"],
          row: ({ at, type, by, revision }) => [at, type, by, String(revision ?? "")],
          wide: { head: ["POSITION"], cells: ({ position }) => [position] },
          empty: "Nothing happened to it yet that the log keeps.",
        };
      });
    });

  withRecords(withScope(program.command("history")))
    .description("what was declared, decided and done, newest first")
    .argument("<kind/name>")
    .action(async (target: string, options: ScopeOptions & RecordOptions) => {
      const { path } = await targetPath(world, client, target, options);
      await showRecords(world, options, async () => {
        const history = historySchema.parse(await client.get(`${path}/history`));
        return {
          value: history,
          items: history.items,
          name: ({ at, words }) => `${at} ${safeText(words)}`,
          head: ["AT", "WHAT"],
          row: ({ at, words }) => [{ text: at, tone: "soft" }, words],
          below: ({ changes = [] }) =>
            changes.map(({ pointer, before, after }) => `    ${pointer}: ${shown(before)} → ${shown(after)}`),
          empty: "Nothing was declared, decided or done yet.",
        };
      });
    });
}

function one(program: Command, name: string, description: string): Command {
  return withOutput(withScope(program.command(name)).description(description).argument("<kind/name>"));
}

function nameOf({ kind, metadata }: ResourceDocument): string {
  return `${kind.toLowerCase()}/${metadata.name}`;
}

function describeText(world: CliWorld, { kind, metadata, spec, status }: ResourceDocument): string {
  const facts: Cell[][] = [
    ["name", `${kind}/${metadata.name}`],
    [
      "in",
      [metadata.organization, metadata.project, metadata.workspace].filter((part) => part !== undefined).join(" / "),
    ],
    ["mode", metadata.mode ?? "inherited"],
    ["protected", metadata.protect ? "yes" : "no"],
    [
      "declared",
      `generation ${metadata.generation}, revision ${metadata.revision}, by ${metadata.declaredBy}, ${metadata.declaredAt}`,
    ],
  ];
  if (metadata.deletion !== undefined)
    facts.push(["deleting", `asked by ${metadata.deletion.by}, ${metadata.deletion.at}`]);
  const conditions = status.conditions.map((condition): Cell[] => [
    condition.type,
    { text: condition.status, tone: statusTone(condition.status) },
    condition.reason,
    condition.message,
  ]);
  const owners = Object.entries(metadata.owners ?? {}).map(([pointer, owner]) => `  ${pointer}: ${owner}`);
  return [
    table(world, ["", ""], facts).trimStart(),
    table(world, ["CONDITION", "STATUS", "REASON", "MESSAGE"], conditions),
    `spec: ${JSON.stringify(spec, undefined, 2)}`,
    ...(owners.length === 0 ? [] : ["fields by owner:", ...owners]),
    "",
  ].join("\n");
}

/** Kinds that are computed from others name them as inputs; their resources say what they are part of. */
async function partsOf(
  world: CliWorld,
  client: ApiClient,
  { kind, metadata }: ResourceDocument,
  options: Options,
): Promise<readonly ResourceDocument[]> {
  const kinds = await knownKinds(client);
  const inputs = kinds.find((entry) => entry.kind === kind)?.inputs ?? [];
  const parts: ResourceDocument[] = [];
  for (const { plural } of kinds.filter((entry) => inputs.includes(entry.kind))) {
    const all = await listAll(client, `${scopePath(world, options)}/${plural}`, undefined);
    parts.push(
      ...all.filter(({ status }) => status.partOf.some((whole) => whole.kind === kind && whole.name === metadata.name)),
    );
  }
  return parts;
}

function treeText(
  world: CliWorld,
  { resource, parts }: { readonly resource: ResourceDocument; readonly parts: readonly ResourceDocument[] },
): string {
  const above = resource.status.partOf.map((whole) => `${whole.kind}/${whole.name}`);
  const below = parts.map((part, index) => `${index === parts.length - 1 ? "└─" : "├─"} ${branch(world, part)}`);
  return `${[...above, `${above.length > 0 ? "└─ " : ""}${branch(world, resource)}`, ...below.map((line) => (above.length > 0 ? `   ${line}` : line))].join("\n")}\n`;
}

function branch(world: CliWorld, { kind, metadata, status }: ResourceDocument): string {
  const ready = status.conditions.find((condition) => condition.type === "Ready");
  const state = ready === undefined ? "" : `  ready ${toned(world, statusTone(ready.status), ready.status)}`;
  const age = shortDuration(world.nowMs() - world.timeMs(metadata.declaredAt));
  return `${kind}/${safeText(metadata.name)}${state}  ${age}`;
}
