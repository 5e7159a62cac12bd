import type { Config } from "../config.ts";
import { CachedRights } from "../control-api/access/cached-rights.ts";
import { makersAmong, type MakerOf } from "../control-api/authentication/makers.ts";
import { SessionReader } from "../control-api/authentication/session-reader.ts";
import type { Identity } from "../control-api/identity/identity.ts";
import { Passwords, type PasswordOptions } from "../control-api/identity/passwords.ts";
import type { IdentityStore } from "../ports/identity-store.ts";
import type { RightsStore } from "../ports/rights-store.ts";
import type { SecretBox } from "../ports/secret-box.ts";
import { StartError } from "./start-error.ts";

type Ports = Pick<Identity, "secretBox" | "secretRandom" | "mailer" | "clock" | "ids" | "log">;

/** People, their sessions and what they may do, put together. */
export function composeIdentity(
  config: Pick<Config, "signUp" | "publicUrl" | "port">,
  ports: Ports,
  about: {
    readonly store: IdentityStore;
    readonly members: RightsStore;
    readonly cost?: PasswordOptions["cost"];
  },
): { readonly identity: Identity; readonly rights: CachedRights; readonly makerOf: MakerOf } {
  const { store, members, cost } = about;
  const rights = new CachedRights(members, ports.clock);
  const onlySecure = config.publicUrl?.startsWith("https:") === true;
  // Sessions keep the rights they found for two seconds themselves, so they ask for those of now.
  const sessions = new SessionReader({ store, rights: members, clock: ports.clock, onlySecure });
  rights.whenForgotten(() => sessions.forget());
  const passwords = new Passwords({ random: ports.secretRandom, cost });
  const { signUp, publicUrl, port } = config;
  const identity = { ...ports, store, passwords, sessions, signUp, publicUrl, port };
  // A token of somebody who is disabled or gone is worth nothing.
  const makerOf = makersAmong(async (id) => {
    const person = (await store.personById(id))?.person;
    if (person?.state !== "active") return undefined;
    return { name: person.email, bindings: await rights.bindingsOfPerson(id) };
  });
  return { identity, rights, makerOf };
}

const checkText = "setpoint";
const checkBinding = "root-key/check";

/** Another root key than the one that sealed what is there would make secrets that nobody can open together. */
export async function requireSameRootKey(store: Pick<IdentityStore, "rootKeyCheck">, box: SecretBox): Promise<void> {
  const kept = await store.rootKeyCheck(await box.seal(checkText, checkBinding));
  const opened = await box.open(kept, checkBinding).catch(() => undefined);
  if (opened === checkText) return;
  throw new StartError(
    "The secrets in this database were sealed with another root key. Give this process that one: the root.key of the data directory of the first start, or SETPOINT_ROOT_KEY.",
  );
}
