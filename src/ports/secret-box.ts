/**
 * Keeps text so that the database alone cannot read it. What was sealed opens only under the very binding it was sealed
 * with: `totp/PERSON`, say. So a sealed text that is moved to another row stays shut.
 */
export interface SecretBox {
  seal(text: string, binding: string): Promise<string>;
  /** Rejects when the key, the binding or the text is another one. */
  open(sealed: string, binding: string): Promise<string>;
}

/** A box whose key can be changed while it is in use: it opens what any of its keys sealed, and seals with the newest. */
export interface RotatingBox extends SecretBox {
  /** Of the key it seals with. */
  readonly keyId: string;
  /** Whether a sealed text is under the key it seals with now. */
  isCurrent(sealed: string): boolean;
}
