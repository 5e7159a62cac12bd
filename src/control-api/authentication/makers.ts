import type { Binding } from "../../ports/access.ts";
import { machineOperator } from "./operator-file.ts";

/** Who made a token, as they are now. */
export interface Maker {
  readonly name: string;
  readonly bindings: readonly Binding[];
}

/** Finds the maker of a token; undefined when they are gone. Asked without an id for the operator of this machine. */
export type MakerOf = (personId: string | undefined) => Promise<Maker | undefined>;

export function makersAmong(person: (id: string) => Promise<Maker | undefined>): MakerOf {
  return async (personId) => (personId === undefined ? machineOperator : person(personId));
}
