import { digestOf } from "../../kernel/hash.ts";
import type { CloudFirewall, CloudServer } from "../../ports/compute.ts";
import type { Lister, Page } from "../../ports/provider.ts";

/** Which firewalls a server's Host names, as labels of the server: nothing else there could say it before the rules are on its cards. */
const prefix = "setpoint-firewall-";

export function firewallLabel(name: string): { readonly key: string; readonly value: string } {
  return { key: `${prefix}${digestOf(["firewall", name]).slice(0, 20)}`, value: name };
}

/** A server's labels, without those that name its firewalls. */
export function labelsAndFirewalls(all: Readonly<Record<string, string>>): {
  readonly labels: Readonly<Record<string, string>>;
  readonly firewalls: readonly string[];
} {
  const entries = Object.entries(all);
  return {
    labels: Object.fromEntries(entries.filter(([key]) => !key.startsWith(prefix))),
    firewalls: entries.filter(([key]) => key.startsWith(prefix)).map(([, value]) => value),
  };
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
