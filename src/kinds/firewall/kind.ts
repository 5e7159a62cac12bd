import { defineKind } from "../../kernel/kind.ts";
import { itsName, ownLabels, sameField, specAsSeen } from "../adoption/spec-as-seen.ts";
import { firewallFits } from "./fits.ts";
import { firewallLoop } from "./loop.ts";
import { type FirewallSpec, firewallSchema } from "./schema.ts";

export const firewallKind = defineKind<FirewallSpec>({
  kind: "Firewall",
  plural: "firewalls",
  schema: firewallSchema,
  permission: "project.workspace.firewall",
  scopes: ["organization", "workspace"],
  modeRequired: false,
  accounts: (spec) => [spec.account],
  links: () => [],
  asSeen: (_spec, { item }, fields) =>
    specAsSeen(item, fields, { name: itsName("Firewall"), labels: ownLabels, rules: sameField("rules") }),
  fits: firewallFits,
  loop: firewallLoop,
});
