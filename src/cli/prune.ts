import type { ResourceDocument } from "../control-api/schemas/resource.ts";
import type { ApiClient } from "./api-client.ts";
import { type Entry, rank } from "./apply-set.ts";
import { CliError, usageError } from "./cli-error.ts";
import { exitCodes } from "./exit-codes.ts";
import type { KnownKind } from "./kind-names.ts";
import { listAll } from "./list-all.ts";
import type { CliWorld } from "./world.ts";

export interface PruneOptions {
  readonly prune?: boolean;
  readonly labels?: string;
  readonly confirm?: string;
}

/** A resource that is declared, matches the selector, and is in none of the files. */
export interface Leftover {
  readonly resource: ResourceDocument;
  readonly path: string;
  readonly kind: KnownKind;
}

/** Without a selector everything that somebody else declared would be a leftover: that is refused. */
export function requireSelector({ prune, labels, confirm }: PruneOptions): string | undefined {
  if (prune !== true) {
    if (labels !== undefined || confirm !== undefined) throw usageError("--labels and --confirm go with --prune");
    return undefined;
  }
  if (labels === undefined || labels.trim() === "")
    throw usageError("--prune needs a selector that says which resources belong to these files: -l team=web");
  return labels.trim();
}

/** Only kinds and scopes that the files speak of; what is on its way out already is left alone. */
export async function leftovers(
  client: ApiClient,
  kinds: readonly KnownKind[],
  entries: readonly Entry[],
  labels: string,
): Promise<readonly Leftover[]> {
  const named = new Set(entries.map(({ path }) => path));
  const lists = new Map(entries.map(({ base, kind }) => [base, kind]));
  const found: Leftover[] = [];
  for (const [base, kind] of lists) {
    for (const resource of await listAll(client, base, labels)) {
      const path = `${base}/${encodeURIComponent(resource.metadata.name)}`;
      if (!named.has(path) && resource.metadata.deletion === undefined) found.push({ resource, path, kind });
    }
  }
  // What is part of something goes before it: the other way round is refused.
  return found.toSorted((left, right) => rank(kinds, right.kind) - rank(kinds, left.kind));
}

export function leftoverText({ kind, resource }: Leftover): string {
  return `delete ${kind.kind}/${resource.metadata.name}, which is in none of the files\n`;
}

/** The number is the proof that somebody has read the list: --yes does not stand for it. */
export async function confirmPrune(world: CliWorld, found: readonly Leftover[], options: PruneOptions): Promise<void> {
  const count = String(found.length);
  if (found.length === 0) {
    if (options.confirm === undefined || options.confirm === "0") return;
    throw mismatch(0, options.confirm);
  }
  world.writeNote(found.map(leftoverText).join(""));
  if (options.confirm !== undefined) {
    if (options.confirm === count) return;
    throw mismatch(found.length, options.confirm);
  }
  if (!world.interactive)
    throw new CliError(
      `${count} resources are in none of the files and would be deleted. Nothing was applied; repeat with --confirm ${count} if that is meant`,
      exitCodes.refusedByGuard,
    );
  const typed = (await world.ask(`Type ${count} to delete these ${count} resources: `)).trim();
  if (typed !== count) throw new CliError("cancelled; nothing was applied", exitCodes.cancelled);
}

function mismatch(count: number, confirmed: string): CliError {
  return new CliError(
    `${count} resources would be deleted, and ${confirmed} were confirmed. Nothing was applied; look again, then confirm ${count}`,
    exitCodes.refusedByGuard,
  );
}

/** Deletes just what was listed: whoever changed it since then is not overrun. */
export async function prune(world: CliWorld, client: ApiClient, found: readonly Leftover[]): Promise<void> {
  let deleted = 0;
  for (const { kind, resource, path } of found) {
    const { name, revision } = resource.metadata;
    await client.send("DELETE", path, { headers: { "if-match": `"${revision}"` } }).catch((thrown: unknown) => {
      if (!(thrown instanceof CliError)) throw thrown;
      throw new CliError(
        `${kind.kind}/${name}: ${thrown.message}\n${deleted} of ${found.length} were deleted before this one`,
        thrown.exitCode,
        { cause: thrown },
      );
    });
    deleted++;
    world.writeData(`${kind.kind}/${name} deleting\n`);
  }
}
