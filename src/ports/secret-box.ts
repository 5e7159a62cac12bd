/**
 * Keeps text so that the database alone cannot read it. What was sealed opens only under the very binding it was sealed
 * with: `totp/PERSON`, say. So a sealed text that is moved to another row stays shut.
 */
export interface SecretBox {
  seal(text: string, binding: string): Promise<string>;
  /** Rejects when the key, the binding or the text is another one. */
  open(sealed: string, binding: string): Promise<string>;
}
