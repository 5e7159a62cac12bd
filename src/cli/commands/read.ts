import type { Command } from "commander";
import { loopsSchema, summarySchema } from "../../control-api/schemas/platform.ts";
import {
  type ResourceDocument,
  resourceSchema,
  whySchema,
  type WhyDocument,
} from "../../control-api/schemas/resource.ts";
import type { ApiClient } from "../api-client.ts";
import { CliError } from "../cli-error.ts";
import { parseSeconds, shortDuration } from "../duration.ts";
import { exitCodes } from "../exit-codes.ts";
import { findKind, type KnownKind } from "../kind-names.ts";
import {
  type Cell,
  type Format,
  json,
  ndjson,
  parseFormat,
  safeText,
  statusTone,
  table,
  toned,
  yaml,
  yamlDocuments,
} from "../output.ts";
import { scopePath, type ScopeOptions, withScope } from "../scope-path.ts";
import { type WatchEvent, watchList } from "../watch.ts";
import type { CliWorld } from "../world.ts";
import { targetPath } from "./declare.ts";
import { listAll } from "../list-all.ts";

/** get, why, wait, loops, status: what changes nothing. */
export function registerRead(program: Command, world: CliWorld, client: ApiClient): void {
  withScope(program.command("get"))
    .description("show resources of a kind, or one of them")
    .argument("<kind>")
    .argument("[name]")
    .option("-o, --output <format>", "table, wide, json, yaml, ndjson or name", "table")
    .option("-w, --watch", "go on and print what changes")
    .option("--timeout <duration>", "with --watch: how long at most")
    .option("-l, --labels <selector>", "only resources with these labels, such as team=web,tier=front")
    .action(async (word: string, name: string | undefined, options: GetOptions) => {
      const format = parseFormat(options.output);
      const [kindWord = word, nameInWord] = word.split("/");
      const kind = await findKind(client, kindWord);
      const base = `${scopePath(world, options)}/${kind.plural}`;
      const one = name ?? nameInWord;
      if (options.watch === true) return await watch(world, client, { kind, base, one }, options);
      const items =
        one === undefined
          ? await listAll(client, base, options.labels)
          : [resourceSchema.parse(await client.get(`${base}/${encodeURIComponent(one)}`))];
      showResources(world, kind, items, { format, one: one !== undefined });
    });

  withScope(program.command("why"))
    .description("explain why a resource is as it is: what stands in the way, what was done, who declared it")
    .argument("<kind/name>")
    .option("-o, --output <format>", "table, json or yaml", "table")
    .action(async (target: string, options: ScopeOptions & { readonly output: string }) => {
      const format = parseFormat(options.output);
      const { path } = await targetPath(world, client, target, options);
      const why = whySchema.parse(await client.get(`${path}/why`));
      if (format === "json") world.writeData(json(why));
      else if (format === "yaml") world.writeData(yaml(why));
      else world.writeData(whyText(world, why));
    });

  withScope(program.command("wait"))
    .description("wait until a resource is ready, or gone")
    .argument("<kind/name>")
    .option("--for <what>", "Ready or Deleted", "Ready")
    .option("--timeout <duration>", "how long to wait at most", "60s")
    .action(async (target: string, options: ScopeOptions & { readonly for: string; readonly timeout: string }) => {
      await waitFor(world, client, target, options);
    });

  registerPlatform(program, world, client);
}

