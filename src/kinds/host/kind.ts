import { defineKind } from "../../kernel/kind.ts";
import { itsName, namedList, ownLabels, sameField, specAsSeen } from "../adoption/spec-as-seen.ts";
import { pooledAt } from "../cloud/pooled.ts";
import { profileReference, withProfileType } from "../compute-profile/naming-one.ts";
import { hostFits } from "./fits.ts";
import { hostLoop } from "./loop.ts";
import {
  hostCreate,
  hostCreateFirst,
  hostCreateSecond,
  hostCreateThird,
  hostDelete,
  hostDeleteFirst,
  hostDeleteSecond,
  hostPower,
  hostPowerFirst,
  hostReplace,
  hostReplaceFirst,
} from "./pipelines.ts";
import { type HostSpec, hostSchema } from "./schema.ts";

export const hostKind = defineKind<HostSpec>({
  kind: "Host",
  plural: "hosts",
  schema: hostSchema,
  permission: "project.workspace.host",
  scopes: ["organization", "workspace"],
  modeRequired: false,
  accounts: (spec) => [spec.account],
  pooled: pooledAt,
  links: ({ group }) => (group === undefined ? [] : [{ kind: "ScalingGroup", name: group, pointer: "/spec/group" }]),
  references: (spec) => [
    ...profileReference(spec, "/spec"),
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
        ["volumes", "protect", "reverseDns", "type", "location", "image"].map((name) => [name, sameField(name)]),
      ),
      ...(spec["profile"] === undefined ? {} : { type: () => "its type is that of its profile: name another one" }),
    }),
  completed: withProfileType,
  publishes: { ipv4: "ipv4", ipv6: "ipv6" },
  fits: hostFits,
  loop: hostLoop,
  pipelines: [
    hostCreateFirst,
    hostCreateSecond,
    hostCreateThird,
    hostCreate,
    hostDeleteFirst,
    hostDeleteSecond,
    hostDelete,
    hostPowerFirst,
    hostPower,
    hostReplaceFirst,
    hostReplace,
  ],
});

function reference(kind: string, name: string, scope: "organization" | undefined, pointer: string) {
  return { kind, name, pointer, ...(scope === undefined ? {} : { scope }) };
}
