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
import { type Cell, parseFormat, safeText, shown, statusTone, table, toned, writeFormatted } from "../output.ts";
import { scopePath, type ScopeOptions, withScope } from "../scope-path.ts";
import type { CliWorld } from "../world.ts";
import { targetPath } from "./declare.ts";

type Options = ScopeOptions & { readonly output: string };

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
    if (writeFormatted(world, parseFormat(options.output), { resource, why }, [resource])) return;
    const blocking = why.chain.filter((reason) => reason.blocking).map((reason) => `  ✗ ${safeText(reason.words)}`);
    world.writeData(`${describeText(world, resource)}\n${safeText(why.summary)}\n${blocking.join("\n")}\n`);
  });

  one(program, "tree", "a resource with what it is part of and what is part of it").action(
    async (target: string, options: Options) => {
      const { path } = await targetPath(world, client, target, options);
      const resource = resourceSchema.parse(await client.get(path));
      const parts = await partsOf(world, client, resource, options);
      const tree = { resource, parts };
      if (!writeFormatted(world, parseFormat(options.output), tree, parts)) world.writeData(treeText(world, tree));
    },
  );

  one(program, "events", "what happened to a resource in the log, newest first").action(
    async (target: string, options: Options) => {
      const { path } = await targetPath(world, client, target, options);
      const events = resourceEventListSchema.parse(await client.get(`${path}/events`));
      if (writeFormatted(world, parseFormat(options.output), events, events.items)) return;
      const rows = events.items.map((event) => [event.at, event.type, event.by, String(event.revision ?? "")]);
      world.writeData(table(world, ["AT", "WHAT", "BY", "REVISION"], rows));
    },
  );

  one(program, "history", "what was declared, decided and done, newest first").action(
    async (target: string, options: Options) => {
      const { path } = await targetPath(world, client, target, options);
      const history = historySchema.parse(await client.get(`${path}/history`));
      if (writeFormatted(world, parseFormat(options.output), history, history.items)) return;
      for (const entry of history.items) {
        world.writeData(`${toned(world, "soft", entry.at)}  ${safeText(entry.words)}\n`);
        for (const { pointer, before, after } of entry.changes ?? [])
          world.writeData(`    ${pointer}: ${shown(before)} → ${shown(after)}\n`);
      }
    },
  );
}

function one(program: Command, name: string, description: string): Command {
  return withScope(program.command(name))
    .description(description)
    .argument("<kind/name>")
    .option("-o, --output <format>", "table, json, yaml or ndjson", "table");
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
