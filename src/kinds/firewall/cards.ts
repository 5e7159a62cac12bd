import { z } from "zod";
import { compare } from "../../kernel/diff.ts";
import { RetryableError } from "../../kernel/errors.ts";
import type {
  Desired,
  DesiredContext,
  Inspection,
  LookContext,
  MeasureContext,
  Observation,
  Seen,
  Subject,
} from "../../kernel/loop.ts";
import type { CloudCard, CloudFirewallRule, CloudServer, ComputeReader } from "../../ports/compute.ts";
import type { Json } from "../../ports/json.ts";
import type { FieldDifference } from "../../ports/records.ts";
import { isInScope } from "../cloud/layers.ts";
import { foldRules, ruleDifferences } from "./policy.ts";
import type { FirewallSpec } from "./schema.ts";

/**
 * Where a provider has rules on network cards only, a firewall is the same rules on many cards: one item each, so that each is
 * healed, held and explained by itself. Which cards these are is measured from the labels of our own servers.
 */
export interface CardItem {
  /** Whose name its rules carry. */
  readonly firewall: string;
  readonly rules: readonly CloudFirewallRule[];
  /** The card lets through what its rules say, and nothing else. */
  readonly guarded: boolean;
  /** The server it is in, and what somebody else lets through there: seen, and nobody's to compare. */
  readonly server?: string;
  readonly others?: readonly string[];
}

const prefix = "card ";
const measuredShape = z.object({ cards: z.array(z.string()), bare: z.boolean() });

/** Cards that are to have the rules; nothing where the provider has firewalls that are things. */
export async function measureCards(ctx: MeasureContext<ComputeReader>, subject: Subject<FirewallSpec>): Promise<Json> {
  if (!ctx.reader.capabilities.firewallsOnCards) return {};
  const { completeness, proof, entries } = await ctx.inventory<CloudServer>("servers");
  if (completeness !== "complete")
    throw new RetryableError("PROVIDER_UNAVAILABLE", `the list of servers is ${completeness}: ${proof}`, {
      ambiguous: false,
    });
  const { installationId } = ctx.marker;
  const cards = entries
    .filter(
      ({ mark }) => typeof mark === "object" && "installationId" in mark && mark.installationId === installationId,
    )
    .filter((server) => isFor(server, subject))
    .flatMap((server) => (server.cards ?? []).filter((card) => card.public).map(({ id }) => id));
  const bare = entries.every((server) => !carriesRules(server, subject));
  return { cards, bare };
}

/**
 * Labels that are missing let nobody go: somebody took them away, or the list of them ended early, and a card without rules is
 * open. A host never leaves its scope, so only one that surely names its firewalls, and not this one, has left it.
 */
function isFor(server: CloudServer, subject: Subject<FirewallSpec>): boolean {
  const byName = subject.spec.applies === "named";
  const isMeant = isInScope(server.labels, subject.scope) && (!byName || server.firewalls.includes(subject.name));
  const hasLeft = byName && server.firewallsCounted === true && !server.firewalls.includes(subject.name);
  return isMeant || (!hasLeft && carriesRules(server, subject));
}

function carriesRules({ cards = [] }: CloudServer, { uid }: Pick<Subject<unknown>, "uid">): boolean {
  return cards.some((card) => rulesOf(card, uid).length > 0);
}

function rulesOf({ rules }: CloudCard, uid: string) {
  return rules.filter(({ mark }) => typeof mark === "object" && "resourceUid" in mark && mark.resourceUid === uid);
}

/** Undefined where the provider has firewalls that are things. Without a measurement, the cards are those of the last good set. */
export function desiredCards(ctx: DesiredContext, subject: Subject<FirewallSpec>): Desired<CardItem> | undefined {
  const measured = ctx.measured.known ? measuredShape.safeParse(ctx.measured.value).data : undefined;
  if (ctx.measured.known && measured === undefined) return undefined;
  const keys = measured?.cards.map((card) => `${prefix}${card}`) ?? ctx.lastKeys().filter(isCardKey);
  if (measured === undefined && keys.length === 0) return undefined;
  const item: CardItem = { firewall: subject.name, rules: foldRules(singly(subject.spec.rules)), guarded: true };
  const items = keys.map((key) => ({ key, item }));
  // Without a host there is no card, and where no card has its rules there is nothing that could go by mistake.
  return { known: true, items, zero: measured?.bare === true && items.length === 0 };
}

function isCardKey(key: string): boolean {
  return key.startsWith(prefix);
}

export function cardOf(key: string): string {
  return key.slice(prefix.length);
}

/** A rule on a card is for one block. */
function singly(rules: readonly CloudFirewallRule[]): readonly CloudFirewallRule[] {
  return rules.flatMap((rule) => rule.cidrs.map((cidr) => ({ ...rule, cidrs: [cidr] })));
}

export async function observeCards(
  ctx: LookContext<ComputeReader>,
  { uid }: Subject<FirewallSpec>,
): Promise<Observation<CardItem>> {
  const servers = await ctx.inventory<CloudServer>("servers");
  const items = servers.entries.flatMap((server) =>
    (server.cards ?? []).flatMap((card) => seenCard(server, card, uid) ?? []),
  );
  return ctx.from(servers, items);
}

/** A card without a rule of this firewall is not one of its own. */
function seenCard(server: CloudServer, card: CloudCard, uid: string): Seen<CardItem> | undefined {
  const own = rulesOf(card, uid);
  const [first] = own;
  if (first === undefined) return undefined;
  const item: CardItem = {
    firewall: [...new Set(own.map(({ firewall }) => firewall))].sort().join(", "),
    rules: foldRules(own.map(({ firewall: _firewall, mark: _mark, ...rule }) => rule)),
    guarded: card.guarded,
    server: server.name,
    others: card.others,
  };
  return { key: `${prefix}${card.id}`, externalId: card.id, item, marker: first.mark };
}

export async function readCard(
  ctx: LookContext<ComputeReader>,
  { uid }: Subject<FirewallSpec>,
  card: string,
): Promise<Seen<CardItem> | "absent"> {
  const server = await ctx.reader.server(card.split("/")[0] ?? "", ctx.signal);
  if (server === "absent") return "absent";
  const found = (server.cards ?? []).find(({ id }) => id === card);
  return (found === undefined ? undefined : seenCard(server, found, uid)) ?? "absent";
}

export function sameCard(wanted: CardItem, seen: CardItem): readonly FieldDifference[] {
  const facts = ({ firewall, guarded }: CardItem) => ({ firewall, guarded });
  return [...compare(facts(wanted), facts(seen)).differences, ...ruleDifferences(wanted.rules, seen.rules)];
}

/** What somebody else lets through beside: it is theirs and stays, and whoever declared the firewall should know. */
export function inspectCards(seen: readonly CardItem[]): Inspection {
  const open = seen.flatMap(({ server = "", others = [] }) => others.map((rule) => `${server}: ${rule}`)).sort();
  const report = { cards: seen.length, otherRules: open.slice(0, 50) };
  if (open.length === 0) return { conditions: [], report };
  const message = `${open.length} rules that nobody declared let more through, and are left alone: ${open.slice(0, 5).join("; ")}. Remove them at the provider, or declare them`;
  return { conditions: [{ type: "OtherRules", status: "True", reason: "NotDeclared", message }], report };
}
