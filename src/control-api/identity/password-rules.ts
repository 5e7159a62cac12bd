import { Problem } from "../problem.ts";
import { commonPasswords, commonWords } from "./common-passwords.ts";

const shortest = 12;
const sequences = [
  "abcdefghijklmnopqrstuvwxyz",
  "01234567890123456789",
  "qwertyuiopasdfghjklzxcvbnm",
  "qwertzuiopasdfghjklyxcvbnm",
];

/** Why a password is too easy to guess; undefined: it is not. No rule asks for digits or signs: length is what counts. */
export function weakness(
  password: string,
  about: { readonly email: string; readonly name: string },
): string | undefined {
  const plain = password.normalize("NFKC").toLowerCase();
  if (Array.from(plain).length < shortest) return `it has fewer than ${shortest} characters`;
  if (new Set(plain).size < 4) return "it repeats a few characters";
  if (isRepeated(plain)) return "it repeats one short part";
  if (isSequence(plain)) return "it is a run of neighbouring letters or digits";
  const [local = ""] = about.email.split("@");
  for (const own of [about.email, local, about.name.toLowerCase()]) {
    if (own.length >= 4 && withoutTrimmings(plain).replaceAll(own, "").length < 4)
      return "it is your own name or e-mail";
  }
  if (commonPasswords.has(plain) || isCommonWord(plain)) return "it is one of the passwords that are tried first";
  return undefined;
}

export function requireStrong(password: string, about: { readonly email: string; readonly name: string }): void {
  const reason = weakness(password, about);
  if (reason === undefined) return;
  throw new Problem(
    "PASSWORD_WEAK",
    `This password is too easy to guess: ${reason}. Take ${shortest} characters or more that only you would put together: four or five words, say`,
    { errors: [{ pointer: "/password", message: reason }] },
  );
}

function isRepeated(text: string): boolean {
  for (let size = 1; size <= text.length / 3; size++) {
    const part = text.slice(0, size);
    if (part.repeat(Math.ceil(text.length / size)).startsWith(text)) return true;
  }
  return false;
}

function isSequence(text: string): boolean {
  return sequences.some((sequence) => {
    const twice = sequence + sequence;
    return twice.includes(text) || Array.from(twice).reverse().join("").includes(text);
  });
}

/** A common word with digits and signs around it, or written twice, is as common as the word. */
function isCommonWord(text: string): boolean {
  const bare = withoutTrimmings(text);
  const half = bare.slice(0, bare.length / 2);
  return [bare, ...(half + half === bare ? [half] : [])].some(
    (word) => commonPasswords.has(word) || commonWords.has(word),
  );
}

function withoutTrimmings(text: string): string {
  return text.replace(/^[^\p{L}]+|[^\p{L}]+$/gu, "");
}
