import { z } from "zod";
import { RetryableError } from "../../kernel/errors.ts";
import type { CardRule, CloudCard, CloudFirewallRule, ComputeWriter, FirewallProtocol } from "../../ports/compute.ts";
import type { HttpAnswer } from "../../ports/http.ts";
import type { IonosClient } from "./client.ts";
import { isSameMark, nameAndMark, nameFor, partsOf } from "./names.ts";
import { awaitRequest } from "./requests.ts";

const ruleShape = z.object({
  id: z.string(),
  properties: z.object({
    name: z.string().nullish(),
    protocol: z.string(),
    sourceMac: z.string().nullish(),
    sourceIp: z.string().nullish(),
    targetIp: z.string().nullish(),
    icmpCode: z.int().nullish(),
    icmpType: z.int().nullish(),
    portRangeStart: z.int().nullish(),
    portRangeEnd: z.int().nullish(),
    type: z.string().nullish(),
  }),
});
/** Rules that are not shown are not rules that are not there: a card without its list of them is not one that we know. */
export const cardShape = z.object({
  id: z.string(),
  properties: z.object({
    name: z.string().nullish(),
    ips: z.array(z.string()).nullish(),
    lan: z.int(),
    firewallActive: z.boolean().nullish(),
    firewallType: z.string().nullish(),
  }),
  entities: z.object({ firewallrules: z.object({ items: z.array(ruleShape) }) }),
});
export type RawCard = z.output<typeof cardShape>;
type RawRule = z.output<typeof ruleShape>;

const everybody = "0.0.0.0/0";
const protocols: Readonly<Record<string, FirewallProtocol>> = { TCP: "tcp", UDP: "udp", ICMP: "icmp" };

const inner = /^(10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|fe80:|fd)/;

export function isPublicAddress(ip: string): boolean {
  return !inner.test(ip);
}

/** What a card lets through. Which of its rules are whose is in their names, with the firewall's and what it is for. */
export function cardOf(server: string, raw: RawCard): CloudCard {
  const ours = rulesOf(raw).flatMap((rule) => markedRule(rule) ?? []);
  const others = rulesOf(raw).filter((rule) => markedRule(rule) === undefined);
  return {
    id: `${server}/${raw.id}`,
    public: (raw.properties.ips ?? []).some(isPublicAddress),
    mark: nameAndMark(raw.properties.name ?? "").mark,
    guarded: isGuarded(raw, rulesOf(raw)),
    rules: ours,
    others: others.map((rule) => `${trafficOf(rule.properties)} ("${rule.properties.name ?? rule.id}")`),
  };
}

function rulesOf({ entities }: RawCard): readonly RawRule[] {
  return entities.firewallrules.items;
}

/** What goes out is filtered only where some rule speaks of it. */
function filterOf(rules: readonly Pick<RawRule, "properties">[]): "INGRESS" | "BIDIRECTIONAL" {
  return rules.some(({ properties }) => properties.type === "EGRESS") ? "BIDIRECTIONAL" : "INGRESS";
}

function isGuarded({ properties }: RawCard, rules: readonly RawRule[]): boolean {
  return properties.firewallActive === true && (properties.firewallType ?? "INGRESS") === filterOf(rules);
}

function markedRule({ properties }: RawRule): CardRule | undefined {
  const { name: full, mark } = nameAndMark(properties.name ?? "");
  const protocol = protocols[properties.protocol];
  if (mark === "none" || protocol === undefined) return undefined;
  const [firewall = "", ...words] = full.split(": ");
  // What we never ask for makes it another rule, and that is shown.
  const odd = oddities(properties);
  const description = [...(words.length === 0 ? [] : [words.join(": ")]), ...(odd === "" ? [] : [`(${odd})`])].join(
    " ",
  );
  const port = portOf(properties);
  return {
    firewall,
    mark,
    direction: properties.type === "EGRESS" ? "out" : "in",
    protocol,
    ...(port === undefined ? {} : { port }),
    cidrs: [blockOf(properties)],
    ...(description === "" ? {} : { description }),
  };
}

function portOf({ portRangeStart: from, portRangeEnd: to }: RawRule["properties"]): string | undefined {
  if (from === undefined || from === null) return undefined;
  return to === undefined || to === null || to === from ? String(from) : `${from}-${to}`;
}

function blockOf({ type, sourceIp, targetIp }: RawRule["properties"]): string {
  const block = (type === "EGRESS" ? targetIp : sourceIp) ?? everybody;
  return block.includes("/") ? block : `${block}/32`;
}

function oddities({ type, sourceMac, sourceIp, targetIp, icmpCode, icmpType }: RawRule["properties"]): string {
  const other = type === "EGRESS" ? { sourceIp } : { targetIp };
  return Object.entries({ sourceMac, icmpCode, icmpType, ...other })
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) => `${name} ${value}`)
    .join(", ");
}

