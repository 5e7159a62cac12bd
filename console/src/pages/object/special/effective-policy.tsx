import type { ResourceDocument } from "../../../api/types.ts";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { loopsQuery } from "../../../api/queries.ts";
import { Icon } from "../../../components/icons.tsx";
import { ObjectLink, pathOf } from "../../../components/object-link.tsx";
import { isNamed, isWithin, specOf } from "./around.ts";
import type { FirewallRule, FirewallSpec, HostSpec } from "./cloud-specs.ts";

/** The firewalls that are layers of a host's policy: those it names, and those of the scopes around it at its account. */
export function layersOf(host: ResourceDocument, firewalls: readonly ResourceDocument[]): readonly ResourceDocument[] {
  const { account, firewalls: named = [] } = specOf<HostSpec>(host);
  return firewalls.filter((firewall) => {
    const spec = specOf<FirewallSpec>(firewall);
    if (spec.account !== account) return false;
    if (spec.applies === "scope") return isWithin(host.metadata, firewall.metadata);
    return named.some((one) => isNamed(firewall, host, one));
  });
}

interface LayeredRule {
  readonly rule: FirewallRule;
  readonly from: readonly ResourceDocument[];
}

const meaning = ({ direction = "in", protocol, port = "", cidrs }: FirewallRule) =>
  JSON.stringify([direction, protocol, port, cidrs.toSorted()]);

/** What all layers let through together: each rule once, with every firewall that has it. */
function combined(layers: readonly ResourceDocument[]): readonly LayeredRule[] {
  const rules = new Map<string, LayeredRule>();
  for (const layer of layers)
    for (const rule of specOf<FirewallSpec>(layer).rules) {
      const known = rules.get(meaning(rule));
      rules.set(meaning(rule), { rule: known?.rule ?? rule, from: [...(known?.from ?? []), layer] });
    }
  return [...rules.values()];
}

const everybody = (cidrs: readonly string[]) => cidrs.includes("0.0.0.0/0") || cidrs.includes("::/0");

export function EffectivePolicy({
  organization,
  layers,
}: {
  organization: string;
  layers: readonly ResourceDocument[];
}) {
  const rules = combined(layers);
  const incoming = rules.filter(({ rule }) => (rule.direction ?? "in") === "in");
  const outgoing = rules.filter(({ rule }) => rule.direction === "out");
  if (layers.length === 0)
    return (
      <p className="flex gap-2 text-sm text-warn">
        <Icon name="question" className="mt-0.5" /> No firewall is for it: everything may come in. Give the organization
        one with <code>applies: scope</code>.
      </p>
    );
  // What a single layer lets through needs no word about which of them says so.
  const by = layers.length > 1;
  return (
    <div className="space-y-3">
      <Rules
        organization={organization}
        title="What may come in"
        rules={incoming}
        by={by}
        nothing="Nothing may come in."
      />
      <Rules
        organization={organization}
        title="What may go out"
        rules={outgoing}
        by={by}
        nothing="Everything may go out: no layer has a rule for it."
      />
    </div>
  );
}

const atOnce = 12;

function Rules({
  organization,
  title,
  rules,
  by,
  nothing,
}: {
  organization: string;
  title: string;
  rules: readonly LayeredRule[];
  /** Whether each says which firewall it is of. */
  by: boolean;
  nothing: string;
}) {
  const [all, setAll] = useState(false);
  return (
    <section className="min-w-0">
      <h3 className="mb-1 text-xs font-semibold text-soft">{title}</h3>
      {rules.length === 0 ? (
        <p className="text-sm">{nothing}</p>
      ) : (
        <ul className="divide-y divide-line rounded-md border border-line">
          {rules.slice(0, all ? undefined : atOnce).map((rule) => (
            <RuleRow key={meaning(rule.rule)} organization={organization} layered={rule} by={by} />
          ))}
        </ul>
      )}
      {rules.length > atOnce ? (
        <button
          type="button"
          aria-expanded={all}
          onClick={() => setAll(!all)}
          className="mt-1 cursor-pointer text-sm text-accent hover:underline"
        >
          {all ? "show fewer" : `show all ${rules.length} rules`}
        </button>
      ) : undefined}
    </section>
  );
}

function RuleRow({
  organization,
  layered: { rule, from },
  by,
}: {
  organization: string;
  layered: LayeredRule;
  by: boolean;
}) {
  const loops = useQuery(loopsQuery).data;
  return (
    <li className="flex flex-wrap items-baseline gap-x-3 px-2.5 py-1.5 text-sm">
      <b className="min-w-20 font-medium">
        {rule.protocol} {rule.port ?? ""}
      </b>
      <span className="min-w-0 flex-1 basis-52 break-words">
        {rule.direction === "out" ? "to" : "from"}{" "}
        {everybody(rule.cidrs) ? <span className="text-warn">everybody</span> : rule.cidrs.join(", ")}
        {rule.description === undefined ? undefined : (
          <span className="block text-xs break-words text-soft">{rule.description}</span>
        )}
      </span>
      {by ? (
        <span className="text-xs break-words text-soft">
          by{" "}
          {from.map((layer, index) => (
            <span key={layer.metadata.uid}>
              {index === 0 ? "" : ", "}
              <ObjectLink organization={organization} path={pathOf(layer, loops)}>
                {layer.metadata.name}
              </ObjectLink>
            </span>
          ))}
        </span>
      ) : undefined}
    </li>
  );
}
