import { defineKind } from "../../kernel/kind.ts";
import { itsName, namedList, ownLabels, sameField, specAsSeen } from "../adoption/spec-as-seen.ts";
import { hostLoop } from "./loop.ts";
import { hostCreate, hostDelete, hostDeleteFirst, hostPower, hostPowerFirst } from "./pipelines.ts";
import { type HostSpec, hostSchema } from "./schema.ts";

export const hostKind = defineKind<HostSpec>({
  kind: "Host",
  plural: "hosts",
  schema: hostSchema,
  permission: "project.workspace.host",
  scopes: ["organization", "workspace"],
  modeRequired: false,
  accounts: (spec) => [spec.account],
  links: ({ group }) => (group === undefined ? [] : [{ kind: "ScalingGroup", name: group, pointer: "/spec/group" }]),
  references: (spec) => [
    ...spec.networks.map(({ name, scope }, index) =>
      reference("CloudNetwork", name, scope, `/spec/networks/${index}/name`),
    ),
    ...spec.firewalls.map(({ name, scope }, index) =>
      reference("Firewall", name, scope, `/spec/firewalls/${index}/name`),
    ),
  ],
  asSeen: (spec, { item }, fields) =>
    specAsSeen(item, fields, {
      name: itsName("Host"),
      labels: ownLabels,
      power: (seen) => (seen === "on" || seen === "off" ? { spec: { power: seen } } : "it is between on and off"),
      firewalls: namedList("firewalls", spec["firewalls"]),
      ...Object.fromEntries(
        ["volumes", "protect", "reverseDns", "type", "location"].map((name) => [name, sameField(name)]),
      ),
    }),
  publishes: { ipv4: "ipv4", ipv6: "ipv6" },
  loop: hostLoop,
  pipelines: [hostCreate, hostDeleteFirst, hostDelete, hostPowerFirst, hostPower],
});

function reference(kind: string, name: string, scope: "organization" | undefined, pointer: string) {
  return { kind, name, pointer, ...(scope === undefined ? {} : { scope }) };
}
