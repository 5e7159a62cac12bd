import { z } from "zod";
import { canonical } from "../../kernel/hash.ts";
import type { BalancerAlgorithm, ForwardingRule, ForwardingTarget } from "../../ports/load-balancer.ts";

const targetShape = z.object({
  ip: z.string(),
  port: z.int(),
  weight: z.int().nullish(),
  healthCheck: z
    .object({
      check: z.boolean().nullish(),
      checkInterval: z.number().nullish(),
      maintenance: z.boolean().nullish(),
    })
    .nullish(),
});

export const ruleShape = z.object({
  id: z.string(),
  properties: z.object({
    algorithm: z.string(),
    protocol: z.string(),
    listenerIp: z.string(),
    listenerPort: z.int(),
    healthCheck: z.object({ connectTimeout: z.number().nullish(), retries: z.int().nullish() }).nullish(),
    targets: z.array(targetShape).nullish(),
  }),
});
export type RawRule = z.output<typeof ruleShape>;

/** What the provider takes where nothing is said, in milliseconds and tries. */
const usual = { connectTimeout: 5_000, retries: 3, checkInterval: 2_000 };

const algorithms: Readonly<Record<BalancerAlgorithm, string>> = {
  "round-robin": "ROUND_ROBIN",
  "least-connections": "LEAST_CONNECTION",
};

function algorithmOf(raw: string): string {
  return Object.entries(algorithms).find(([, value]) => value === raw)?.[0] ?? raw;
}

/** A rule in the words of the port. What nobody here asks for makes it another rule, and that is shown. */
export function ruleOf({ properties }: RawRule, addresses: readonly string[]): ForwardingRule {
  const { listenerIp, healthCheck } = properties;
  const targets = properties.targets ?? [];
  const twice = targets.length > new Set(targets.map(({ ip }) => ip)).size;
  const odd = [
    ...(addresses.includes(listenerIp) ? [] : [`listens on ${listenerIp}`]),
    ...(twice ? ["a target is there twice"] : []),
  ].join(", ");
  return {
    listenPort: properties.listenerPort,
    protocol: properties.protocol.toLowerCase(),
    algorithm: algorithmOf(properties.algorithm),
    timeoutSeconds: (healthCheck?.connectTimeout ?? usual.connectTimeout) / 1_000,
    retries: healthCheck?.retries ?? usual.retries,
    targets: Object.fromEntries(targets.map((target) => [target.ip, targetOf(target)])),
    ...(odd === "" ? {} : { odd }),
  };
}

function targetOf({ port, weight, healthCheck }: z.output<typeof targetShape>): ForwardingTarget {
  const odd = [
    ...((weight ?? 1) === 1 ? [] : [`weight ${weight}`]),
    ...(healthCheck?.check === true ? [] : ["it is not asked whether it answers"]),
    ...(healthCheck?.maintenance === true ? ["in maintenance"] : []),
  ].join(", ");
  const everySeconds = (healthCheck?.checkInterval ?? usual.checkInterval) / 1_000;
  return { port, everySeconds, ...(odd === "" ? {} : { odd }) };
}

/** A rule as it is written, whole each time. */
export function rawRule(rule: ForwardingRule, listenerIp: string) {
  return {
    name: `${rule.protocol} ${rule.listenPort}`,
    algorithm: algorithms[rule.algorithm as BalancerAlgorithm] ?? rule.algorithm,
    protocol: rule.protocol.toUpperCase(),
    listenerIp,
    listenerPort: rule.listenPort,
    healthCheck: { connectTimeout: rule.timeoutSeconds * 1_000, retries: rule.retries },
    targets: Object.entries(rule.targets).map(([ip, { port, everySeconds }]) => ({
      ip,
      port,
      weight: 1,
      healthCheck: { check: true, checkInterval: everySeconds * 1_000, maintenance: false },
    })),
  };
}

/** Whether a rule that is there is the one that is wanted, on this address. */
export function isSameRule(raw: RawRule, wanted: ForwardingRule, listenerIp: string): boolean {
  return raw.properties.listenerIp === listenerIp && canonical(ruleOf(raw, [listenerIp])) === canonical(wanted);
}
