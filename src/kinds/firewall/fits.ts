import type { FieldProblem, Surroundings } from "../../kernel/kind.ts";
import type { ComputeCapabilities } from "../../ports/compute.ts";
import { parseCidr } from "../cloud/cidr.ts";
import { problemsAt } from "../cloud/capabilities.ts";
import type { FirewallSpec } from "./schema.ts";

/** Whether the account's provider can have such a firewall. */
export function firewallFits(spec: FirewallSpec, around: Surroundings): Promise<readonly FieldProblem[]> {
  return problemsAt(around, spec.account, { has: "firewalls", words: "firewalls" }, (can) =>
    firewallProblems(spec, can),
  );
}

/** What the provider cannot express, field by field. */
export function firewallProblems(spec: FirewallSpec, can: ComputeCapabilities): readonly FieldProblem[] {
  if (can.firewallsOnCards) return beyondCards(spec);
  if (spec.applies === "scope" && !can.firewallSelectors)
    return [{ pointer: "/spec/applies", message: "firewalls that follow a scope cannot be had: use named" }];
  return [];
}

const longestDescription = 100;

/** Rules on cards let TCP, UDP and ICMP through over IPv4, and have a name and nothing else to be known by. */
function beyondCards({ rules, labels }: FirewallSpec): readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  const refuse = (pointer: string, message: string) => problems.push({ pointer, message });
  if (rules.length === 0)
    refuse("/spec/rules", "at least one rule is needed: rules are on network cards here, and one without any is open");
  if (Object.keys(labels).length > 0) refuse("/spec/labels", "rules on network cards have no labels");
  for (const [index, { protocol, cidrs, description }] of rules.entries()) {
    const at = `/spec/rules/${index}`;
    if (protocol === "esp" || protocol === "gre")
      refuse(`${at}/protocol`, `${protocol} cannot be let through: only tcp, udp and icmp can`);
    const six = cidrs.find((cidr) => familyOf(cidr) === "ipv6");
    if (six !== undefined) refuse(`${at}/cidrs`, `${six} is IPv6: rules on network cards are for IPv4 here`);
    if ((description?.length ?? 0) > longestDescription)
      refuse(`${at}/description`, `must be at most ${longestDescription} characters: it is a part of the rule's name`);
  }
  return problems;
}

function familyOf(text: string): string | undefined {
  const parsed = parseCidr(text);
  return parsed.ok ? parsed.cidr.family : undefined;
}
