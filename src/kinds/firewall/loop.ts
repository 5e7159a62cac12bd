import { defineLoop, type LookContext, type Subject, type WriteContext } from "../../kernel/loop.ts";
import type { FieldDifference } from "../../ports/records.ts";
import { compare } from "../../kernel/diff.ts";
import { TerminalError } from "../../kernel/errors.ts";
import type { CloudFirewall, CloudFirewallRule, ComputeReader, ComputeWriter } from "../../ports/compute.ts";
import { scopeSelector } from "../cloud/layers.ts";
import { isOwn, requireCapability, requireNoProblems, seenOf } from "../cloud/seen-marker.ts";
import {
  type CardItem,
  cardOf,
  desiredCards,
  inspectCards,
  measureCards,
  observeCards,
  readCard,
  sameCard,
} from "./cards.ts";
import { firewallProblems } from "./fits.ts";
import { foldRules, ruleDifferences } from "./policy.ts";
import type { FirewallSpec } from "./schema.ts";

/** A firewall as it is compared: which servers name it is the business of their hosts. */
export interface FirewallItem {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly rules: readonly CloudFirewallRule[];
  readonly selectors: readonly string[];
}

const key = "firewall";

export const firewallLoop = defineLoop<FirewallSpec, FirewallItem | CardItem, ComputeReader, ComputeWriter>({
  kind: "Firewall",
  everySeconds: 60,
  // A host that was made says so.
  listedAfterEvents: true,
  marks: true,
  listedIn: "firewalls",
  measure: measureCards,
  desired: (ctx, subject) => desiredCards(ctx, subject) ?? { known: true, items: [{ key, item: wantedItem(subject) }] },
  observe: async (ctx, subject) => {
    requireAble(ctx, subject);
    if (ctx.reader.capabilities.firewallsOnCards) return await observeCards(ctx, subject);
    const inventory = await ctx.inventory<CloudFirewall>("firewalls");
    const own = inventory.entries.filter((firewall) => isOwn(ctx, firewall, subject));
    return ctx.from(
      inventory,
      own.map((firewall) => seenOf(key, firewall, itemOf(firewall))),
    );
  },
  read: (ctx, subject, { key: named, externalId }) =>
    ctx.reader.capabilities.firewallsOnCards
      ? readCard(ctx, subject, externalId ?? cardOf(named))
      : readFirewall(ctx, subject, externalId),
  same: (wanted, seen) => {
    if ("guarded" in wanted && "guarded" in seen) return sameCard(wanted, seen);
    if ("guarded" in wanted || "guarded" in seen) return compare(wanted, seen).differences;
    return sameFirewall(wanted, seen);
  },
  inspect: async ({ reader }, _subject, seen) =>
    reader.capabilities.firewallsOnCards
      ? inspectCards(seen.flatMap(({ item }) => ("guarded" in item ? [item] : [])))
      : undefined,
  create: async (ctx, _subject, wanted) => {
    const { item } = wanted;
    if ("guarded" in item) return await writeCard(ctx, cardOf(wanted.key), item);
    return externalIdOf(await ctx.writer.createFirewall({ ...item, mark: ctx.marker }, ctx.signal));
  },
  update: async (ctx, _subject, { item }, seen) => {
    if ("guarded" in item) await writeCard(ctx, seen.externalId, item);
    else if (!("guarded" in seen.item)) await updateFirewall(ctx, item, { ...seen, item: seen.item });
  },
  remove: async (ctx, _subject, seen) => {
    if ("guarded" in seen.item) {
      await writeCard(ctx, seen.externalId, { ...seen.item, rules: [] });
      return;
    }
    // The provider refuses to delete one that is in use; what follows a selector is ours to end.
    for (const selector of seen.item.selectors)
      await ctx.writer.withdrawSelector(seen.externalId, selector, ctx.signal);
    await ctx.writer.deleteFirewall(seen.externalId, ctx.signal);
  },
});

/** What cannot be kept is refused before anything is made that looks as if it were. */
function requireAble({ reader: { capabilities } }: LookContext<ComputeReader>, { spec }: Subject<FirewallSpec>): void {
  requireCapability(capabilities, "firewalls", "firewalls");
  requireNoProblems(firewallProblems(spec, capabilities));
}

async function writeCard(
  { writer, marker: mark, signal }: WriteContext<ComputeWriter>,
  card: string,
  { firewall: name, rules }: CardItem,
): Promise<{ readonly externalId: string }> {
  if (writer.setCardRules === undefined)
    throw new TerminalError("PROVIDER_REFUSED", "The provider of this account has no rules on network cards");
  await writer.setCardRules(card, { name, mark, rules }, signal);
  return { externalId: card };
}

function externalIdOf({ id }: { readonly id: string }): { readonly externalId: string } {
  return { externalId: id };
}

function wantedItem(subject: Subject<FirewallSpec>): FirewallItem {
  const { rules, labels, applies } = subject.spec;
  return {
    name: subject.name,
    labels,
    rules: foldRules(rules),
    selectors: applies === "scope" ? [scopeSelector(subject.scope)] : [],
  };
}

function itemOf({ name, labels, rules, selectors }: CloudFirewall): FirewallItem {
  return { name, labels, rules: foldRules(rules), selectors: [...selectors].sort() };
}

async function readFirewall(
  ctx: LookContext<ComputeReader>,
  subject: Subject<FirewallSpec>,
  externalId: string | undefined,
) {
  const found =
    externalId === undefined
      ? await ctx.reader.firewallByName(subject.name, ctx.signal)
      : await ctx.reader.firewall(externalId, ctx.signal);
  return found === "absent" ? "absent" : seenOf(key, found, itemOf(found));
}

function sameFirewall(wanted: FirewallItem, seen: FirewallItem): readonly FieldDifference[] {
  const { rules, ...rest } = wanted;
  const { rules: seenRules, ...seenRest } = seen;
  return [...compare(rest, seenRest).differences, ...ruleDifferences(rules, seenRules)];
}

async function updateFirewall(
  ctx: WriteContext<ComputeWriter>,
  item: FirewallItem,
  seen: { readonly externalId: string; readonly item: FirewallItem; readonly marker?: unknown },
): Promise<void> {
  const { writer, marker, signal } = ctx;
  const { externalId: id } = seen;
  const fields = new Set(sameFirewall(item, seen.item).map(({ field }) => field.split("/")[1]));
  // What is open that should not be comes first.
  if (fields.has("rules")) await writer.setFirewallRules(id, item.rules, signal);
  for (const selector of item.selectors.filter((one) => !seen.item.selectors.includes(one)))
    await writer.applySelector(id, selector, signal);
  for (const selector of seen.item.selectors.filter((one) => !item.selectors.includes(one)))
    await writer.withdrawSelector(id, selector, signal);
  if (fields.has("name") || fields.has("labels") || seen.marker === "none")
    await writer.describeFirewall(id, { name: item.name, labels: item.labels, mark: marker }, signal);
}
