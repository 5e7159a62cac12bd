import { type Parsed, parseAbsoluteName } from "./domain-name.ts";
import { presentationToBytes, quotedBytes } from "./text-value.ts";

const example = "0 issue letsencrypt.org";
const shape = /^(\S+)\s+(\S+)\s+(.+)$/s;

/** Flags, tag and value (RFC 8659). The value is written in quotes whenever it holds a space or a semicolon. */
export function parseCaa(value: string): Parsed<string> {
  const [, flags = "", tag = "", rest = ""] = shape.exec(value) ?? [];
  if (rest === "") return refuse(`"${value}" must look like "${example}": flags, tag and value (RFC 8659 4.1)`);
  if (flags !== "0" && flags !== "128")
    return refuse(`the flags "${flags}" must be 0, or 128 for a critical property (RFC 8659 4.1)`);
  if (!/^[a-zA-Z0-9]{1,15}$/.test(tag))
    return refuse(`the tag "${tag}" may hold letters and digits only (RFC 8659 4.1)`);
  const bytes = presentationToBytes(rest);
  if (bytes === undefined) return refuse(`the value ${rest} must be one word, or stand in quotes (RFC 8659 4.1.1)`);
  const name = tag.toLowerCase();
  const problem = valueProblem(name, bytes.toString("utf8"));
  return problem === undefined ? { ok: true, value: `${flags} ${name} ${quotedBytes(bytes)}` } : refuse(problem);
}

function valueProblem(tag: string, value: string): string | undefined {
  if (tag === "issue" || tag === "issuewild" || tag === "issuemail") {
    const issuer = (value.split(";")[0] ?? "").trim();
    const known = issuer === "" ? value.trim() === ";" || value.includes(";") : parseAbsoluteName(issuer).ok;
    if (known) return undefined;
    return `the value "${value}" must begin with the domain name of a certificate authority, or be ";" for none (RFC 8659 4.2)`;
  }
  if (tag === "iodef" && !/^(mailto|https?):.+/i.test(value))
    return `the value "${value}" of iodef must be a mailto:, http: or https: address (RFC 8659 4.4)`;
  return undefined;
}

function refuse(message: string): { readonly ok: false; readonly message: string } {
  return { ok: false, message };
}
