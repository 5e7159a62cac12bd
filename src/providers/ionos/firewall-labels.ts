import { digestOf } from "../../kernel/hash.ts";
import type { CloudFirewall, CloudServer } from "../../ports/compute.ts";
import type { Lister, Page } from "../../ports/provider.ts";

/** Which firewalls a server's Host names, as labels of the server: nothing else there could say it before the rules are on its cards. */
const prefix = "setpoint-firewall-";
/** How many they are: a list of labels does not say whether it is whole, and a name that is missing from it would open a card. */
const countKey = "setpoint-firewalls";

type LabelRecord = Readonly<Record<string, string>>;

export function firewallKey(name: string): string {
  return `${prefix}${digestOf(["firewall", name]).slice(0, 20)}`;
}

/** Labels that name these firewalls as well, and say how many there are. */
export function namingFirewalls(labels: LabelRecord, names: readonly string[]): LabelRecord {
  const all = { ...labels, ...Object.fromEntries(names.map((name) => [firewallKey(name), name])) };
  return { ...all, [countKey]: String(namesIn(all).length) };
}

/** Labels that name this firewall no more. */
export function namingNoMore(labels: LabelRecord, name: string): LabelRecord {
  const key = firewallKey(name);
  return namingFirewalls(Object.fromEntries(Object.entries(labels).filter(([other]) => other !== key)), []);
}

/** A server's labels, without those that name its firewalls. */
export function labelsAndFirewalls(all: LabelRecord): {
  readonly labels: LabelRecord;
  readonly firewalls: readonly string[];
  readonly firewallsCounted: boolean;
} {
  const firewalls = namesIn(all);
  const others = Object.entries(all).filter(([key]) => !key.startsWith(prefix) && key !== countKey);
  return {
    labels: Object.fromEntries(others),
    firewalls,
    firewallsCounted: all[countKey] === String(firewalls.length),
  };
}

function namesIn(labels: LabelRecord): readonly string[] {
  return Object.entries(labels)
    .filter(([key]) => key.startsWith(prefix))
    .map(([, value]) => value);
}

/** Each firewall that a server of Setpoint names, once for each of them. The ids of a page stay those of its servers, by which it is known to be whole. */
export function namedFirewalls(servers: Lister<CloudServer>): Lister<CloudFirewall> {
  return async (token, signal): Promise<Page<CloudFirewall>> => {
    const { entries, ...page } = await servers(token, signal);
    const named = entries.flatMap(({ id, mark, firewalls }) =>
      typeof mark === "object" && "installationId" in mark ? firewalls.map((name) => ({ name, mark, server: id })) : [],
    );
    return {
      ...page,
      entries: named.map(({ name, mark, server }) => ({
        id: `${server}/${name}`,
        name,
        mark,
        labels: {},
        rules: [],
        servers: [server],
        selectors: [],
      })),
    };
  };
}
