import type { Command } from "commander";
import { type Manifest, manifestSchema, type ResourceDocument } from "../../control-api/schemas/resource.ts";
import type { ApiClient } from "../api-client.ts";
import { findKind, knownKinds } from "../kind-names.ts";
import { listAll } from "../list-all.ts";
import { writeManifests } from "../output.ts";
import { placeOf, scopePath, type ScopeOptions, withScope } from "../scope-path.ts";
import { formatWords, type OutputOptions } from "../records.ts";
import type { CliWorld } from "../world.ts";

/** export: what is declared, as manifests. */
export function registerExport(program: Command, world: CliWorld, client: ApiClient): void {
  withScope(program.command("export"))
    .description("print what is declared as manifests that can be applied again")
    .argument("[kind]", "only this kind; otherwise every kind of the scope")
    .option("-l, --labels <selector>", "only resources with these labels")
    .option("-o, --output <format>", formatWords, "yaml")
    .action(async (word: string | undefined, options: ExportOptions) => {
      const kinds = word === undefined ? await kindsHere(world, client, options) : [await findKind(client, word)];
      const manifests: Manifest[] = [];
      for (const { plural } of kinds) {
        const found = await listAll(client, `${scopePath(world, options)}/${plural}`, options.labels);
        manifests.push(...found.filter(({ metadata }) => metadata.deletion === undefined).map(asManifest));
      }
      if (manifests.length === 0) return world.writeNote("Nothing is declared here.\n");
      writeManifests(world, options.output, manifests);
    });
}

interface ExportOptions extends ScopeOptions, OutputOptions {
  readonly labels?: string;
}

async function kindsHere(world: CliWorld, client: ApiClient, options: ScopeOptions) {
  const { project, workspace } = placeOf(world, options);
  const type = workspace !== undefined ? "workspace" : project !== undefined ? "project" : "organization";
  return (await knownKinds(client)).filter((kind) => kind.scopes.includes(type));
}

function asManifest({ apiVersion, kind, metadata, spec }: ResourceDocument): Manifest {
  const { name, labels, mode, protect } = metadata;
  return manifestSchema.parse({
    apiVersion,
    kind,
    metadata: {
      name,
      ...(Object.keys(labels).length === 0 ? {} : { labels }),
      ...(mode === undefined ? {} : { mode }),
      ...(protect ? { protect } : {}),
    },
    spec,
  });
}
