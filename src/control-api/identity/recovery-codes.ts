import type { SecretRandom } from "../../ports/secret-random.ts";
import { tokenHash } from "./opaque-token.ts";
import { base32 } from "./totp.ts";

const count = 10;
/** 120 bits, which are 24 characters: nobody guesses one, so each can be hashed like a token. */
const bytes = 15;

export function newRecoveryCodes(random: SecretRandom): readonly string[] {
  return Array.from({ length: count }, () =>
    base32(random.bytes(bytes))
      .toLowerCase()
      .replace(/.{4}(?=.)/g, "$&-"),
  );
}

/** Of what was typed: case, spaces and dashes say nothing. */
export function recoveryCodeHash(code: string): string {
  return tokenHash(`recovery ${code.toLowerCase().replace(/[\s-]/g, "")}`);
}
