import type { PersonProofs } from "../../ports/identity-store.ts";
import type { Caller } from "../access/caller.ts";
import { Problem } from "../problem.ts";
import type { Identity } from "./identity.ts";

/** The person behind a session: what concerns how somebody signs in is done by themselves, there and then. */
export async function requirePerson(identity: Identity, caller: Caller): Promise<PersonProofs> {
  const found =
    caller.credential.type === "session" && caller.personId !== undefined
      ? await identity.store.personById(caller.personId)
      : undefined;
  if (found !== undefined) return found;
  throw new Problem(
    "FORBIDDEN",
    `${caller.principal.name} did not sign in as a person, and this is about one. Sign in first: setpoint auth login`,
  );
}
