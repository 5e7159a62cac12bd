import { isoTime } from "../../kernel/iso-time.ts";
import type { CredentialRecord } from "../../ports/credential-store.ts";
import type { TokenDocument } from "../schemas/credentials.ts";

/** A token as it is shown: everything but the token. */
export function tokenDocument(record: CredentialRecord): TokenDocument {
  const { id, type, name, scope, bindings, maker, state, madeAtMs, expiresAtMs, lastUsedAtMs } = record;
  const access = bindings?.map((binding) => ({
    scope: binding.scope,
    rules: binding.rules.map((rule) => ({ key: rule.key, actions: [...rule.actions] })),
  }));
  return {
    id,
    type,
    name,
    scope,
    ...(access === undefined ? {} : { access }),
    maker,
    state,
    madeAt: isoTime(madeAtMs),
    expiresAt: isoTime(expiresAtMs),
    ...(lastUsedAtMs === undefined ? {} : { lastUsedAt: isoTime(lastUsedAtMs) }),
  };
}
