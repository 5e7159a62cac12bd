import type { Call } from "./call.ts";
import { notAvailable } from "./errors.ts";
import { type Element, textOf } from "./rows.ts";

/** Nothing can be made or changed in a region that is out. */
export function requireRegion(call: Pick<Call, "faults">, location: string): void {
  if (call.faults.strike("region-outage", (fault) => fault.location === location) !== undefined) {
    throw notAvailable(location);
  }
}

/** Whether nobody can say what an element in that data center does just now. */
export function isOut(call: Pick<Call, "faults">, datacenter: Element | undefined): boolean {
  return call.faults.holds(
    "region-outage",
    ({ location }) => location === textOf(datacenter?.properties ?? {}, "location"),
  );
}
