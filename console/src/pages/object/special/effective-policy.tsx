import type { ResourceDocument } from "../../../api/types.ts";
import { useQuery } from "@tanstack/react-query";
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
  const loops = useQuery(loopsQuery).data;
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
  const table = (title: string, shown: readonly LayeredRule[], nothing: string) => (
    <div className="min-w-0">
      <h3 className="mb-1 text-xs font-semibold text-soft">{title}</h3>
      {shown.length === 0 ? (
        <p className="text-sm">{nothing}</p>
      ) : (
        <ul className="divide-y divide-line rounded-md border border-line">
          {shown.map(({ rule, from }) => (
            <li key={meaning(rule)} className="px-2.5 py-1.5 text-sm">
              <p className="flex flex-wrap items-baseline gap-x-2">
                <b className="font-medium">
                  {rule.protocol} {rule.port ?? ""}
                </b>
                <span className="min-w-0 break-all">
                  {rule.direction === "out" ? "to" : "from"}{" "}
                  {everybody(rule.cidrs) ? <span className="text-warn">everybody</span> : rule.cidrs.join(", ")}
                </span>
              </p>
              <p className="text-xs break-words text-soft">
                {rule.description === undefined ? "" : `${rule.description} · `}
                by{" "}
                {from.map((layer, index) => (
                  <span key={layer.metadata.uid}>
                    {index === 0 ? "" : ", "}
                    <ObjectLink organization={organization} path={pathOf(layer, loops)}>
                      {layer.metadata.name}
                    </ObjectLink>
                  </span>
                ))}
              </p>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
  return (
    <div className="grid gap-3 md:grid-cols-2">
      {table("What may come in", incoming, "Nothing may come in.")}
      {table("What may go out", outgoing, "Everything may go out: no layer has a rule for it.")}
    </div>
  );
}
