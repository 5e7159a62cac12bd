import type { Command } from "commander";
import type { z } from "zod";
import {
  type OperationDocument,
  operationListSchema,
  operationSchema,
  stepEntrySchema,
  stepListSchema,
} from "../../control-api/schemas/operation.ts";
import type { ApiClient } from "../api-client.ts";
import { CliError, usageError } from "../cli-error.ts";
import { parseSeconds, shortDuration } from "../duration.ts";
import { exitCodes } from "../exit-codes.ts";
import { operationInput } from "../operation-input.ts";
import { safeText } from "../output.ts";
import { type OutputOptions, type RecordOptions, showOne, showRecords, withOutput, withRecords } from "../records.ts";
import { organizationPath, type ScopeOptions, withScope } from "../scope-path.ts";
import type { CliWorld } from "../world.ts";
import { targetPath } from "./declare.ts";

type StepDocument = z.output<typeof stepEntrySchema>;

interface StartOptions extends ScopeOptions {
  readonly input?: string;
  readonly pipelineVersion?: string;
}

interface SteerOptions extends ScopeOptions {
  readonly reason?: string;
  readonly step?: string;
}

/** ops: long work, as it runs, and a person's word to it. */
export function registerOperations(program: Command, world: CliWorld, client: ApiClient): void {
  const ops = program.command("ops").description("operations: long work on resources, step by step");
  registerLooking(ops, world, client);
  withScope(ops.command("start"))
    .description("start a pipeline on a resource; one that runs already is the answer")
    .argument("<resource>", "such as dnszone/example")
    .argument("<pipeline>", "such as dns-zone.create")
    .option("--input <value>", "what the pipeline is told: JSON or YAML, @FILE, or - for standard input")
    .option("--pipeline-version <number>", "an older one that is still there; the newest unless said")
    .action(async (target: string, pipeline: string, options: StartOptions) => {
      const input = options.input === undefined ? {} : { input: await operationInput(world, options.input) };
      const { path } = await targetPath(world, client, target, options);
      const version = options.pipelineVersion === undefined ? {} : { version: Number(options.pipelineVersion) };
      const { body } = await client.send("POST", `${path}/operations`, { body: { pipeline, ...version, ...input } });
      told(world, operationSchema.parse(body));
    });
  const verbs = {
    cancel: "stop an operation at its next step, and take back what it made",
    resume: "go on after it waited for a person",
    retry: "go back to a step, and on from there",
    skip: "leave the step it waits at undone, where that is safe",
    release: "end it as it is, and give the resource back to its loop",
  };
  for (const [verb, description] of Object.entries(verbs)) {
    const command = withScope(ops.command(verb)).description(description).argument("<id>", "the operation");
    if (verb === "retry" || verb === "skip")
      command.option("--step <name>", "the step; the one it waits at unless said");
    command
      .option("--reason <text>", "why; it stands in its journal and in the audit trail")
      .action((id: string, options: SteerOptions) => steer(world, client, verb, id, options));
  }
}

function registerLooking(ops: Command, world: CliWorld, client: ApiClient): void {
  withRecords(withScope(ops.command("list")))
    .description("operations, newest first")
    .option("--on <resource>", "of one resource, such as dnszone/example")
    .option("--state <state>", "running, held, attention, succeeded, not-run or cancelled")
    .option("--attention", "only those that need somebody")
    .action(async (options: ListOptions) => {
      const path = await listPath(world, client, options);
      await showRecords(world, options, async () => {
        const value = operationListSchema.parse(await client.get(path));
        return {
          value,
          items: value.items,
          name: ({ id }) => id,
          head: ["ID", "PIPELINE", "RESOURCE", "STATE", "STEP", "AGE", "BY", "MESSAGE"],
          row: (item) => rowOf(world, item),
          empty: "No operations.",
        };
      });
    });
  withOutput(withScope(ops.command("get")))
    .description("one operation: where it stands, and what can be done")
    .argument("<id>", "the operation")
    .action(async (id: string, options: ScopeOptions & OutputOptions) => {
      const value = operationSchema.parse(await client.get(operationPath(world, id, options)));
      showOne(world, options, { value, name: value.id, text: () => page(value) });
    });
  for (const [name, description] of [
    ["steps", "the journal of an operation: steps, attempts and failures"],
    ["logs", "what an operation said on its way, line by line"],
  ] as const) {
    withRecords(withScope(ops.command(name)))
      .description(description)
      .argument("<id>", "the operation")
      .action((id: string, options: ScopeOptions & RecordOptions) => showSteps(world, client, id, options, name));
  }
  withScope(ops.command("watch"))
    .description("follow an operation until it ends; fails when it does not succeed")
    .argument("<id>", "the operation")
    .option("--timeout <duration>", "how long at most")
    .action((id: string, options: ScopeOptions & { readonly timeout?: string }) => follow(world, client, id, options));
}

interface ListOptions extends ScopeOptions, RecordOptions {
  readonly on?: string;
  readonly state?: string;
  readonly attention?: boolean;
}

async function listPath(world: CliWorld, client: ApiClient, options: ListOptions): Promise<string> {
  const query = new URLSearchParams();
  if (options.state !== undefined) query.set("state", options.state);
  if (options.attention === true) query.set("attention", "true");
  const { on } = options;
  const base =
    on === undefined ? organizationPath(world, options) : (await targetPath(world, client, on, options)).path;
  return `${base}/operations${query.size === 0 ? "" : `?${query.toString()}`}`;
}

