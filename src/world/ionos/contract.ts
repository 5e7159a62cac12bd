import type { Rate } from "../rate-bucket.ts";
import { Table, type WorldTime } from "../table.ts";
import { type Element, type IonosRequest, textOf } from "./rows.ts";

export interface ContractLimits {
  readonly coresPerContract: number;
  readonly coresPerServer: number;
  readonly ramPerContract: number;
  readonly ramPerServer: number;
  readonly nlbLimitTotal: number;
  readonly reservableIps: number;
}

/** An account of IONOS: a contract with all that was ordered under it. */
export interface Contract {
  readonly name: string;
  readonly number: number;
  readonly elements: Table<Element>;
  readonly requests: Table<IonosRequest>;
  limits: ContractLimits;
  requestsPerMinute: number;
  /** How many of them may come at once. */
  requestsAtOnce: number;
  rate: Rate;
  /** Requests that are not over, by the time they end. */
  running: readonly string[];
}

export const usualLimits: ContractLimits = Object.freeze({
  coresPerContract: 100_000,
  coresPerServer: 62,
  ramPerContract: 400_000_000,
  ramPerServer: 245_760,
  nlbLimitTotal: 100,
  reservableIps: 5_000,
});

const usualRequestsAtOnce = 50;
const usualRequestsPerMinute = 600;

export function newContract(name: string, time: WorldTime): Contract {
  return {
    name,
    number: numberOf(name),
    elements: new Table<Element>(time, {
      inside: ({ parent, type }) => [`${parent ?? "top"} ${type}`],
      datacenter: ({ datacenter }) => (datacenter === undefined ? [] : [datacenter]),
      attachedTo: ({ attachedTo }) => (attachedTo === undefined ? [] : [attachedTo]),
      lan: ({ type, datacenter, properties }) =>
        type === "nic" ? [`${datacenter ?? ""}:${textOf(properties, "lan")}`] : [],
      type: ({ type }) => [type],
    }),
    requests: new Table<IonosRequest>(time),
    limits: usualLimits,
    requestsPerMinute: usualRequestsPerMinute,
    requestsAtOnce: usualRequestsAtOnce,
    rate: { left: usualRequestsAtOnce, atMs: time.nowMs },
    running: [],
  };
}

/** A contract's number follows from its name, so that two worlds agree on it. */
function numberOf(name: string): number {
  let mixed = 0x811c9dc5;
  for (const letter of name) mixed = Math.imul(mixed ^ letter.charCodeAt(0), 0x01000193) >>> 0;
  return 31_000_000 + (mixed % 1_000_000);
}
