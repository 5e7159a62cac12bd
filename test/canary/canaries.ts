import { randomBytes } from "node:crypto";

/** Secrets that can be told apart wherever they turn up, each with what it is. */
export class Canaries {
  readonly #secrets = new Map<string, string>();

  /** A secret nobody else has. Long enough for every rule about passwords and tokens. */
  plant(what: string): string {
    return this.note(what, `canary${randomBytes(15).toString("hex")}bird`);
  }

  /** One that the product made itself, and showed. */
  note(what: string, secret: string): string {
    if (secret.length < 8) throw new Error(`${what} is too short to be looked for: '${secret}'`);
    this.#secrets.set(secret, what);
    return secret;
  }

  get whats(): readonly string[] {
    return [...this.#secrets.values()];
  }

  /** What of it all stands in the text, in any of its spellings; less what may be there. */
  sightings(text: string, allowed: readonly string[] = []): readonly string[] {
    const found: string[] = [];
    for (const [secret, what] of this.#secrets) {
      if (allowed.includes(what)) continue;
      for (const [form, spelled] of spellings(secret)) {
        const at = text.indexOf(spelled);
        if (at < 0) continue;
        found.push(`${what} (${form}): …${text.slice(Math.max(0, at - 120), at)}HERE`);
        break;
      }
    }
    return found;
  }
}

function spellings(secret: string): readonly (readonly [string, string])[] {
  const hex = Buffer.from(secret).toString("hex");
  const forms: (readonly [string, string])[] = [
    ["plain", secret],
    ["hex", hex],
    ["upper-case hex", hex.toUpperCase()],
    ["URL-encoded", encodeURIComponent(secret)],
    ["JSON", JSON.stringify(secret).slice(1, -1)],
  ];
  // Inside something longer, base64 depends on where it begins: what is the same whatever stands around it.
  for (let before = 0; before < 3; before++) {
    const padded = Buffer.from("x".repeat(before) + secret).toString("base64");
    const inner = padded.slice(before === 0 ? 0 : 4, -4);
    forms.push(
      [`base64 at ${before}`, inner],
      [`base64url at ${before}`, inner.replaceAll("+", "-").replaceAll("/", "_")],
    );
  }
  return forms.filter(([, spelled]) => spelled.length >= 8);
}
