import { defineLoop, type LookContext, type Subject, type WriteContext } from "../../kernel/loop.ts";
import type { FieldDifference } from "../../ports/records.ts";
import { compare } from "../../kernel/diff.ts";
import type { CloudFirewall, CloudFirewallRule, ComputeReader, ComputeWriter } from "../../ports/compute.ts";
import { scopeSelector } from "../cloud/layers.ts";
import { isOwn, requireCapability, seenOf } from "../cloud/seen-marker.ts";
import { foldRules } from "./policy.ts";
import type { FirewallSpec } from "./schema.ts";

/** A firewall as it is compared: which servers name it is the business of their hosts. */
export interface FirewallItem {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly rules: readonly CloudFirewallRule[];
  readonly selectors: readonly string[];
}

const key = "firewall";

export const firewallLoop = defineLoop<FirewallSpec, FirewallItem, ComputeReader, ComputeWriter>({
  kind: "Firewall",
  everySeconds: 60,
  marks: true,
  listedIn: "firewalls",
  desired: (_ctx, subject) => ({ known: true, items: [{ key, item: wantedItem(subject) }] }),
  observe: async (ctx, subject) => {
    requireCapability(ctx.reader.capabilities, "firewalls", "firewalls");
    if (subject.spec.applies === "scope")
      requireCapability(ctx.reader.capabilities, "firewallSelectors", "firewalls that follow a scope");
    const inventory = await ctx.inventory<CloudFirewall>("firewalls");
    const own = inventory.entries.filter((firewall) => isOwn(ctx, firewall, subject));
    return ctx.from(
      inventory,
      own.map((firewall) => seenOf(key, firewall, itemOf(firewall))),
    );
  },
  read: (ctx, subject, { externalId }) => readFirewall(ctx, subject, externalId),
  same: sameFirewall,
  create: (ctx, _subject, { item }) =>
    ctx.writer.createFirewall({ ...item, mark: ctx.marker }, ctx.signal).then(externalIdOf),
  update: updateFirewall,
  remove: async (ctx, _subject, seen) => {
    // The provider refuses to delete one that is in use; what follows a selector is ours to end.
    for (const selector of seen.item.selectors)
      await ctx.writer.withdrawSelector(seen.externalId, selector, ctx.signal);
    await ctx.writer.deleteFirewall(seen.externalId, ctx.signal);
  },
});

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

/** Rules as one field: their order means nothing, so positions would mislead. */
function sameFirewall(wanted: FirewallItem, seen: FirewallItem): readonly FieldDifference[] {
  const { rules, ...rest } = wanted;
  const { rules: seenRules, ...seenRest } = seen;
  const differences = [...compare(rest, seenRest).differences];
  if (JSON.stringify(rules) !== JSON.stringify(seenRules))
    differences.push({ field: "/rules", wanted: rules.map(ruleText), seen: seenRules.map(ruleText) });
  return differences;
}

function ruleText({ direction, protocol, port, cidrs }: CloudFirewallRule): string {
  return `${direction} ${protocol}${port === undefined ? "" : ` ${port}`} ${direction === "in" ? "from" : "to"} ${cidrs.join(", ")}`;
}

async function updateFirewall(
  ctx: WriteContext<ComputeWriter>,
  _subject: Subject<FirewallSpec>,
  { item }: { readonly item: FirewallItem },
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
