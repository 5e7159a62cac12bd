import type { Binding } from "./access.ts";

/** What a person may do: by their memberships, and by their role on the platform. Nothing for who is disabled. */
export interface RightsStore {
  bindingsOfPerson(personId: string): Promise<readonly Binding[]>;
}
