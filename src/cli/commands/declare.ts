import type { Command } from "commander";
import { type ResourceDocument, resourceSchema } from "../../control-api/schemas/resource.ts";
import type { ApiClient } from "../api-client.ts";
import { CliError } from "../cli-error.ts";
import { exitCodes } from "../exit-codes.ts";
import { findKind, type KnownKind, knownKinds, splitTarget } from "../kind-names.ts";
import { type LoadedManifest, loadManifests } from "../manifests.ts";
import { scopePath, type ScopeOptions, withScope } from "../scope-path.ts";
import type { CliWorld } from "../world.ts";

/** apply, delete, reconcile, mode: what changes what is declared. */
export function registerDeclare(program: Command, world: CliWorld, client: ApiClient): void {
  withScope(program.command("apply"))
    .description("declare what the manifests say")
    .requiredOption(
      "-f, --file <path...>",
      "a YAML or JSON file with one or more documents, a folder of them, or - for stdin",
    )
    .option("--field-manager <name>", "who owns the fields: what one owner applies, another one does not change", "cli")
    .option("--force", "take over fields that have another owner")
    .addHelpText("after", "\nExample:\n  setpoint apply -f zone.yaml\n")
    .action(async (options: ApplyOptions) => {
      const manifests = await loadManifests(world, options.file);
      await applyAll(world, client, options, manifests);
    });

  withScope(program.command("delete"))
    .description("delete a resource and what it made outside")
    .argument("<kind/name>")
    .option("--orphan", "forget what it made outside instead of deleting it")
    .option("--confirm <count>", "approve the deletion of exactly this many outside things in the same step")
    .action(
      async (target: string, options: ScopeOptions & { readonly orphan?: boolean; readonly confirm?: string }) => {
        await remove(world, client, target, options);
      },
    );

  withScope(program.command("reconcile"))
    .description("look again now, and try again what stopped")
    .argument("<kind/name>")
    .action(async (target: string, options: ScopeOptions) => {
      const { path } = await targetPath(world, client, target, options);
      await client.send("POST", `${path}:reconcile`);
      world.writeNote(`${target} is due now\n`);
    });
}

interface ApplyOptions extends ScopeOptions {
  readonly file: readonly string[];
  readonly fieldManager: string;
  readonly force?: boolean;
}

async function applyAll(
  world: CliWorld,
  client: ApiClient,
  options: ApplyOptions,
  manifests: readonly LoadedManifest[],
): Promise<void> {
  const kinds = await knownKinds(client);
  const targets = manifests
    .map((entry) => ({ entry, kind: kindOf(kinds, entry) }))
    .toSorted((left, right) => rank(kinds, left.kind) - rank(kinds, right.kind));
  const query = new URLSearchParams({
    fieldManager: options.fieldManager,
    ...(options.force ? { force: "true" } : {}),
  });
  const counts = { created: 0, changed: 0, unchanged: 0 };
  for (const { entry, kind } of targets) {
    const { name } = entry.manifest.metadata;
    const path = `${scopePath(world, { ...options, ...entry.scope })}/${kind.plural}/${encodeURIComponent(name)}`;
    const result = await apply(client, `${path}?${query.toString()}`, entry).catch((thrown: unknown) => {
      throw applied(thrown, counts, manifests.length);
    });
    counts[result]++;
    world.writeData(`${kind.kind}/${name} ${result}\n`);
  }
  world.writeNote(`${counts.created} created, ${counts.changed} changed, ${counts.unchanged} unchanged\n`);
}

/** What others are part of comes before them: nothing may refer to what is not declared. */
function rank(kinds: readonly KnownKind[], { kind }: KnownKind): number {
  return kinds.some((other) => other.kind !== kind && other.inputs.includes(kind)) ? 1 : 0;
}

