import type { JsonObject } from "../../ports/json.ts";

export type ElementType =
  | "datacenter"
  | "server"
  | "volume"
  | "nic"
  | "lan"
  | "firewall-rule"
  | "ipblock"
  | "networkloadbalancer"
  | "forwarding-rule"
  | "snapshot";

/** Everything of IONOS is an element of one shape, inside another or at the top. Rows are replaced, never changed. */
export interface Element {
  /** Unique in the world; the id that is shown, except for LANs, which are numbered within their data center. */
  readonly id: string;
  readonly shownId: string;
  readonly type: ElementType;
  readonly parent: string | undefined;
  readonly datacenter: string | undefined;
  readonly state: "BUSY" | "AVAILABLE";
  readonly createdMs: number;
  readonly modifiedMs: number;
  readonly version: number;
  readonly properties: JsonObject;
  readonly labels: Readonly<Record<string, string>>;
  /** The server a volume is attached to. */
  readonly attachedTo: string | undefined;
}

/** What becomes of an element when a request ends; data, so that a world can be saved meanwhile. */
export interface Consequence {
  readonly element: string;
  /** Undefined: the element goes, with all that is inside it. */
  readonly properties: JsonObject | undefined;
}

export interface IonosRequest {
  readonly id: string;
  readonly method: string;
  readonly url: string;
  readonly body: string;
  readonly datacenter: string | undefined;
  readonly createdMs: number;
  /** Requests of one data center are carried out one after the other. */
  readonly startsMs: number;
  readonly endsMs: number;
  readonly isOver: boolean;
  readonly failure: string | undefined;
  readonly targets: readonly { readonly id: string; readonly type: ElementType; readonly href: string }[];
  readonly effects: readonly Consequence[];
}

/** A property that is text, or a number as text; empty where it is neither. */
export function textOf(properties: JsonObject | undefined, name: string): string {
  const value = properties?.[name];
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

export function numberOf(properties: JsonObject, name: string): number {
  const value = properties[name];
  return typeof value === "number" ? value : 0;
}