function registerPlatform(program: Command, world: CliWorld, client: ApiClient): void {
  program
    .command("loops")
    .description("the registry of loops: how often each looks, and what has none and why")
    .option("-o, --output <format>", "table, json or yaml", "table")
    .action(async (options: { readonly output: string }) => {
      const format = parseFormat(options.output);
      const loops = loopsSchema.parse(await client.get("/v1/loops"));
      if (format === "json") return world.writeData(json(loops));
      if (format === "yaml") return world.writeData(yaml(loops));
      const rows = loops.kinds.map((kind) => [
        kind.kind,
        kind.everySeconds === undefined ? "-" : shortDuration(kind.everySeconds * 1_000),
        kind.inputs.join(", ") || "-",
        kind.scopes.join(", "),
        kind.withoutLoop ?? "",
      ]);
      world.writeData(table(world, ["KIND", "EVERY", "INPUTS", "SCOPES", "WITHOUT A LOOP BECAUSE"], rows));
    });

  program
    .command("status")
    .description("figures of the whole platform")
    .option("-o, --output <format>", "table, json or yaml", "table")
    .action(async (options: { readonly output: string }) => {
      const format = parseFormat(options.output);
      const summary = summarySchema.parse(await client.get("/v1/summary"));
      if (format === "json") return world.writeData(json(summary));
      if (format === "yaml") return world.writeData(yaml(summary));
      const { services, oldestConfirmedAt, ...figures } = summary;
      const rows: Cell[][] = Object.entries(figures).map(([name, value]) => [name, String(value)]);
      rows.push([
        "oldestVerdict",
        oldestConfirmedAt === undefined ? "none yet" : `${age(world, oldestConfirmedAt)} ago`,
      ]);
      for (const service of services) {
        rows.push([
          service.name,
          { text: service.state, tone: service.state === "running" ? "good" : "bad" },
          service.detail,
        ]);
      }
      world.writeData(table(world, ["WHAT", "VALUE", ""], rows));
    });
}

interface GetOptions extends ScopeOptions {
  readonly output: string;
  readonly labels?: string;
  readonly watch?: boolean;
  readonly timeout?: string;
}

/** Prints what there is, then every change: lines on a terminal and in a pipe alike. */
async function watch(
  world: CliWorld,
  client: ApiClient,
  what: { readonly kind: KnownKind; readonly base: string; readonly one: string | undefined },
  options: GetOptions,
): Promise<void> {
  const format = parseFormat(options.output);
  const query = new URLSearchParams({ watch: "true" });
  if (options.labels !== undefined) query.set("labels", options.labels);
  if (what.one !== undefined) query.set("namePrefix", what.one);
  const signal = world.timer(options.timeout === undefined ? undefined : parseSeconds(options.timeout) * 1_000);
  for await (const event of watchList(client, `${what.base}?${query.toString()}`, signal)) {
    const name = event.type === "DELETED" ? event.name : event.object.metadata.name;
    if (what.one !== undefined && name !== what.one) continue;
    if (format === "json" || format === "ndjson") world.writeData(`${JSON.stringify(event)}\n`);
    else if (format === "yaml") world.writeData(`---\n${yaml(event)}`);
    else if (format === "name") world.writeData(`${what.kind.kind.toLowerCase()}/${name}\n`);
    else world.writeData(`${watchLine(world, event)}\n`);
  }
}

function watchLine(world: CliWorld, event: WatchEvent): string {
  if (event.type === "DELETED") return `${toned(world, "soft", "gone   ")} ${safeText(event.name)}`;
  const [name, , ready, synced, , , message] = row(world, event.object);
  const text = (cell: Cell | undefined) =>
    cell === undefined ? "" : typeof cell === "string" ? safeText(cell) : toned(world, cell.tone, cell.text);
  const word = event.type === "ADDED" ? "is there" : "changed ";
  return `${toned(world, "soft", word)} ${text(name)}  ready ${text(ready)}  synced ${text(synced)}  ${text(message)}`;
}

function showResources(
  world: CliWorld,
  kind: KnownKind,
  items: readonly ResourceDocument[],
  how: { readonly format: Format; readonly one: boolean },
): void {
  const [first] = items;
  if (how.format === "ndjson") world.writeData(ndjson(items));
  else if (how.format === "json") world.writeData(json(how.one ? first : { items }));
  else if (how.format === "yaml") world.writeData(yamlDocuments(items));
  else if (how.format === "name")
    world.writeData(items.map((item) => `${kind.kind.toLowerCase()}/${item.metadata.name}\n`).join(""));
  else if (items.length === 0)
    world.writeNote(`There is no ${kind.kind} here. Declare one with: setpoint apply -f FILE\n`);
  else
    world.writeData(
      table(
        world,
        ["NAME", "MODE", "READY", "SYNCED", "FRESH", "AGE", "MESSAGE", ...(how.format === "wide" ? wideHead : [])],
        items.map((item) => [...row(world, item), ...(how.format === "wide" ? wideCells(item) : [])]),
      ),
    );
}

