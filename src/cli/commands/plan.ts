import type { Command } from "commander";
import type { z } from "zod";
import { type DryRunDocument, dryRunSchema } from "../../control-api/schemas/dry-run.ts";
import { type DriftDocument, driftSchema, planSchema } from "../../control-api/schemas/governance.ts";
import type { ApiClient } from "../api-client.ts";
import { applyOrder, planSet } from "../apply-set.ts";
import { usageError } from "../cli-error.ts";
import { shortDuration } from "../duration.ts";
import { exitCodes } from "../exit-codes.ts";
import { findKind, knownKinds } from "../kind-names.ts";
import { loadManifests } from "../manifests.ts";
import { ndjson, parseFormat, safeText, shown, table, toned } from "../output.ts";
import { ignoredText } from "../ignored-text.ts";
import { type RecordOptions, type Records, showOne, showRecords, withOutput, withRecords } from "../records.ts";
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
      showPlans(world, options, plans, (plan) => changesText(world, plan));
      endWith(codeOf(plans.some(declares), options));
    },
  );
  fromFiles(program, "plan", "what would be created, changed and deleted outside, and what would wait for a person")
    .argument("[kind/name]", "instead of files: what the last cycle of this resource wanted and has not done")
    .action(async (target: string | undefined, options: PlanOptions) => {
      if (target !== undefined) return showLastPlan(world, client, target, options);
      const plans = await dryRuns(world, client, options);
      const all = parseFormat(options.output) === "wide" ? Number.POSITIVE_INFINITY : undefined;
      const outside = outsideTexts(world, plans, all);
      showPlans(world, options, plans, (plan) => changesText(world, plan) + (outside[plans.indexOf(plan)] ?? ""));
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

/** As names: what would be declared otherwise than it is. */
function showPlans(
  world: CliWorld,
  { output }: PlanOptions,
  plans: readonly DryRunDocument[],
  textOf: (plan: DryRunDocument) => string,
): void {
  const format = parseFormat(output);
  if (format === "ndjson") return world.writeData(ndjson(plans));
  const changed = plans.flatMap(({ changes }) => changes).filter(({ action }) => action !== "none");
  if (format === "name")
    return world.writeData(changed.map(({ kind, name }) => `${kind.toLowerCase()}/${name}\n`).join(""));
  showOne(world, { output }, { value: { plans }, name: "", text: () => plans.map(textOf).join("") });
}

function fromFiles(program: Command, name: string, description: string): Command {
  return withOutput(withScope(program.command(name)))
    .description(`${description}; nothing is written`)
    .option("-f, --file <path...>", "a YAML or JSON file, a folder of them, or - for stdin")
    .option("--field-manager <name>", "as whom it would be applied", "cli")
    .option("--fresh", "have it looked at again first, for at most 10 seconds")
    .option("--detailed-exitcode", "end with 2 when there is something to change");
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
  const planned = await planSet(client, applyOrder(world, await knownKinds(client), manifests, options), query);
  return planned.map(({ plan }) => plan);
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

/** A zone has tens of thousands of items, and the plan of each of its records is the zone's: what is counted need not all be listed. */
const listedItems = 20;

/** The plans of a whole set: each says how much it is, and the first items are listed, those that cannot be undone before others. */
export function outsideTexts(world: CliWorld, plans: readonly DryRunDocument[], most = listedItems): readonly string[] {
  let left = most;
  return plans.map((plan) => {
    const text = outsideText(world, plan, left);
    left = Math.max(0, left - plan.subjects.reduce((sum, { items }) => sum + items.length, 0));
    return text;
  });
}

export function outsideText(world: CliWorld, { subjects }: DryRunDocument, most = listedItems): string {
  const lines = subjects.flatMap((subject) => {
    const unlisted = Math.max(0, subject.items.length - most);
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
        .slice(0, most)
        .flatMap(({ action, key, passes, differences }) => [
          `    ${toned(world, tones[action] ?? "soft", action)} ${safeText(key)}${passes ? "" : "  (not let through)"}`,
          ...differences.map(({ field, seen: now, wanted }) => `        ${field}: ${shown(now)} → ${shown(wanted)}`),
        ]),
      ...(unlisted === 0 ? [] : [`    … and ${unlisted} more (setpoint plan -f FILE -o wide lists all)`]),
      ...(subject.ignored ?? []).map(
        ({ key, field, seen: now, wanted, reason, from }) =>
          `    ${toned(world, "soft", "ignored:")} ${field} of ${safeText(key)}: ${shown(now)} stays, not ${shown(wanted)} (rule of ${from}: ${safeText(reason)})`,
      ),
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
  const name = `${plan.kind.toLowerCase()}/${plan.name}`;
  showOne(world, options, { value: plan, name, text: () => lastPlanText(world, plan) });
  for (const id of plan.subjects.flatMap((subject) => subject.heldChanges))
    world.writeNote(`waits: setpoint held show ${id}\n`);
}

function lastPlanText(world: CliWorld, plan: z.output<typeof planSchema>): string {
  const parts = plan.subjects.flatMap((subject) => {
    const where = subject.account === undefined ? "" : ` at ${subject.account}`;
    const rows = [
      ...subject.delete.map((item) => ["delete", item.key]),
      ...subject.update.map((item) => ["update", item.key]),
      ...subject.create.map((item) => ["create", item.key]),
    ];
    return [
      `${plan.kind}/${plan.name}${where}: ${subject.state}\n`,
      ...(rows.length === 0 ? [] : [table(world, ["ACTION", "ITEM"], rows)]),
      ...subject.verdicts.map(({ guard, answer, reason }) => `  ${guard}: ${answer}: ${safeText(reason)}\n`),
    ];
  });
  return parts.join("");
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
  withRecords(withScope(program.command("drift")))
    .description("what differs from its declaration, by cause")
    .option("--kind <kind>", "only resources of this kind")
    .action(async (options: ScopeOptions & RecordOptions & { readonly kind?: string }) => {
      const query =
        options.kind === undefined ? "" : `?kind=${encodeURIComponent((await findKind(client, options.kind)).kind)}`;
      await showRecords(world, options, async () => {
        const drift = driftSchema.parse(await client.get(`${organizationPath(world, options)}/drift${query}`));
        return driftRecords(world, drift);
      });
    });
}

function driftRecords(world: CliWorld, drift: DriftDocument): Records<DriftDocument["causes"][number]> {
  const notes = [...(drift.truncated ? ["… and more"] : []), ...(drift.ignored ?? []).map(ignoredText)];
  return {
    value: drift,
    items: drift.causes,
    name: ({ kind, resources }) => resources.map(({ name }) => `${kind.toLowerCase()}/${name}`).join("\n"),
    head: ["KIND", "ACTION", "FIELD", "ITEMS", "RESOURCES", "SINCE", "GUARDS"],
    row: (cause) => [
      cause.kind,
      cause.action,
      cause.field,
      String(cause.items),
      cause.resources.map(({ name }) => name).join(", "),
      `${shortDuration(world.nowMs() - world.timeMs(cause.since))} ago`,
      cause.guards.join(", "),
    ],
    empty: ["Nothing differs, as far as was last seen.", ...notes].join("\n"),
    ...(notes.length === 0 ? {} : { note: notes.join("\n") }),
  };
}
