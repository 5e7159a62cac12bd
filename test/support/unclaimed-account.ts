import type { AccountRecord } from "../../src/ports/records.ts";

/** An account of the provider `lab` that nobody has claimed yet. */
export const unclaimedAccount: AccountRecord = Object.freeze({
  id: "main",
  organizationId: "o",
  name: "main",
  provider: "lab",
  settings: {},
  credentialRef: undefined,
  readCredentialRef: undefined,
  fingerprint: undefined,
  claimedIncarnation: undefined,
});
