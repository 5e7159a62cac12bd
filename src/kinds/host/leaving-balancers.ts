import { z } from "zod";
import { pipelinesOf, type Step, type StepContext, type StepOutput } from "../../kernel/pipeline.ts";
import type { CloudServer, ComputeEngine, ComputeReader } from "../../ports/compute.ts";
import type { CloudForwarder } from "../../ports/load-balancer.ts";
import { forwarderKey } from "../load-balancer/forwarder.ts";
import type { LoadBalancerSpec } from "../load-balancer/schema.ts";
import { serverThing } from "./item.ts";
import type { HostSpec } from "./schema.ts";

const { step, waitFor } = pipelinesOf<HostSpec, ComputeReader, ComputeEngine>();

type Context = StepContext<HostSpec, ComputeReader>;

/**
 * Where load balancers follow labels, a drained server is out of them at once. Where they are rules that forward to addresses, their
 * loops take it out: they are told, and waited for, so that the time to drain begins when nobody new is sent there.
 */
export function balancerSteps(drained: StepOutput<{ readonly out: boolean }>): readonly Step[] {
  const when = (story: Pick<Context, "output">) => story.output(drained)?.out === true;
  return [
    step({
      name: "tell-balancers",
      when,
      input: z.strictObject({}),
      output: z.object({}),
      given: () => ({}),
      run: async (context) => {
        if (context.reader.capabilities.balancerRules) await context.wake("LoadBalancer");
        return {};
      },
    }),
    waitFor({
      name: "out",
      when,
      everySeconds: 5,
      atMostSeconds: 600,
      safeToSkip: true,
      until: async (context) => {
        const names = await forwardingTo(context);
        return names.length === 0 || `${names.join(", ")} still sends visitors to it`;
      },
    }),
  ];
}

/** Load balancers around the host whose loops are to take its server out, and have not. */
async function forwardingTo(context: Context): Promise<readonly string[]> {
  const { reader, signal, subject } = context;
  const id = context.made(serverThing(subject));
  if (!reader.capabilities.balancerRules || reader.forwarder === undefined || id === undefined) return [];
  const server = await reader.server(id, signal);
  if (server === "absent") return [];
  const names: string[] = [];
  for (const { leaving, observes, owned, subject: balancer } of await context.around<LoadBalancerSpec>(
    "LoadBalancer",
  )) {
    const own = owned.find(({ key }) => key === forwarderKey)?.externalId;
    if (leaving || observes || own === undefined) continue;
    const found = await reader.forwarder(own, signal);
    const addresses = found === "absent" ? [] : targetsOf(found, server);
    if (addresses.some((ip) => !isDeclared(balancer.spec, subject.name, ip)))
      names.push(`LoadBalancer/${balancer.name}`);
  }
  return names;
}

function targetsOf({ forwardsIn, rules }: CloudForwarder, { networks }: CloudServer): readonly string[] {
  const isTarget = (ip: string) => rules.some(({ targets }) => targets[ip] !== undefined);
  return networks.filter(({ network, ip }) => network === forwardsIn && isTarget(ip)).map(({ ip }) => ip);
}

/** Whoever names the host or its address keeps it, whatever it is labelled with. */
function isDeclared({ targets }: LoadBalancerSpec, host: string, ip: string): boolean {
  return targets.some((target) => ("host" in target && target.host === host) || ("ip" in target && target.ip === ip));
}