function kindOf(kinds: readonly KnownKind[], { manifest, where }: LoadedManifest): KnownKind {
  const kind = kinds.find((known) => known.kind === manifest.kind);
  if (kind !== undefined) return kind;
  const near = kinds.find((known) => known.kind.toLowerCase() === manifest.kind.toLowerCase());
  const hint =
    near === undefined ? `Kinds: ${kinds.map((known) => known.kind).join(", ")}` : `Did you mean ${near.kind}?`;
  throw new CliError(
    `nothing was applied:\n  ${where("/kind")}: there is no kind "${manifest.kind}". ${hint}`,
    exitCodes.usage,
  );
}

async function apply(
  client: ApiClient,
  path: string,
  { manifest, where }: LoadedManifest,
): Promise<"created" | "changed" | "unchanged"> {
  try {
    const headers = { "content-type": "application/apply+json" };
    const answer = await client.send("PATCH", path, { body: manifest, headers });
    const result = answer.headers["setpoint-result"];
    return result === "created" || result === "unchanged" ? result : "changed";
  } catch (thrown) {
    if (!(thrown instanceof CliError) || thrown.problem === undefined) throw thrown;
    const fields = (thrown.problem.errors ?? [])
      .map(({ pointer, message }) => `\n  ${where(pointer)}: ${pointer}: ${message}`)
      .join("");
    const about = `${manifest.kind}/${manifest.metadata.name}`;
    throw new CliError(
      `${fields === "" ? `${where("")}: ` : ""}${about}: ${thrown.problem.detail}${fields}`,
      thrown.exitCode,
      { problem: thrown.problem },
    );
  }
}

/** What was already applied is said, so that nobody has to guess. */
function applied(thrown: unknown, counts: Readonly<Record<string, number>>, all: number): unknown {
  const done = Object.values(counts).reduce((sum, count) => sum + count, 0);
  if (!(thrown instanceof CliError)) return thrown;
  return new CliError(`${thrown.message}\n${done} of ${all} documents were applied before this one`, thrown.exitCode, {
    cause: thrown,
  });
}

async function remove(
  world: CliWorld,
  client: ApiClient,
  target: string,
  options: ScopeOptions & { readonly orphan?: boolean; readonly confirm?: string },
): Promise<void> {
  const { path, kind, name } = await targetPath(world, client, target, options);
  const query = new URLSearchParams();
  if (options.orphan === true) query.set("orphan", "true");
  if (options.confirm !== undefined) query.set("confirm", options.confirm);
  const text = query.size === 0 ? "" : `?${query.toString()}`;
  // What is deleted is what is there now: whoever changes it in between is not overrun.
  const { headers } = await client.send("GET", path);
  const match = { "if-match": headers["etag"] ?? "*" };
  const resource = resourceSchema.parse((await client.send("DELETE", path + text, { headers: match })).body);
  world.writeData(`${kind.kind}/${name} deleting\n`);
  world.writeNote(deletionNote(kind, resource, options));
}

function deletionNote(
  kind: KnownKind,
  resource: ResourceDocument,
  options: { readonly orphan?: boolean; readonly confirm?: string },
): string {
  const owned = resource.status.subjects.reduce((sum, subject) => sum + (subject.owned ?? 0), 0);
  if (kind.withoutLoop !== undefined)
    return "what it declared outside is removed by the loop it belongs to, within the guards\n";
  if (options.orphan === true) return `${owned} things outside are left there and forgotten\n`;
  const held =
    options.confirm === undefined && owned > 1
      ? `; if that is over budget it waits: see setpoint held list, or repeat with --confirm ${owned}`
      : "";
  return `${owned} things outside are deleted first${held}\n`;
}

export async function targetPath(
  world: CliWorld,
  client: ApiClient,
  target: string,
  options: ScopeOptions,
): Promise<{ readonly path: string; readonly kind: KnownKind; readonly name: string }> {
  const { kind: word, name } = splitTarget(target);
  const kind = await findKind(client, word);
  return { path: `${scopePath(world, options)}/${kind.plural}/${encodeURIComponent(name)}`, kind, name };
}
