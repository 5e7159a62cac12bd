import type { Command } from "commander";
import { type ResourceDocument, resourceSchema } from "../../control-api/schemas/resource.ts";
import type { ApiClient } from "../api-client.ts";
import { CliError } from "../cli-error.ts";
import { exitCodes } from "../exit-codes.ts";
import { findKind, type KnownKind, splitTarget } from "../kind-names.ts";
import { scopePath, type ScopeOptions, withScope } from "../scope-path.ts";
import type { CliWorld } from "../world.ts";

/** delete, reconcile: what is declared no more, and what is looked at again. */
export function registerDeclare(program: Command, world: CliWorld, client: ApiClient): void {
  withScope(program.command("delete"))
    .description("delete a resource and what it made outside")
    .argument("<kind/name>")
    .option("--orphan", "forget what it made outside instead of deleting it")
    .option("--confirm <count>", "approve the deletion of exactly this many outside things in the same step")
    .option("-y, --yes", "do not ask; it passes no guard")
    .action((target: string, options: DeleteOptions) => remove(world, client, target, options));

  withScope(program.command("reconcile"))
    .description("look again now, and try again what stopped")
    .argument("<kind/name>")
    .action(async (target: string, options: ScopeOptions) => {
      const { path } = await targetPath(world, client, target, options);
      await client.send("POST", `${path}:reconcile`);
      world.writeNote(`${target} is due now\n`);
    });
}

interface DeleteOptions extends ScopeOptions {
  readonly orphan?: boolean;
  readonly confirm?: string;
  readonly yes?: boolean;
}

async function remove(world: CliWorld, client: ApiClient, target: string, options: DeleteOptions): Promise<void> {
  const { path, kind, name } = await targetPath(world, client, target, options);
  const query = new URLSearchParams();
  if (options.orphan === true) query.set("orphan", "true");
  if (options.confirm !== undefined) query.set("confirm", options.confirm);
  const text = query.size === 0 ? "" : `?${query.toString()}`;
  // What is deleted is what is there now: whoever changes it in between is not overrun.
  const { headers, body } = await client.send("GET", path);
  const match = { "if-match": headers["etag"] ?? "*" };
  if (options.yes !== true && options.confirm === undefined)
    await confirmDelete(world, target, ownedBy(resourceSchema.parse(body)), options.orphan === true);
  const resource = resourceSchema.parse((await client.send("DELETE", path + text, { headers: match })).body);
  world.writeData(`${kind.kind}/${name} deleting\n`);
  world.writeNote(deletionNote(kind, resource, options));
}

/** Where nobody can be asked the command itself is the answer; what is outside is behind the guards either way. */
async function confirmDelete(world: CliWorld, target: string, owned: number, orphan: boolean): Promise<void> {
  if (!world.interactive) return;
  const what = orphan ? `and leave ${owned} things outside as they are` : `and ${owned} things outside`;
  const answer = await world.ask(`Delete ${target} ${what}? [y/N] `);
  if (!/^y(es)?$/i.test(answer.trim())) throw new CliError("cancelled; nothing was deleted", exitCodes.cancelled);
}

function ownedBy({ status }: ResourceDocument): number {
  return status.subjects.reduce((sum, subject) => sum + (subject.owned ?? 0), 0);
}

function deletionNote(
  kind: KnownKind,
  resource: ResourceDocument,
  options: { readonly orphan?: boolean; readonly confirm?: string },
): string {
  const owned = ownedBy(resource);
  if (kind.withoutLoop !== undefined)
    return options.orphan === true
      ? "what it declared outside is left there and forgotten\n"
      : "what it declared outside is removed by the loop it belongs to, within the guards\n";
  if (options.orphan === true) return `${owned} things outside are left there and forgotten\n`;
  const held =
    options.confirm === undefined && owned > 0
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
