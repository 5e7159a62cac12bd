import type { Command } from "commander";
import { type DryRunDocument, dryRunSchema } from "../../control-api/schemas/dry-run.ts";
import { driftSchema, planSchema } from "../../control-api/schemas/governance.ts";
import type { ApiClient } from "../api-client.ts";
import { applyOrder, planSet } from "../apply-set.ts";
import { usageError } from "../cli-error.ts";
import { shortDuration } from "../duration.ts";
import { exitCodes } from "../exit-codes.ts";
import { findKind, knownKinds } from "../kind-names.ts";
import { loadManifests } from "../manifests.ts";
import { parseFormat, safeText, shown, table, toned, writeFormatted } from "../output.ts";
import { organizationPath, type ScopeOptions, withScope } from "../scope-path.ts";
import type { CliWorld } from "../world.ts";
import { targetPath } from "./declare.ts";

interface PlanOptions extends ScopeOptions {
  readonly file?: readonly string[];
  readonly fieldManager: string;
  readonly fresh?: boolean;
  readonly output: string;
  readonly detailedExitcode?: boolean;
}

/** diff, plan, rollback, drift: what would happen, and what differs already. Only rollback can change something. */
export function registerPlan(
  program: Command,
  about: { readonly world: CliWorld; readonly client: ApiClient; readonly endWith: (code: number) => void },
): void {
  const { world, client, endWith } = about;
  fromFiles(program, "diff", "how what is declared would change if these manifests were applied").action(
    async (options: PlanOptions) => {
      const plans = await dryRuns(world, client, options);
      if (!writeFormatted(world, parseFormat(options.output), { plans }, plans))
        for (const plan of plans) world.writeData(changesText(world, plan));
      endWith(codeOf(plans.some(declares), options));
    },
  );
  fromFiles(program, "plan", "what would be created, changed and deleted outside, and what would wait for a person")
    .argument("[kind/name]", "instead of files: what the last cycle of this resource wanted and has not done")
    .action(async (target: string | undefined, options: PlanOptions) => {
      if (target !== undefined) return showLastPlan(world, client, target, options);
      const plans = await dryRuns(world, client, options);
      if (!writeFormatted(world, parseFormat(options.output), { plans }, plans))
        for (const plan of plans) world.writeData(changesText(world, plan) + outsideText(world, plan));
      endWith(
        codeOf(
          plans.some((plan) => declares(plan) || touches(plan)),
          options,
        ),
      );
    });
  registerRollback(program, world, client);
  registerDrift(program, world, client);
}

function fromFiles(program: Command, name: string, description: string): Command {
  return withScope(program.command(name))
    .description(`${description}; nothing is written`)
    .option("-f, --file <path...>", "a YAML or JSON file, a folder of them, or - for stdin")
    .option("--field-manager <name>", "as whom it would be applied", "cli")
    .option("--fresh", "have it looked at again first, for at most 10 seconds")
    .option("--detailed-exitcode", "end with 2 when there is something to change")
    .option("-o, --output <format>", "table, json, yaml or ndjson", "table");
}

function codeOf(changes: boolean, options: PlanOptions): number {
  return changes && options.detailedExitcode === true ? exitCodes.changes : exitCodes.done;
}

async function dryRuns(world: CliWorld, client: ApiClient, options: PlanOptions): Promise<readonly DryRunDocument[]> {
  if (options.file === undefined) throw usageError("name the manifests with -f FILE");
  const manifests = await loadManifests(world, options.file);
  const query = new URLSearchParams({
    fieldManager: options.fieldManager,
    ...(options.fresh === true ? { fresh: "true" } : {}),
  });
  return await planSet(client, applyOrder(world, await knownKinds(client), manifests, options), query);
}

function declares(plan: DryRunDocument): boolean {
  return plan.changes.some((change) => change.action !== "none");
}

function touches(plan: DryRunDocument): boolean {
  return plan.subjects.some((subject) => subject.items.length > 0);
}

export function changesText(world: CliWorld, { changes, notes }: DryRunDocument): string {
  const lines = changes.flatMap(({ action, kind, name, fields }) => [
    `${toned(world, tones[action] ?? "soft", action === "none" ? "unchanged" : action)} ${kind}/${safeText(name)}`,
    ...fields.map(({ pointer, before, after }) => `    ${pointer}: ${shown(before)} → ${shown(after)}`),
  ]);
  return `${[...lines, ...notes.map((note) => `    ${safeText(note)}`)].join("\n")}\n`;
}

const tones: Readonly<Record<string, "good" | "warn" | "bad">> = {
  create: "good",
  update: "warn",
  replace: "bad",
  delete: "bad",
};

/** What cannot be undone comes first. */
const order = ["delete", "replace", "takeover", "update", "create", "adopt", "forget"];

