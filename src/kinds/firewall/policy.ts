import { canonical } from "../../kernel/hash.ts";
import type { CloudFirewallRule } from "../../ports/compute.ts";
import type { FieldDifference } from "../../ports/records.ts";
import { foldCidr } from "../cloud/cidr.ts";

/**
 * How layers combine into the policy of a host. Every rule lets something through, and none takes anything away, so the policy is
 * what the rules of all layers let through together, whatever their order: comparing two policies is comparing two sets of rules.
 * This is also what the provider does with several firewalls on one server.
 */
function combined(layers: readonly (readonly CloudFirewallRule[])[]): readonly CloudFirewallRule[] {
  const rules = layers.flat().map(foldRule);
  const unique = new Map(rules.map((rule) => [meaningOf(rule), rule]));
  return [...unique.entries()].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, rule]) => rule);
}

/** One layer in the form in which equal policies are equal. */
export function foldRules(rules: readonly CloudFirewallRule[]): readonly CloudFirewallRule[] {
  return combined([rules]);
}

function foldRule({ port, cidrs, ...rule }: CloudFirewallRule): CloudFirewallRule {
  return {
    ...rule,
    ...(port === undefined ? {} : { port: foldPort(port) }),
    cidrs: [...new Set(cidrs.map(foldCidr))].sort(),
  };
}

function foldPort(port: string): string {
  const [from = "", to = from] = port.split("-");
  return from === to ? from : port;
}

function meaningOf({ direction, protocol, port, cidrs, description }: CloudFirewallRule): string {
  return canonical([direction, protocol, port, cidrs, description]);
}

/** Rules as one field: their order means nothing, so positions would mislead. */
export function ruleDifferences(
  wanted: readonly CloudFirewallRule[],
  seen: readonly CloudFirewallRule[],
): readonly FieldDifference[] {
  if (JSON.stringify(wanted) === JSON.stringify(seen)) return [];
  return [{ field: "/rules", wanted: wanted.map(ruleText), seen: seen.map(ruleText) }];
}

function ruleText({ direction, protocol, port, cidrs }: CloudFirewallRule): string {
  return `${direction} ${protocol}${port === undefined ? "" : ` ${port}`} ${direction === "in" ? "from" : "to"} ${cidrs.join(", ")}`;
}
