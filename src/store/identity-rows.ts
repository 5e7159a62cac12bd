import type { Passkey, Person, PersonProofs, SessionRecord } from "../ports/identity-store.ts";
import type { PersonProofsRow, PersonRow, SessionRow } from "./sql/identity.ts";
import type { PasskeyRow } from "./sql/identity-proofs.ts";

export function personOf(row: PersonRow): Person {
  return {
    id: row.id,
    email: row.email,
    name: row.name,
    state: row.state,
    platformRole: row.platform_role,
    verified: row.verified,
    createdAtMs: row.person_created_at_ms,
  };
}

export function proofsOf(row: PersonProofsRow): PersonProofs {
  return {
    person: personOf(row),
    passwordHash: row.password_hash ?? undefined,
    hasTotp: row.has_totp,
    passkeys: row.passkeys,
    recoveryCodes: row.recovery_codes,
  };
}

export function sessionOf(row: SessionRow): SessionRecord {
  return {
    id: row.session_id,
    person: personOf(row),
    createdAtMs: row.created_at_ms,
    lastSeenAtMs: row.last_seen_at_ms,
    endsAtMs: row.ends_at_ms,
    provenForMs: row.proven_for_ms,
    address: row.address,
    userAgent: row.user_agent,
  };
}

export function passkeyOf(row: PasskeyRow): Passkey {
  return {
    id: row.id,
    personId: row.person_id,
    publicKey: row.public_key,
    counter: row.counter,
    relyingParty: row.relying_party,
    transports: row.transports,
    label: row.label,
    createdAtMs: row.created_at_ms,
    lastUsedAtMs: row.last_used_at_ms ?? undefined,
  };
}