export function outsideText(world: CliWorld, { subjects }: DryRunDocument): string {
  const lines = subjects.flatMap((subject) => {
    const { sizes, observation, problem } = subject;
    const where = subject.account === undefined ? "" : ` at ${subject.account}`;
    const seen =
      observation === undefined
        ? "never looked at"
        : `seen ${shortDuration(observation.ageSeconds * 1_000)} ago, ${observation.completeness}`;
    return [
      `outside, ${subject.kind}/${safeText(subject.name)}${where} (${seen}): ${sizes.delete} to delete, ${sizes.replace} to replace, ${sizes.update} to change, ${sizes.create} to create`,
      ...(problem === undefined ? [] : [`    ${toned(world, "bad", "stops:")} ${safeText(problem.message)}`]),
      ...subject.items
        .toSorted((left, right) => order.indexOf(left.action) - order.indexOf(right.action))
        .flatMap(({ action, key, passes, differences }) => [
          `    ${toned(world, tones[action] ?? "soft", action)} ${safeText(key)}${passes ? "" : "  (not let through)"}`,
          ...differences.map(({ field, seen: now, wanted }) => `        ${field}: ${shown(now)} → ${shown(wanted)}`),
        ]),
      ...subject.held.map(
        ({ guard, reason }) => `    ${toned(world, "warn", "would wait:")} ${guard}: ${safeText(reason)}`,
      ),
    ];
  });
  return lines.length === 0 ? "" : `${lines.join("\n")}\n`;
}

async function showLastPlan(world: CliWorld, client: ApiClient, target: string, options: PlanOptions): Promise<void> {
  const { path } = await targetPath(world, client, target, options);
  const plan = planSchema.parse(await client.get(`${path}/plan`));
  if (writeFormatted(world, parseFormat(options.output), plan, plan.subjects)) return;
  for (const subject of plan.subjects) {
    const where = subject.account === undefined ? "" : ` at ${subject.account}`;
    const sets = [subject.delete, subject.update, subject.create].flat();
    world.writeData(`${plan.kind}/${plan.name}${where}: ${subject.state}\n`);
    const rows = [
      ...subject.delete.map((item) => ["delete", item.key]),
      ...subject.update.map((item) => ["update", item.key]),
      ...subject.create.map((item) => ["create", item.key]),
    ];
    if (sets.length > 0) world.writeData(table(world, ["ACTION", "ITEM"], rows));
    for (const { guard, answer, reason } of subject.verdicts)
      world.writeData(`  ${guard}: ${answer}: ${safeText(reason)}\n`);
    for (const id of subject.heldChanges) world.writeNote(`waits: setpoint held show ${id}\n`);
  }
}

function registerRollback(program: Command, world: CliWorld, client: ApiClient): void {
  withScope(program.command("rollback"))
    .description("declare again what was declared before; see setpoint history for what there is")
    .argument("<kind/name>")
    .option("--to-generation <number>", "the spec of this generation")
    .option("--to-revision <number>", "exactly this revision")
    .option("--dry-run", "only show what it would do")
    .action(
      async (
        target: string,
        options: ScopeOptions & {
          readonly toGeneration?: string;
          readonly toRevision?: string;
          readonly dryRun?: boolean;
        },
      ) => {
        const body = rollbackBody(options);
        const { path } = await targetPath(world, client, target, options);
        const { headers } = await client.send("GET", path);
        const match = { "if-match": headers["etag"] ?? "*" };
        // As the same owner as an apply from here: the next manifest may say otherwise.
        const query = new URLSearchParams({
          fieldManager: "cli",
          ...(options.dryRun === true ? { dryRun: "true" } : {}),
        });
        const url = `${path}:rollback?${query.toString()}`;
        const answer = await client.send("POST", url, { body, headers: match });
        if (options.dryRun === true) {
          const plan = dryRunSchema.parse(answer.body);
          return world.writeData(changesText(world, plan) + outsideText(world, plan));
        }
        world.writeData(`${target} ${answer.headers["setpoint-result"] ?? "changed"}\n`);
      },
    );
}

function rollbackBody(options: {
  readonly toGeneration?: string;
  readonly toRevision?: string;
}): Record<string, number> {
  const given = Object.entries({ toGeneration: options.toGeneration, toRevision: options.toRevision }).filter(
    ([, text]) => text !== undefined,
  );
  const [only] = given;
  if (only === undefined || given.length > 1) throw usageError("say where to: --to-generation N or --to-revision N");
  const number = Number(only[1]);
  if (!Number.isSafeInteger(number) || number < 1) throw usageError(`"${only[1] ?? ""}" is not a number from 1`);
  return { [only[0]]: number };
}

function registerDrift(program: Command, world: CliWorld, client: ApiClient): void {
  withScope(program.command("drift"))
    .description("what differs from its declaration, by cause")
    .option("--kind <kind>", "only resources of this kind")
    .option("-o, --output <format>", "table, json, yaml or ndjson", "table")
    .action(async (options: ScopeOptions & { readonly kind?: string; readonly output: string }) => {
      const format = parseFormat(options.output);
      const query =
        options.kind === undefined ? "" : `?kind=${encodeURIComponent((await findKind(client, options.kind)).kind)}`;
      const drift = driftSchema.parse(await client.get(`${organizationPath(world, options)}/drift${query}`));
      if (writeFormatted(world, format, drift, drift.causes)) return;
      if (drift.causes.length === 0) return world.writeNote("Nothing differs, as far as was last seen.\n");
      const rows = drift.causes.map((cause) => [
        cause.kind,
        cause.action,
        cause.field,
        String(cause.items),
        cause.resources.map(({ name }) => name).join(", "),
        `${shortDuration(world.nowMs() - world.timeMs(cause.since))} ago`,
        cause.guards.join(", "),
      ]);
      world.writeData(table(world, ["KIND", "ACTION", "FIELD", "ITEMS", "RESOURCES", "SINCE", "GUARDS"], rows));
      if (drift.truncated) world.writeNote("… and more\n");
    });
}
