import type { Caller } from "../../src/control-api/access/caller.ts";
import { Authenticator, bearerOf } from "../../src/control-api/authentication/authenticator.ts";
import type { Action, Binding, Rule } from "../../src/ports/access.ts";

const every: readonly Action[] = ["read", "create", "update", "delete", "execute"];
const everything: readonly Rule[] = [{ key: "*", actions: every }];

const everywhere = { organizationId: undefined, scope: "platform" };

/** `Bearer ada` is Ada, who may do everything; a name that ends in `-bot` is a machine's. Others may do what is said here. */
export function namedCallers(
  rules: Readonly<Record<string, readonly Rule[]>> = {},
  /** Where these hold; on the platform otherwise. */
  places: Readonly<Record<string, Pick<Binding, "organizationId" | "scope">>> = {},
): Authenticator {
  const caller = (name: string): Caller => {
    const type = name.endsWith("-bot") ? ("machine" as const) : ("person" as const);
    return {
      principal: { name, type },
      personId: name,
      credential: { type: type === "person" ? "session" : "service-token", id: name },
      bindings: [{ ...(places[name] ?? everywhere), role: "test", rules: rules[name] ?? everything }],
      within: undefined,
      provenAtMs: Date.now(),
    };
  };
  return new Authenticator([
    {
      types: ["session", "service-token"],
      read: async (proof) => caller(bearerOf(proof) ?? ""),
      renew: async (known) => known,
    },
  ]);
}
