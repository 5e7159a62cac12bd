import { TerminalError } from "../../kernel/errors.ts";
import type { FieldProblem } from "../../kernel/kind.ts";
import type { Completeness } from "../../ports/provider.ts";
import type { Inventory, LookContext, Seen, Subject } from "../../kernel/loop.ts";
import type { CloudThing, ComputeCapabilities } from "../../ports/compute.ts";

/** What every thing of a cloud says of itself beside its fields. */
export function seenOf<Item>(key: string, thing: CloudThing, item: Item): Seen<Item> {
  const { id: externalId, mark: marker, lockedBy } = thing;
  return { key, externalId, item, marker, ...(lockedBy === undefined ? {} : { lockedBy }) };
}

/** By its recorded id, whatever was done to it since; by its mark; or by its name, which nobody else can have then. */
export function isOwn(
  { ownIds }: Pick<LookContext<unknown>, "ownIds">,
  thing: CloudThing,
  subject: Pick<Subject<unknown>, "uid" | "name">,
): boolean {
  return ownIds.has(thing.id) || thing.name === subject.name || isMarkedFor(thing, subject);
}

/** It carries the mark of this resource. */
export function isMarkedFor({ mark }: Pick<CloudThing, "mark">, { uid }: Pick<Subject<unknown>, "uid">): boolean {
  return typeof mark === "object" && "resourceUid" in mark && mark.resourceUid === uid;
}

/** A thing that only has the name is meant where none has the id or the mark: not everywhere is a name given once. */
export function ownAmong<Thing extends CloudThing>(
  ctx: Pick<LookContext<unknown>, "ownIds">,
  things: readonly Thing[],
  subject: Pick<Subject<unknown>, "uid" | "name">,
): readonly Thing[] {
  const own = things.filter((thing) => isOwn(ctx, thing, subject));
  const sure = own.filter((thing) => isOwn(ctx, { ...thing, name: "" }, subject));
  return sure.length > 0 ? sure : own;
}

/** What rests on several lists is as complete as the least of them. */
export function leastComplete(inventories: readonly Pick<Inventory<unknown>, "completeness" | "proof">[]): {
  readonly completeness: Completeness;
  readonly proof: string;
} {
  const order: readonly Completeness[] = ["failed", "partial", "complete"];
  const [least] = [...inventories].sort(
    (left, right) => order.indexOf(left.completeness) - order.indexOf(right.completeness),
  );
  return { completeness: least?.completeness ?? "failed", proof: least?.proof ?? "nothing was listed" };
}

/** Refuses, before anything is written, what the provider of the account cannot do. */
export function requireCapability(
  capabilities: ComputeCapabilities,
  needed: {
    readonly [K in keyof ComputeCapabilities]-?: ComputeCapabilities[K] extends boolean ? K : never;
  }[keyof ComputeCapabilities],
  what: string,
): void {
  if (capabilities[needed]) return;
  throw new TerminalError(
    "PROVIDER_REFUSED",
    `The provider of this account cannot do that: ${what}. Use an account of another provider`,
  );
}

/** Refuses, before anything is written, what the provider of the account cannot express. */
export function requireNoProblems(problems: readonly FieldProblem[]): void {
  if (problems.length === 0) return;
  const words = problems.map(({ pointer, message }) => `${pointer}: ${message}`).join("; ");
  throw new TerminalError("PROVIDER_REFUSED", `The provider of this account cannot do that: ${words}`);
}
