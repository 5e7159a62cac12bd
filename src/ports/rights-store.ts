import type { Binding } from "./access.ts";

/** What a person may do, apart from their role on the platform. */
export interface RightsStore {
  bindingsOfPerson(personId: string): Promise<readonly Binding[]>;
}
