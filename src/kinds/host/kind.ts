import { defineKind } from "../../kernel/kind.ts";
import { itsName, namedList, ownLabels, sameField, specAsSeen } from "../adoption/spec-as-seen.ts";
import { familyProblems, pooledAt } from "../cloud/pooled.ts";
import { profileProblems, profileReference, withProfileType } from "../compute-profile/naming-one.ts";
import { hostLoop } from "./loop.ts";
import {
  hostCreate,
  hostCreateFirst,
  hostCreateSecond,
  hostDelete,
  hostDeleteFirst,
  hostPower,
  hostPowerFirst,
  hostReplace,
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
  fits: async (spec, around) => {
    const wrong = await familyProblems(spec, around);
    if (wrong.length > 0) return wrong;
    const problems = await profileProblems(spec, around.named, "/spec");
    const name = spec.bootstrap?.ssh.account;
    const account = name === undefined ? undefined : await around.account(name);
    if (name === undefined || account?.provider === "ssh") return problems;
    const what = account === undefined ? "names no account" : `names an account of provider ${account.provider}`;
    const message = `${what}: the private key is the credential of an account of provider ssh (setpoint account add ${name} --provider ssh)`;
    return [...problems, { pointer: "/spec/bootstrap/ssh/account", message }];
  },
  loop: hostLoop,
  pipelines: [
    hostCreateFirst,
    hostCreateSecond,
    hostCreate,
    hostDeleteFirst,
    hostDelete,
    hostPowerFirst,
    hostPower,
    hostReplace,
  ],
});

function reference(kind: string, name: string, scope: "organization" | undefined, pointer: string) {
  return { kind, name, pointer, ...(scope === undefined ? {} : { scope }) };
}
