import { z } from "zod";
import type { CloudFirewall, CloudFirewallRule, ComputeWriter } from "../../ports/compute.ts";
import { act } from "./actions.ts";
import type { HetznerClient } from "./client.ts";
import { labelsFor, labelsShape, markOf, otherLabels } from "./labels.ts";
import { type Family, requireOurs } from "./listing.ts";

const ruleShape = z.object({
  direction: z.enum(["in", "out"]),
  protocol: z.enum(["tcp", "udp", "icmp", "esp", "gre"]),
  port: z.string().nullish(),
  source_ips: z.array(z.string()).nullish(),
  destination_ips: z.array(z.string()).nullish(),
  description: z.string().nullish(),
});

const firewallShape = z.object({
  id: z.int(),
  name: z.string(),
  labels: labelsShape.nullish(),
  rules: z.array(ruleShape),
  applied_to: z.array(
    z.object({
      type: z.string(),
      server: z.object({ id: z.int() }).nullish(),
      label_selector: z.object({ selector: z.string() }).nullish(),
    }),
  ),
});

export const firewalls: Family<z.output<typeof firewallShape>, CloudFirewall> = {
  collection: "firewalls",
  one: "firewall",
  key: "firewall",
  shape: firewallShape,
  sorted: true,
  entry: (raw) => ({
    id: String(raw.id),
    name: raw.name,
    labels: otherLabels(raw.labels ?? {}),
    mark: markOf(raw.labels ?? {}),
    rules: raw.rules.map(ruleOf),
    servers: raw.applied_to.flatMap(({ server }) => (server ? [String(server.id)] : [])),
    selectors: raw.applied_to.flatMap(({ label_selector: by }) => (by ? [by.selector] : [])),
  }),
};

function ruleOf(raw: z.output<typeof ruleShape>): CloudFirewallRule {
  const cidrs = (raw.direction === "in" ? raw.source_ips : raw.destination_ips) ?? [];
  return {
    direction: raw.direction,
    protocol: raw.protocol,
    ...(raw.port ? { port: raw.port } : {}),
    cidrs,
    ...(raw.description ? { description: raw.description } : {}),
  };
}

function rawRule({ direction, protocol, port, cidrs, description }: CloudFirewallRule) {
  return {
    direction,
    protocol,
    ...(port === undefined ? {} : { port }),
    ...(direction === "in" ? { source_ips: cidrs } : { destination_ips: cidrs }),
    ...(description === undefined ? {} : { description }),
  };
}

function serverTarget(id: string) {
  return { type: "server", server: { id: Number(id) } };
}

function selectorTarget(selector: string) {
  return { type: "label_selector", label_selector: { selector } };
}

const madeShape = z.object({ firewall: z.object({ id: z.int() }) });

type FirewallWriter = Pick<
  ComputeWriter,
  | "createFirewall"
  | "describeFirewall"
  | "setFirewallRules"
  | "deleteFirewall"
  | "applySelector"
  | "withdrawSelector"
  | "attachFirewall"
  | "detachFirewall"
>;

export function firewallWriter(client: HetznerClient): FirewallWriter {
  const action = (id: string, name: string, body: object, what: string) => ({
    method: "POST" as const,
    path: ["firewalls", id, "actions", name],
    body,
    what: `${what} ${id}`,
  });
  const apply = (id: string, target: object, signal: AbortSignal) =>
    act(client, action(id, "apply_to_resources", { apply_to: [target] }, "the application of firewall"), signal, [
      "firewall_already_applied",
    ]);
  const withdraw = (id: string, target: object, signal: AbortSignal) =>
    act(client, action(id, "remove_from_resources", { remove_from: [target] }, "the withdrawal of firewall"), signal, [
      "firewall_already_removed",
      "firewall_resource_not_found",
    ]);
  return {
    createFirewall: async ({ name, rules, selectors, ...facts }, signal) => {
      const body = {
        name,
        labels: labelsFor(facts),
        rules: rules.map(rawRule),
        apply_to: selectors.map(selectorTarget),
      };
      const what = `the creation of firewall ${name}`;
      const { firewall } = await client.write(madeShape, { method: "POST", path: ["firewalls"], body, what }, signal);
      return { id: String(firewall.id) };
    },
    describeFirewall: async (id, { name, ...facts }, signal) => {
      const what = `the change of name and labels of firewall ${id}`;
      await client.change(
        { method: "PUT", path: ["firewalls", id], body: { name, labels: labelsFor(facts) }, what },
        signal,
      );
    },
    setFirewallRules: (id, rules, signal) =>
      act(client, action(id, "set_rules", { rules: rules.map(rawRule) }, "the rules of firewall"), signal),
    applySelector: (id, selector, signal) => apply(id, selectorTarget(selector), signal),
    withdrawSelector: (id, selector, signal) => withdraw(id, selectorTarget(selector), signal),
    attachFirewall: async (server, name, signal) =>
      apply((await requireOurs(client, firewalls, name, signal)).id, serverTarget(server), signal),
    detachFirewall: async (server, name, signal) =>
      withdraw((await requireOurs(client, firewalls, name, signal)).id, serverTarget(server), signal),
    deleteFirewall: async (id, signal) => {
      const what = `the deletion of firewall ${id}`;
      await client.change({ method: "DELETE", path: ["firewalls", id], what }, signal, ["not_found"]);
    },
  };
}