function operationPath(world: CliWorld, id: string, options: ScopeOptions): string {
  return `${organizationPath(world, options)}/operations/${encodeURIComponent(id)}`;
}

function rowOf(world: CliWorld, item: OperationDocument) {
  const age = shortDuration(world.nowMs() - world.timeMs(item.createdAt));
  const resource = `${item.resource.kind}/${item.resource.name}`;
  const words = item.attentionBecause ?? item.waitsFor;
  const message = words === undefined || words === item.message ? item.message : `${item.message}; ${words}`;
  return [item.id, item.pipeline, resource, item.state, item.step ?? "", age, item.startedBy, safeText(message)];
}

function page(item: OperationDocument): string {
  const queue = item.ahead === undefined ? undefined : `${item.ahead} before it, ${item.aheadOwn ?? 0} of them yours`;
  const lines: readonly (readonly [string, string | undefined])[] = [
    ["Operation", item.id],
    ["Pipeline", `${item.pipeline} version ${item.version}`],
    ["Resource", `${item.resource.kind}/${item.resource.name}`],
    ["State", item.direction === "back" ? `${item.state}, taking back what it made` : item.state],
    ["Cancelled", item.cancel && safeText(`by ${item.cancel.by}: ${item.cancel.reason}`)],
    ["Step", item.step],
    ["Message", safeText(item.message)],
    ["Queue", queue],
    ["Waits for", item.waitsFor === item.message ? undefined : item.waitsFor && safeText(item.waitsFor)],
    ["Needs you", item.attentionBecause && safeText(item.attentionBecause)],
    ["Due", item.dueAt],
    ["Holds since", item.holdSince],
    ["Started by", item.startedBy],
    ["Ended", item.endedAt],
    ["You can", item.can.map((verb) => commandOf(verb, item)).join("\n             ") || undefined],
  ];
  return lines.flatMap(([name, value]) => (value === undefined ? [] : [`${name.padEnd(12)} ${value}\n`])).join("");
}

/** As it can be typed: each of them needs a reason. */
function commandOf(verb: string, { id }: Pick<OperationDocument, "id">): string {
  return `setpoint ops ${verb} ${id} --reason TEXT`;
}

async function showSteps(
  world: CliWorld,
  client: ApiClient,
  id: string,
  options: ScopeOptions & RecordOptions,
  view: "steps" | "logs",
): Promise<void> {
  const path = `${operationPath(world, id, options)}/steps`;
  const said = ({ result }: StepDocument) => (view === "steps" ? result !== "noted" : true);
  await showRecords(world, options, async () => {
    const value = stepListSchema.parse(await client.get(path));
    return {
      value,
      items: value.items.filter(said),
      name: ({ place, step }) => `${place} ${step}`,
      head: ["AT", "STEP", "RESULT", "TOOK", "MESSAGE"],
      row: (step) => [step.at, stepName(step), step.result, took(step), safeText(wordsOf(step))],
      empty: "It has not begun.",
    };
  });
}

function stepName({ step, direction }: StepDocument): string {
  return direction === "back" ? `${step} (back)` : step;
}

function took({ tookMs }: StepDocument): string {
  return tookMs === undefined ? "" : `${Math.round(tookMs)} ms`;
}

function wordsOf({ attempt, code, message }: StepDocument): string {
  const tried = attempt === undefined ? "" : `attempt ${attempt}: `;
  return `${tried}${code === undefined ? "" : `${code}: `}${message ?? ""}`;
}

async function steer(world: CliWorld, client: ApiClient, verb: string, id: string, options: SteerOptions) {
  const { reason } = options;
  if (reason === undefined) throw usageError("say why with --reason: it stands in the operation's journal");
  const path = operationPath(world, id, options);
  const takesStep = verb === "retry" || verb === "skip";
  const step = takesStep ? (options.step ?? operationSchema.parse(await client.get(path)).step) : undefined;
  const body = { reason, ...(step === undefined ? {} : { step }) };
  told(world, operationSchema.parse((await client.send("POST", `${path}:${verb}`, { body })).body));
}

function told(world: CliWorld, { id, pipeline, state, message }: OperationDocument): void {
  world.writeData(`${id}\n`);
  world.writeNote(`${pipeline} is ${state}: ${safeText(message)}; follow it with: setpoint ops watch ${id}\n`);
}

async function follow(
  world: CliWorld,
  client: ApiClient,
  id: string,
  options: ScopeOptions & { readonly timeout?: string },
): Promise<void> {
  const signal = world.timer(options.timeout === undefined ? undefined : parseSeconds(options.timeout) * 1_000);
  const path = `${operationPath(world, id, options)}?watch=true`;
  let cursor: string | undefined;
  let last: OperationDocument | undefined;
  while (!signal.aborted && last?.endedAt === undefined) {
    for await (const event of client.events(path, { cursor, signal })) {
      cursor = event.id ?? cursor;
      const data: unknown = JSON.parse(event.data);
      const step = stepEntrySchema.safeParse(data);
      if (step.success) {
        world.writeData(`${step.data.at} ${stepName(step.data)} ${step.data.result} ${safeText(wordsOf(step.data))}\n`);
        continue;
      }
      const before = last?.message;
      last = operationSchema.parse(data);
      if (last.message !== before) world.writeNote(`${last.state}: ${safeText(last.message)}\n`);
    }
  }
  if (last?.state === "succeeded") return;
  const state = last === undefined ? "was not seen" : `is ${last.state}: ${last.message}`;
  const code = last?.endedAt === undefined ? exitCodes.timedOut : exitCodes.operationFailed;
  throw new CliError(`Operation ${id} ${state}`, code);
}
