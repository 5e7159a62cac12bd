import type { Command } from "commander";
import type { DryRunDocument } from "../../control-api/schemas/dry-run.ts";
import { resourceSchema } from "../../control-api/schemas/resource.ts";
import type { ApiClient } from "../api-client.ts";
import { applyOrder, type Entry, planSet, sendManifest } from "../apply-set.ts";
import { CliError } from "../cli-error.ts";
import { exitCodes } from "../exit-codes.ts";
import { knownKinds } from "../kind-names.ts";
import { loadManifests } from "../manifests.ts";
import { safeText } from "../output.ts";
import { confirmPrune, leftovers, leftoverText, prune, type PruneOptions, requireSelector } from "../prune.ts";
import { type ScopeOptions, withScope } from "../scope-path.ts";
import type { CliWorld } from "../world.ts";
import { changesText, outsideTexts } from "./plan.ts";

interface ApplyOptions extends ScopeOptions, PruneOptions {
  readonly file: readonly string[];
  readonly fieldManager: string;
  readonly force?: boolean;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
}

/** apply: the plan first, then the declarations, then what the files no longer speak of. */
export function registerApply(program: Command, world: CliWorld, client: ApiClient): void {
  withScope(program.command("apply"))
    .description("declare what the manifests say; shows the plan first, and asks on a terminal")
    .requiredOption(
      "-f, --file <path...>",
      "a YAML or JSON file with one or more documents, a folder of them, or - for stdin",
    )
    .option("--field-manager <name>", "who owns the fields: what one owner applies, another one does not change", "cli")
    .option("--force", "take over fields that have another owner")
    .option("-y, --yes", "do not ask; it passes no guard")
    .option("--dry-run", "only show the plan")
    .option("--prune", "delete what matches --labels and is in none of the files, of their kinds and scopes")
    .option("-l, --labels <selector>", "with --prune: the resources that belong to these files, such as team=web")
    .option("--confirm <count>", "with --prune: how many resources are deleted")
    .action(async (options: ApplyOptions) => apply(world, client, options));
}

async function apply(world: CliWorld, client: ApiClient, options: ApplyOptions): Promise<void> {
  const selector = requireSelector(options);
  const manifests = await loadManifests(world, options.file);
  const kinds = await knownKinds(client);
  const entries = applyOrder(world, kinds, manifests, options);
  const query = new URLSearchParams({
    fieldManager: options.fieldManager,
    ...(options.force ? { force: "true" } : {}),
  });
  const planned = await planSet(client, entries, query);
  const plans = planned.map(({ plan }) => plan);
  const found = selector === undefined ? [] : await leftovers(client, kinds, entries, selector);
  const outside = outsideTexts(world, plans);
  const text = plans.map((plan, index) => changesText(world, plan) + (outside[index] ?? "")).join("");
  if (options.dryRun === true) return world.writeData(text + found.map(leftoverText).join(""));
  world.writeNote(text);
  await confirmPrune(world, found, options);
  if (options.yes !== true) await confirmApply(world, plans);
  await declareAll(
    world,
    client,
    planned.map(({ entry }) => entry),
    query,
  );
  await prune(world, client, found);
}

/** Where nobody can be asked the command itself is the answer, as in a pipeline. */
async function confirmApply(world: CliWorld, plans: readonly DryRunDocument[]): Promise<void> {
  const changes = plans.some((plan) => plan.changes.some(({ action }) => action !== "none"));
  if (!world.interactive || !changes) return;
  const answer = await world.ask("Apply? [y/N] ");
  if (!/^y(es)?$/i.test(answer.trim())) throw new CliError("cancelled; nothing was applied", exitCodes.cancelled);
}

async function declareAll(
  world: CliWorld,
  client: ApiClient,
  entries: readonly Entry[],
  query: URLSearchParams,
): Promise<void> {
  const counts = { created: 0, changed: 0, unchanged: 0 };
  for (const { loaded, kind, path } of entries) {
    const answer = await sendManifest(client, `${path}?${query.toString()}`, loaded).catch((thrown: unknown) => {
      throw applied(thrown, counts, entries.length);
    });
    const said = answer.headers["setpoint-result"];
    const result = said === "created" || said === "unchanged" ? said : "changed";
    counts[result]++;
    world.writeData(`${kind.kind}/${loaded.manifest.metadata.name} ${result}\n`);
    if (result === "changed") tellWaiting(world, `${kind.kind}/${loaded.manifest.metadata.name}`, answer.body);
  }
  world.writeNote(`${counts.created} created, ${counts.changed} changed, ${counts.unchanged} unchanged\n`);
}

/** An operation that waits for a person does not go on because the declaration was corrected: who did that is to know. */
function tellWaiting(world: CliWorld, name: string, body: unknown): void {
  const { data } = resourceSchema.safeParse(body);
  const ready = data?.status.conditions.find(({ type }) => type === "Ready");
  if (ready?.reason === "OperationNeedsAttention") world.writeNote(`${name}: ${safeText(ready.message)}\n`);
}

/** What was already applied is said, so that nobody has to guess. */
function applied(thrown: unknown, counts: Readonly<Record<string, number>>, all: number): unknown {
  const done = Object.values(counts).reduce((sum, count) => sum + count, 0);
  if (!(thrown instanceof CliError)) return thrown;
  return new CliError(`${thrown.message}\n${done} of ${all} documents were applied before this one`, thrown.exitCode, {
    cause: thrown,
  });
}
