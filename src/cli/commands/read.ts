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
import {
  formatWords,
  type OutputOptions,
  type RecordOptions,
  showOne,
  showRecords,
  withOutput,
  withRecords,
} from "../records.ts";
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
    .option("-o, --output <format>", formatWords, "table")
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

  withOutput(withScope(program.command("why")))
    .description("explain why a resource is as it is: what stands in the way, what was done, who declared it")
    .argument("<kind/name>")
    .action(async (target: string, options: ScopeOptions & OutputOptions) => {
      const { path } = await targetPath(world, client, target, options);
      const why = whySchema.parse(await client.get(`${path}/why`));
      showOne(world, options, { value: why, name: target, text: () => whyText(world, why) });
    });

  withScope(program.command("wait"))
    .description("wait until a resource is ready, as declared, or gone; says what it waits for")
    .argument("<kind/name>")
    .option("--for <what>", "Ready, Synced or Deleted", "Ready")
    .option("--timeout <duration>", "how long to wait at most", "60s")
    .action(async (target: string, options: ScopeOptions & { readonly for: string; readonly timeout: string }) => {
      await waitFor(world, client, target, options);
    });

  registerPlatform(program, world, client);
}

function registerPlatform(program: Command, world: CliWorld, client: ApiClient): void {
  withRecords(program.command("loops"))
    .description("the registry of loops: how often each looks, and what has none and why")
    .action((options: RecordOptions) =>
      showRecords(world, options, async () => {
        const loops = loopsSchema.parse(await client.get("/v1/loops"));
        return {
          value: loops,
          items: loops.kinds,
          name: (kind) => kind.kind.toLowerCase(),
          head: ["KIND", "EVERY", "INPUTS", "SCOPES", "WITHOUT A LOOP BECAUSE"],
          row: (kind) => [
            kind.kind,
            kind.everySeconds === undefined ? "-" : shortDuration(kind.everySeconds * 1_000),
            kind.inputs.join(", ") || "-",
            kind.scopes.join(", "),
            kind.withoutLoop ?? "",
          ],
          empty: "No kind is installed.",
        };
      }),
    );

  withOutput(program.command("status"))
    .description("figures of the whole platform")
    .action(async (options: OutputOptions) => {
      const summary = summarySchema.parse(await client.get("/v1/summary"));
      showOne(world, options, {
        value: summary,
        name: summary.installationId,
        text: () => table(world, ["WHAT", "VALUE", ""], figuresOf(world, summary)),
      });
    });
}

function figuresOf(world: CliWorld, summary: ReturnType<typeof summarySchema.parse>): readonly (readonly Cell[])[] {
  const { services, oldestConfirmedAt, ...figures } = summary;
  return [
    ...Object.entries(figures).map(([name, value]) => [name, String(value)]),
    ["oldestVerdict", oldestConfirmedAt === undefined ? "none yet" : `${age(world, oldestConfirmedAt)} ago`],
    ...services.map(({ name, state, detail }) => [
      name,
      { text: state, tone: state === "running" ? ("good" as const) : ("bad" as const) },
      detail,
    ]),
  ];
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
  const cell = (type: string) => {
    const status = condition(type)?.status ?? "-";
    return { text: status, tone: statusTone(status) };
  };
  const { deletion } = item.metadata;
  const message = deletion === undefined ? readyWords(item) : `deleting since ${deletion.at}`;
  return [
    item.metadata.name,
    item.metadata.mode ?? "-",
    cell("Ready"),
    syncedCell(item, cell("Synced")),
    cell("Fresh"),
    age(world, item.metadata.declaredAt),
    shortened(message),
  ];
}

/** What is as declared may still have something to report, such as a credential that may only read. */
function readyWords({ status: { conditions } }: ResourceDocument): string {
  const ready = conditions.find(({ type }) => type === "Ready");
  const reported = conditions.find(({ type, status }) => type.startsWith("Report/") && status === "True");
  if (ready?.status !== "True" || reported === undefined) return ready?.message ?? "";
  return `${ready.message}, but ${reported.type.slice("Report/".length)}: ${reported.message}`;
}

/** With how many differences there are, where that is known and there are any. */
function syncedCell({ status: { differences = 0 } }: ResourceDocument, cell: Exclude<Cell, string>): Cell {
  return differences === 0 || cell.text !== "False" ? cell : { ...cell, text: `${cell.text} (${differences})` };
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

const waitable = ["Ready", "Synced", "Deleted"];

async function waitFor(
  world: CliWorld,
  client: ApiClient,
  target: string,
  options: ScopeOptions & { readonly for: string; readonly timeout: string },
): Promise<void> {
  if (!waitable.includes(options.for))
    throw new CliError(`"${options.for}" cannot be waited for: write ${waitable.join(", ")}`, exitCodes.usage);
  const { path } = await targetPath(world, client, target, options);
  const untilMs = world.nowMs() + parseSeconds(options.timeout) * 1_000;
  let told = "";
  for (;;) {
    const state = await stateOf(client, path);
    if (state.reached.includes(options.for))
      return world.writeNote(`${target} is ${options.for === "Deleted" ? "gone" : options.for.toLowerCase()}\n`);
    if (options.for !== "Deleted" && state.reached.includes("Deleted"))
      throw new CliError(`${target} does not exist`, exitCodes.notFound);
    if (world.nowMs() >= untilMs)
      throw new CliError(
        `${target} is not there after ${options.timeout}: ${state.message}. See: setpoint why ${target}`,
        state.exitCode,
      );
    if (state.message !== told) world.writeNote(`${target}: ${safeText(state.message)}\n`);
    told = state.message;
    await world.sleep(250);
  }
}

interface Reached {
  readonly reached: readonly string[];
  readonly message: string;
  readonly exitCode: number;
}

async function stateOf(client: ApiClient, path: string): Promise<Reached> {
  try {
    const { status, metadata } = resourceSchema.parse(await client.get(path));
    const find = (type: string) => status.conditions.find((condition) => condition.type === type);
    const settled = find("Reconciling") === undefined;
    const message = find("Ready")?.message ?? "no verdict yet";
    return {
      reached: ["Ready", "Synced"].filter((type) => settled && find(type)?.status === "True"),
      message: metadata.deletion === undefined ? message : `being deleted: ${message}`,
      exitCode: waitCode(find("Ready")?.reason, find("Stalled")?.status === "True"),
    };
  } catch (thrown) {
    if (thrown instanceof CliError && thrown.problem?.code === "NOT_FOUND")
      return { reached: ["Deleted"], message: "gone", exitCode: exitCodes.notFound };
    throw thrown;
  }
}

function waitCode(reason: string | undefined, stalled: boolean): number {
  if (reason === "WaitingForApproval") return exitCodes.waitingForApproval;
  if (reason === "Paused") return exitCodes.frozen;
  if (reason === "OperationNeedsAttention") return exitCodes.operationFailed;
  return stalled ? exitCodes.operationFailed : exitCodes.timedOut;
}

function age(world: CliWorld, iso: string): string {
  return shortDuration(world.nowMs() - world.timeMs(iso));
}

function shortened(text: string): string {
  return text.length > 120 ? `${text.slice(0, 119)}…` : text;
}
