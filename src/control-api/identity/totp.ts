import { createHmac, timingSafeEqual } from "node:crypto";

const stepMs = 30_000;
const digits = 6;
/** A clock may be off by this many steps. */
const drift = 1;
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** RFC 6238 with what every app understands: SHA-1, 30 seconds, six digits. */
export function totpCode(secret: Uint8Array, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac("sha1", secret).update(counter).digest();
  const at = mac.readUInt8(mac.length - 1) & 0x0f;
  return String((mac.readUInt32BE(at) & 0x7fff_ffff) % 10 ** digits).padStart(digits, "0");
}

/** The step whose code this is, if it is one of now. Every candidate is compared, so that the time says nothing. */
export function totpStepOf(secret: Uint8Array, code: string, nowMs: number): number | undefined {
  const current = Math.floor(nowMs / stepMs);
  const given = Buffer.from(code.padStart(digits).slice(0, 16));
  let found: number | undefined;
  for (let step = current - drift; step <= current + drift; step++) {
    const wanted = Buffer.from(totpCode(secret, step));
    if (given.length === wanted.length && timingSafeEqual(given, wanted)) found ??= step;
  }
  return found;
}

export function base32(bytes: Uint8Array): string {
  let bits = "";
  for (const byte of bytes) bits += byte.toString(2).padStart(8, "0");
  return bits.replace(/.{1,5}/g, (part) => alphabet.charAt(Number.parseInt(part.padEnd(5, "0"), 2)));
}

export function fromBase32(text: string): Uint8Array {
  const bits = Array.from(text.toUpperCase(), (letter) => alphabet.indexOf(letter).toString(2).padStart(5, "0")).join(
    "",
  );
  return Uint8Array.from(bits.match(/.{8}/g) ?? [], (part) => Number.parseInt(part, 2));
}

/** What an authenticator app reads as a QR code or takes as a link. */
export function totpUri(secret: string, email: string): string {
  const label = encodeURIComponent(`Setpoint:${email}`);
  return `otpauth://totp/${label}?secret=${secret}&issuer=Setpoint&algorithm=SHA1&digits=${digits}&period=${stepMs / 1_000}`;
}
