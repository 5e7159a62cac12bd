import type { FieldProblem, Surroundings } from "../../kernel/kind.ts";
import type { ComputeCapabilities } from "../../ports/compute.ts";
import { problemsAt } from "../cloud/capabilities.ts";
import { covers, parseCidr } from "../cloud/cidr.ts";
import { placeProblems } from "../cloud/offered.ts";
import { type LoadBalancerSpec, loadBalancerSchema } from "./schema.ts";

/** Whether the account's provider can have such a load balancer, and has such a place. */
export async function loadBalancerFits(spec: LoadBalancerSpec, around: Surroundings): Promise<readonly FieldProblem[]> {
  const has = { has: "loadBalancers", words: "load balancers" } as const;
  const problems = await problemsAt(around, spec.account, has, (can) => balancerProblems(spec, can));
  if (problems.length > 0) return problems;
  return await placeProblems(
    around,
    spec.account,
    spec.location,
    (stands) => loadBalancerSchema.safeParse(stands).data?.location,
  );
}

/** The one type of load balancer where they are rules that forward. */
export const forwarderType = "nlb";

/** What the provider cannot express, field by field. */
export function balancerProblems(spec: LoadBalancerSpec, can: ComputeCapabilities): readonly FieldProblem[] {
  // Who may visit is a promise: where the provider cannot keep it, nothing is made that looks as if it did.
  const origins = spec.services.flatMap(({ allowedOrigins, blockedOrigins }, index) => {
    if (can.balancerOrigins || allowedOrigins.length + blockedOrigins.length === 0) return [];
    const field = allowedOrigins.length > 0 ? "allowedOrigins" : "blockedOrigins";
    const message = "load balancers that let in by origin cannot be had: filter at the hosts";
    return [{ pointer: `/spec/services/${index}/${field}`, message }];
  });
  return can.balancerRules ? [...origins, ...beyondRules(spec, can)] : origins;
}

/** Rules forward connections as they are, from one reserved address to addresses in one network. */
function beyondRules(spec: LoadBalancerSpec, can: ComputeCapabilities): readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  const refuse = (pointer: string, message: string) => problems.push({ pointer: `/spec/${pointer}`, message });
  if (spec.type !== forwarderType) refuse("type", `there is one type there: write ${forwarderType}`);
  if (spec.network === undefined) refuse("network", "is needed: targets are reached in a private network there");
  if (spec.network?.ip !== undefined) refuse("network/ip", "cannot be chosen: the provider gives it. Take it out");
  if (!spec.public) refuse("public", "must be true: a load balancer there listens on a reserved public address");
  if (spec.protect && !can.protection) refuse("protect", "nothing can be protected against deletion there");
  if (Object.keys(spec.labels).length > 0) refuse("labels", "load balancers have no labels there");
  for (const [index, service] of spec.services.entries())
    for (const [field, message] of beyondRule(service)) refuse(`services/${index}/${field}`, message);
  for (const [index, target] of spec.targets.entries()) {
    if ("ip" in target && !isInside(target.ip))
      refuse(`targets/${index}/ip`, `must be in the network: ${target.ip} is a public address`);
    if ("private" in target && !target.private)
      refuse(`targets/${index}/private`, "must be true: targets are reached in the load balancer's network there");
  }
  return problems;
}

function beyondRule(service: LoadBalancerSpec["services"][number]): readonly (readonly [string, string])[] {
  const { protocol, check, targetPort } = service;
  const problems: (readonly [string, string])[] = [];
  if (protocol !== "tcp") problems.push(["protocol", "must be tcp: connections are forwarded as they are there"]);
  if (service.proxyProtocol) problems.push(["proxyProtocol", "must be false: targets cannot be told who asks there"]);
  if (check.protocol === "http")
    problems.push(["check/protocol", "must be tcp: it is asked only who takes connections"]);
  if (check.port !== undefined && check.port !== targetPort)
    problems.push(["check/port", `must be ${targetPort}, the targetPort: another one cannot be asked there`]);
  return problems;
}

const inside = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"].map(blockOf);

function isInside(ip: string): boolean {
  const own = blockOf(`${ip}/32`);
  return own !== undefined && inside.some((block) => block !== undefined && covers(block, own));
}

function blockOf(text: string) {
  const parsed = parseCidr(text);
  return parsed.ok ? parsed.cidr : undefined;
}
