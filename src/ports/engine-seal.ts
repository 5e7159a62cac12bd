/** The half of the engine's key that everybody may have. */
export interface EngineKey {
  readonly id: string;
  /** X25519, 32 bytes as base64url. */
  readonly publicKey: string;
}

/** Seals so that the engine alone can open. Whoever has this cannot read what it wrote. */
export interface EngineSealer {
  seal(key: EngineKey, text: string, binding: string): string;
}

/** The private half. Only processes that call providers have one. */
export interface EngineOpener {
  /** What is sealed from now on is sealed to this one. */
  readonly key: EngineKey;
  /** Of the keys it still opens, after a rotation. */
  readonly earlierIds: readonly string[];
  /** Throws when the key, the binding or the text is another one. */
  open(sealed: string, binding: string): string;
  isCurrent(sealed: string): boolean;
}