function row(world: CliWorld, item: ResourceDocument): readonly Cell[] {
  const condition = (type: string) => item.status.conditions.find((entry) => entry.type === type);
  const cell = (type: string): Cell => {
    const status = condition(type)?.status ?? "-";
    return { text: status, tone: statusTone(status) };
  };
  const { deletion } = item.metadata;
  const message = deletion === undefined ? (condition("Ready")?.message ?? "") : `deleting since ${deletion.at}`;
  return [
    item.metadata.name,
    item.metadata.mode ?? "-",
    cell("Ready"),
    cell("Synced"),
    cell("Fresh"),
    age(world, item.metadata.declaredAt),
    shortened(message),
  ];
}

const wideHead = ["GENERATION", "REVISION", "BY", "LABELS", "UID"];

function wideCells({ metadata }: ResourceDocument): readonly string[] {
  const labels = Object.entries(metadata.labels).map(([key, value]) => `${key}=${value}`);
  const { generation, revision, declaredBy, uid } = metadata;
  return [String(generation), String(revision), declaredBy, labels.join(",") || "-", uid];
}

function whyText(world: CliWorld, why: WhyDocument): string {
  const lines = [safeText(why.summary), ""];
  for (const reason of why.chain) {
    lines.push(`${reason.blocking ? toned(world, "warn", "✗") : toned(world, "good", "·")} ${safeText(reason.words)}`);
    if (reason.command !== undefined) lines.push(`    ${toned(world, "soft", `→ ${safeText(reason.command)}`)}`);
  }
  if (why.history.length > 0) lines.push("", "What was done and decided, newest first:");
  for (const entry of why.history) lines.push(`  ${toned(world, "soft", entry.at)}  ${safeText(entry.words)}`);
  return `${lines.join("\n")}\n`;
}

async function waitFor(
  world: CliWorld,
  client: ApiClient,
  target: string,
  options: ScopeOptions & { readonly for: string; readonly timeout: string },
): Promise<void> {
  if (options.for !== "Ready" && options.for !== "Deleted")
    throw new CliError(`"${options.for}" cannot be waited for: write Ready or Deleted`, exitCodes.usage);
  const { path } = await targetPath(world, client, target, options);
  const untilMs = world.nowMs() + parseSeconds(options.timeout) * 1_000;
  for (;;) {
    const state = await stateOf(client, path);
    if (state.reached === options.for)
      return world.writeNote(`${target} is ${options.for === "Ready" ? "ready" : "gone"}\n`);
    if (options.for === "Ready" && state.reached === "Deleted")
      throw new CliError(`${target} does not exist`, exitCodes.notFound);
    if (world.nowMs() >= untilMs)
      throw new CliError(
        `${target} is not there after ${options.timeout}: ${state.message}. See: setpoint why ${target}`,
        state.exitCode,
      );
    await world.sleep(250);
  }
}

async function stateOf(
  client: ApiClient,
  path: string,
): Promise<{ readonly reached: "Ready" | "Deleted" | undefined; readonly message: string; readonly exitCode: number }> {
  try {
    const { status } = resourceSchema.parse(await client.get(path));
    const ready = status.conditions.find((condition) => condition.type === "Ready");
    const settled = !status.conditions.some((condition) => condition.type === "Reconciling");
    const held = ready?.reason === "WaitingForApproval";
    const exitCode = held
      ? exitCodes.waitingForApproval
      : ready?.reason === "Paused"
        ? exitCodes.frozen
        : exitCodes.timedOut;
    return {
      reached: ready?.status === "True" && settled ? "Ready" : undefined,
      message: ready?.message ?? "no verdict yet",
      exitCode,
    };
  } catch (thrown) {
    if (thrown instanceof CliError && thrown.problem?.code === "NOT_FOUND")
      return { reached: "Deleted", message: "gone", exitCode: exitCodes.notFound };
    throw thrown;
  }
}

function age(world: CliWorld, iso: string): string {
  return shortDuration(world.nowMs() - world.timeMs(iso));
}

function shortened(text: string): string {
  return text.length > 120 ? `${text.slice(0, 119)}…` : text;
}
