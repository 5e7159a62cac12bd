import {
  type ObservationDocument,
  observationSchema,
  resourceSchema,
  type SeenItemDocument,
} from "../control-api/schemas/resource.ts";
import type { ApiClient } from "./api-client.ts";
import { CliError, usageError } from "./cli-error.ts";
import { exitCodes } from "./exit-codes.ts";
import type { KnownKind } from "./kind-names.ts";

/** A resource with a loop, as commands about its items name it. */
export interface Target {
  readonly path: string;
  readonly kind: KnownKind;
  readonly name: string;
}

export function targetText({ kind, name }: Target): string {
  return `${kind.kind.toLowerCase()}/${name}`;
}

/** What was last seen of it. Half a look is not enough to say what is there. */
export async function seenItems(client: ApiClient, target: Target): Promise<readonly SeenItemDocument[]> {
  const { withoutLoop } = target.kind;
  if (withoutLoop !== undefined)
    throw usageError(`${target.kind.kind} has no loop, so nothing is looked at for it: name what it is part of`);
  const seen = await observationOf(client, target);
  const again = `Look again with: setpoint reconcile ${targetText(target)}`;
  if (seen.subjects.length === 0)
    throw new CliError(`${targetText(target)} was not looked at yet. ${again}`, exitCodes.operationFailed);
  const bad = seen.subjects.find(({ completeness }) => completeness !== "complete");
  if (bad !== undefined)
    throw new CliError(
      `The last look at ${targetText(target)} was ${bad.completeness}: what is there is not known. ${again}`,
      exitCodes.operationFailed,
    );
  return seen.subjects.flatMap(({ items }) => items);
}

export async function observationOf(client: ApiClient, { path }: Target): Promise<ObservationDocument> {
  return observationSchema.parse(await client.get(`${path}/observation`));
}

/** What exists outside, is not ours, and is declared by nobody. */
export function undeclared(items: readonly SeenItemDocument[]): readonly SeenItemDocument[] {
  return items.filter(({ owned, declaredBy }) => !owned && declaredBy.length === 0);
}

/** Every one of the named items, or an error that names all that are not there. Spaces in a key may be written as slashes. */
export function pickItems(
  target: Target,
  items: readonly SeenItemDocument[],
  names: readonly string[],
): readonly SeenItemDocument[] {
  const byKey = new Map(items.flatMap((item) => [[item.key, item] as const, [slashed(item.key), item] as const]));
  const unknown = names.filter((name) => !byKey.has(name));
  if (unknown.length > 0)
    throw new CliError(
      `${targetText(target)} has no item ${unknown.map((name) => `"${name}"`).join(", ")}, as far as was last seen. There is: ${namesOf(items)}`,
      exitCodes.notFound,
    );
  return [...new Set(names.flatMap((name) => byKey.get(name) ?? []))];
}

function namesOf(items: readonly SeenItemDocument[]): string {
  const most = 20;
  const named = items.slice(0, most).map(({ key }) => `"${key}"`);
  return `${named.join(", ") || "nothing"}${items.length > most ? ", …" : ""}`;
}

function slashed(key: string): string {
  return key.replaceAll(" ", "/");
}

export interface FailedLook {
  /** In the words of its conditions. */
  readonly words: string;
  /** Trying again would change nothing: somebody has to. */
  readonly final: boolean;
  /** At which account it is, whose credential may be at fault. */
  readonly account: string;
}

/** How it stands with the looks at a resource. A first look that failed confirmed nothing, so its verdict reads as old. */
export interface LastLook {
  /** What it was like before says nothing about what changed since. */
  readonly isDue: boolean;
  readonly isFirst: boolean;
  readonly failed: FailedLook | undefined;
}

export async function lastLook(client: ApiClient, { path }: Target): Promise<LastLook> {
  const { status } = resourceSchema.parse(await client.get(path));
  const isDue = status.subjects.some(({ conditions }) => conditions.some(({ type }) => type === "Reconciling"));
  const results = status.subjects.flatMap(({ cycles = [] }) => cycles.at(-1)?.result ?? []);
  const ready = status.conditions.find(({ type }) => type === "Ready");
  const hasFailed = ready !== undefined && results.some((result) => result === "failed" || result === "stalled");
  const account = status.subjects[0]?.account ?? "ACCOUNT";
  return {
    isDue,
    isFirst: results.length === 0,
    failed: hasFailed ? { words: ready.message, final: results.includes("stalled"), account } : undefined,
  };
}
