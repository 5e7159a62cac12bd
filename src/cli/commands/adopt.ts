import type { Command } from "commander";
import { resourceSchema, type SeenItemDocument } from "../../control-api/schemas/resource.ts";
import { adoptionOf, declareSeen, tellAdoption } from "../adoption.ts";
import type { ApiClient } from "../api-client.ts";
import { usageError } from "../cli-error.ts";
import { parseSeconds } from "../duration.ts";
import { findKind } from "../kind-names.ts";
import { writeManifests } from "../output.ts";
import { formatWords } from "../records.ts";
import { scopePath, type ScopeOptions, withScope } from "../scope-path.ts";
import { pickItems, seenItems, type Target, targetText, undeclared } from "../seen-items.ts";
import type { CliWorld } from "../world.ts";
import { targetPath } from "./declare.ts";
import { importDns, type ImportDnsOptions, isDnsImport } from "./import-dns.ts";

/** import, adopt, release: between what exists outside and what is declared. */
export function registerAdopt(program: Command, world: CliWorld, client: ApiClient): void {
  withScope(program.command("import"))
    .description("manifests for what exists outside and nobody declares; nothing is changed")
    .argument("<what>", "whose items, such as dnszone/example; or dns, for a whole zone with --zone")
    .option("--zone <name>", "with dns: the zone, such as example.com")
    .option("--account <name>", "with dns: at whose server it is, where it is not declared yet")
    .option("--file <path>", "with dns: a zone file instead of the live zone")
    .option("--timeout <duration>", "with dns: how long to wait for the first look", "60s")
    .option("-o, --output <format>", formatWords, "yaml")
    .action(async (word: string, options: ImportDnsOptions) => {
      if (isDnsImport(word)) return await importDns(world, client, options);
      const target = await targetPath(world, client, word, options);
      importManifests(world, target, undeclared(await seenItems(client, target)), options.output);
    });

  withScope(program.command("adopt"))
    .description("declare what exists outside just as it is, so that it is taken over once a person approves")
    .argument("<kind/name>", "whose items, such as dnszone/example")
    .argument("[items...]", 'as in setpoint import, such as "www.example.com. A"; spaces may be written as slashes')
    .option("--all", "everything that nobody declares and that can be declared")
    .option("--timeout <duration>", "how long to wait for the next look", "30s")
    .action(
      async (
        word: string,
        names: readonly string[],
        options: ScopeOptions & { readonly all?: boolean; readonly timeout: string },
      ) => adopt(world, client, { word, names, options }),
    );

  withScope(program.command("release"))
    .description("stop declaring items, and leave them outside as they are")
    .argument("<kind/name>", "whose items, such as dnszone/example")
    .argument("<items...>", 'such as "www.example.com. A"; spaces may be written as slashes')
    .action(async (word: string, names: readonly string[], options: ScopeOptions) => {
      const target = await targetPath(world, client, word, options);
      const seen = await seenItems(client, target);
      await release(world, client, { target, seen, items: pickItems(target, seen, names) }, options);
    });
}

function importManifests(world: CliWorld, target: Target, items: readonly SeenItemDocument[], output: string): void {
  const manifests = items.flatMap(({ manifest }) => manifest ?? []);
  for (const { key, manifest, problem } of items)
    if (manifest === undefined)
      world.writeNote(`left out: ${key}: ${problem ?? "no resource of its own can declare it"}\n`);
  if (items.length === 0) return world.writeNote(`Everything that ${targetText(target)} shows is declared\n`);
  writeManifests(world, output, manifests);
}

async function adopt(
  world: CliWorld,
  client: ApiClient,
  asked: {
    readonly word: string;
    readonly names: readonly string[];
    readonly options: ScopeOptions & { readonly all?: boolean; readonly timeout: string };
  },
): Promise<void> {
  const { word, names, options } = asked;
  if ((options.all === true) === names.length > 0)
    throw usageError("say what to adopt: the items by name, or --all, not both");
  const timeoutMs = parseSeconds(options.timeout) * 1_000;
  const target = await targetPath(world, client, word, options);
  const seen = await seenItems(client, target);
  const chosen = options.all === true ? everything(world, seen) : pickItems(target, seen, names);
  if (chosen.length === 0) return world.writeNote(`There is nothing to adopt at ${targetText(target)}\n`);
  await declareSeen(world, client, chosen, options);
  tellAdoption(world, target, await adoptionOf(world, client, target, { chosen, timeoutMs, scope: options }));
}

/** All that can be declared; what cannot is said, and stays as it is. */
export function everything(world: CliWorld, seen: readonly SeenItemDocument[]): readonly SeenItemDocument[] {
  const items = undeclared(seen);
  for (const { key, manifest, problem } of items)
    if (manifest === undefined)
      world.writeNote(`left alone: ${key}: ${problem ?? "no resource of its own can declare it"}\n`);
  return items.filter(({ manifest }) => manifest !== undefined);
}

async function release(
  world: CliWorld,
  client: ApiClient,
  asked: {
    readonly target: Target;
    readonly seen: readonly SeenItemDocument[];
    readonly items: readonly SeenItemDocument[];
  },
  options: ScopeOptions,
): Promise<void> {
  const { items } = asked;
  const problems = releaseProblems(asked);
  if (problems.length > 0)
    throw usageError(`nothing was released:\n${problems.map((problem) => `  ${problem}`).join("\n")}`);
  for (const { key, declaredBy } of items) {
    // All that declare it: what one of them left there, another one would go on writing.
    for (const { kind: word, name } of declaredBy) {
      const kind = await findKind(client, word);
      const path = `${scopePath(world, options)}/${kind.plural}/${encodeURIComponent(name)}`;
      const { headers } = await client.send("GET", path);
      const match = { "if-match": headers["etag"] ?? "*" };
      resourceSchema.parse((await client.send("DELETE", `${path}?orphan=true`, { headers: match })).body);
      world.writeData(`${word}/${name} released: ${key}\n`);
    }
  }
  world.writeNote("they stay outside as they are, and are no longer ours after the next look\n");
}

function releaseProblems({
  target,
  seen,
  items,
}: {
  readonly target: Target;
  readonly seen: readonly SeenItemDocument[];
  readonly items: readonly SeenItemDocument[];
}): readonly string[] {
  const staying = seen.filter((item) => !items.includes(item));
  return items.flatMap(({ key, declaredBy }) => {
    if (declaredBy.length === 0) return [`${key}: nobody declares it`];
    if (declaredBy.some(({ kind }) => kind === target.kind.kind))
      return [
        `${key}: ${targetText(target)} declares it in its own spec: delete that with --orphan to leave all of it`,
      ];
    const more = staying.find((item) =>
      item.declaredBy.some((by) => declaredBy.some(({ kind, name }) => kind === by.kind && name === by.name)),
    );
    return more === undefined ? [] : [`${key}: what declares it declares ${more.key} too: release both`];
  });
}
