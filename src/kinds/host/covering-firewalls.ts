import { z } from "zod";
import type { Subject } from "../../kernel/loop.ts";
import { type Neighbour, pipelinesOf, type Step, type StepContext, type StepOutput } from "../../kernel/pipeline.ts";
import type { CloudCard, ComputeEngine, ComputeReader } from "../../ports/compute.ts";
import type { FirewallSpec } from "../firewall/schema.ts";
import { serverThing } from "./item.ts";
import type { MadeServer } from "./made-server.ts";
import type { HostSpec } from "./schema.ts";

const { step, effect, waitFor } = pipelinesOf<HostSpec, ComputeReader, ComputeEngine>();

type Context = StepContext<HostSpec, ComputeReader>;
type Firewall = Neighbour<FirewallSpec>;

/** The firewalls that are for a host: those of its scopes, and those it names. One that only looks would never let anybody in. */
export async function coveringFirewalls(context: Context): Promise<readonly Firewall[]> {
  const around = await context.around<FirewallSpec>("Firewall");
  return around.filter((firewall) => !firewall.leaving && !firewall.observes && isFor(firewall, context.subject));
}

function isFor({ subject: firewall }: Firewall, { spec, scope, organizationId }: Subject<HostSpec>): boolean {
  if (firewall.spec.applies === "scope") return true;
  const scopeOf = (named: HostSpec["firewalls"][number]) =>
    named.scope === "organization" ? `organization/${organizationId}` : scope;
  return spec.firewalls.some((named) => named.name === firewall.name && scopeOf(named) === firewall.scope);
}

/**
 * A server whose firewalls are rules on its cards was made closed. Their loops are told, and waited for: from then on each keeps its
 * own rules, and opens the card when it goes. What went before it came to that opens nothing, so this does.
 */
export function firewallSteps(server: StepOutput<MadeServer>): readonly Step[] {
  return [announced, guardedBy(server), openAgain(server)];
}

const announced = step({
  name: "announce",
  input: z.strictObject({}),
  output: z.object({}),
  given: () => ({}),
  run: async (context) => {
    if (context.reader.capabilities.firewallsOnCards) await context.wake("Firewall");
    return {};
  },
});

const guardedBy = (server: StepOutput<MadeServer>) =>
  waitFor({
    name: "firewalls",
    everySeconds: 5,
    atMostSeconds: 900,
    safeToSkip: true,
    until: async (context) => {
      const cards = await publicCards(context, context.output(server)?.id);
      if (cards.length === 0) return true;
      const missing = (await coveringFirewalls(context)).filter(({ subject }) => cards.some(lacks(subject.uid)));
      if (missing.length === 0) return true;
      const names = missing.map(({ subject }) => `Firewall/${subject.name}`).join(", ");
      return `${names} has not put its rules on the server yet, which lets nothing in before that`;
    },
  });

function lacks(uid: string): (card: CloudCard) => boolean {
  return ({ guarded, rules }) =>
    !guarded ||
    !rules.some(({ mark }) => typeof mark === "object" && "resourceUid" in mark && mark.resourceUid === uid);
}

const openAgain = (server: StepOutput<MadeServer>) =>
  effect({
    name: "open",
    change: "update",
    input: z.object({ id: z.string().optional() }),
    output: z.unknown(),
    // Nobody is asked ahead for what is hardly ever done.
    given: (story) => ({ id: story.output(server)?.id }),
    key: ({ subject }) => `cards of ${serverThing(subject)}`,
    look: async (context, { id }) =>
      (await closedForNobody(context, id)).length > 0 ? "absent" : { externalId: id ?? "none", output: undefined },
    call: async (context, { id }) => {
      const { writer, marker: mark, signal, subject } = context;
      // Without a rule of anybody, as it is by now, a card lets everything through again.
      for (const card of await closedForNobody(context, id))
        await writer.setCardRules?.(card.id, { name: subject.name, mark, rules: [] }, signal);
      return { externalId: id ?? "none", output: undefined };
    },
  });

/** Cards that were made closed, for firewalls that are no more. What somebody closed who made the card stays closed. */
async function closedForNobody(context: Context, id: string | undefined): Promise<readonly CloudCard[]> {
  const { resourceUid } = context.marker;
  const isOurs = ({ mark }: CloudCard) =>
    typeof mark === "object" && "resourceUid" in mark && mark.resourceUid === resourceUid;
  const closed = (await publicCards(context, id)).filter(
    (card) => isOurs(card) && card.guarded && card.rules.length === 0 && card.others.length === 0,
  );
  return closed.length > 0 && (await coveringFirewalls(context)).length === 0 ? closed : [];
}

/** None where firewalls are things of their own. */
async function publicCards({ reader, signal }: Context, id: string | undefined): Promise<readonly CloudCard[]> {
  if (id === undefined || !reader.capabilities.firewallsOnCards) return [];
  const server = await reader.server(id, signal);
  return server === "absent" ? [] : (server.cards ?? []).filter((card) => card.public);
}
