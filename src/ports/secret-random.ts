/** Bytes that nobody can guess, for tokens, keys and salts. `Random` is for jitter and is no substitute. */
export interface SecretRandom {
  bytes(count: number): Uint8Array;
}