/** What a rule lets through, in one text for what is the same. */
function trafficOf(properties: RawRule["properties"]): string {
  const way = properties.type === "EGRESS" ? "out" : "in";
  const words = [way, properties.protocol.toLowerCase(), portOf(properties), blockOf(properties), oddities(properties)];
  return words.filter((word) => word !== undefined && word !== "").join(" ");
}

/** Everybody is nobody in particular here, and a single address has no length. */
function rawRule(name: string, rule: CloudFirewallRule): RawRule["properties"][] {
  const [from, to = from] = rule.port?.split("-").map(Number) ?? [];
  return rule.cidrs.map((cidr) => {
    const block = cidr === everybody ? undefined : cidr.replace(/\/32$/, "");
    return {
      name,
      protocol: rule.protocol.toUpperCase(),
      type: rule.direction === "in" ? "INGRESS" : "EGRESS",
      ...(from === undefined ? {} : { portRangeStart: from, portRangeEnd: to }),
      ...(block === undefined ? {} : rule.direction === "in" ? { sourceIp: block } : { targetIp: block }),
    };
  });
}

type FirewallOnCard = Parameters<NonNullable<ComputeWriter["setCardRules"]>>[1];

function wantedRules({ name, mark, rules }: FirewallOnCard): readonly RawRule["properties"][] {
  return rules.flatMap((rule) =>
    rawRule(nameFor(rule.description === undefined ? name : `${name}: ${rule.description}`, mark), rule),
  );
}

export function cardPath(card: string): readonly string[] {
  const [server = "", own = ""] = card.split("/");
  const [datacenter, id] = partsOf(server);
  return ["datacenters", datacenter, "servers", id, "nics", own];
}

/**
 * New rules come first and the filter itself last, so that nothing that is wanted is cut off on the way; a rule that is only called
 * otherwise is renamed. Changes of one data center are carried out in their order: they are sent together and then waited for.
 */
async function setCardRules(
  client: IonosClient,
  card: string,
  firewall: FirewallOnCard,
  signal: AbortSignal,
): Promise<void> {
  const path = cardPath(card);
  const look = { path, query: { depth: "2" }, what: `the read of network card ${card}` };
  const raw = await client.find(cardShape, look, signal);
  if (raw === "absent") {
    if (firewall.rules.length === 0) return;
    throw new RetryableError("DEPENDENCY_NOT_READY", `Network card ${card} is not there (any more)`, {
      afterMs: 15_000,
      ambiguous: false,
    });
  }
  const isOurs = ({ properties }: RawRule) => isSameMark(nameAndMark(properties.name ?? "").mark, firewall.mark);
  const left = new Map(
    rulesOf(raw)
      .filter(isOurs)
      .map((rule) => [rule.id, rule]),
  );
  const sent: { readonly what: string; readonly answer: HttpAnswer | undefined }[] = [];
  const send = async (call: Omit<Parameters<IonosClient["change"]>[0], "what">, what: string) =>
    void sent.push({ what, answer: await client.change({ ...call, what }, signal, ["309"]) });
  const after: Pick<RawRule, "properties">[] = rulesOf(raw).filter((rule) => !isOurs(rule));
  for (const properties of wantedRules(firewall)) {
    const same = [...left.values()].find((rule) => trafficOf(rule.properties) === trafficOf(properties));
    after.push({ properties });
    if (same === undefined)
      await send(
        { method: "POST", path: [...path, "firewallrules"], body: { properties } },
        `a rule of firewall ${firewall.name} on network card ${card}`,
      );
    else {
      left.delete(same.id);
      if (same.properties.name === properties.name) continue;
      const body = { name: properties.name };
      await send({ method: "PATCH", path: [...path, "firewallrules", same.id], body }, `the name of rule ${same.id}`);
    }
  }
  const [active, type] = [after.length > 0, filterOf(after)];
  const filtered = raw.properties.firewallActive === true;
  const differs = filtered !== active || (active && (raw.properties.firewallType ?? "INGRESS") !== type);
  const setFilter = () =>
    send(
      { method: "PATCH", path, body: { firewallActive: active, firewallType: type } },
      `the filter of network card ${card}`,
    );
  // A card whose last rules go is opened before: as long as they are there, whoever comes after a crash sees that it is ours.
  if (differs && !active) await setFilter();
  for (const id of left.keys())
    await send({ method: "DELETE", path: [...path, "firewallrules", id] }, `the removal of rule ${id}`);
  if (differs && active) await setFilter();
  for (const { what, answer } of sent) if (answer !== undefined) await awaitRequest(client, what, answer, signal);
}

export function cardWriter(client: IonosClient): Pick<Required<ComputeWriter>, "setCardRules"> {
  return { setCardRules: (card, firewall, signal) => setCardRules(client, card, firewall, signal) };
}
