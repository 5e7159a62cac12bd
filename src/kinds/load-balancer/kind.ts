import { defineKind } from "../../kernel/kind.ts";
import { itsName, ownLabels, sameField, specAsSeen } from "../adoption/spec-as-seen.ts";
import { loadBalancerFits } from "./fits.ts";
import { loadBalancerLoop } from "./loop.ts";
import { type LoadBalancerSpec, loadBalancerSchema } from "./schema.ts";

export const loadBalancerKind = defineKind<LoadBalancerSpec>({
  kind: "LoadBalancer",
  plural: "loadbalancers",
  schema: loadBalancerSchema,
  permission: "project.workspace.load_balancer",
  scopes: ["organization", "workspace"],
  modeRequired: false,
  accounts: (spec) => [spec.account],
  links: () => [],
  references: ({ network, targets }) => [
    ...(network === undefined ? [] : [reference("CloudNetwork", network, "/spec/network/name")]),
    ...targets.flatMap((target, index) =>
      "host" in target ? [reference("Host", { ...target, name: target.host }, `/spec/targets/${index}/host`)] : [],
    ),
  ],
  asSeen: (_spec, { item }, fields) =>
    specAsSeen(item, fields, {
      name: itsName("LoadBalancer"),
      labels: ownLabels,
      ...Object.fromEntries(["type", "algorithm", "public", "protect"].map((name) => [name, sameField(name)])),
    }),
  fits: loadBalancerFits,
  loop: loadBalancerLoop,
});

interface Named {
  readonly name: string;
  readonly scope?: "organization" | undefined;
}

function reference(kind: string, { name, scope }: Named, pointer: string) {
  return { kind, name, pointer, ...(scope === undefined ? {} : { scope }) };
}
