import { type Parsed, parseTarget } from "./domain-name.ts";
import { parseIpv4, parseIpv6 } from "./ip-address.ts";
import { presentationToBytes, quotedBytes } from "./text-value.ts";

/** SVCB and HTTPS (RFC 9460): a priority, a target, and parameters in the order of their numbers. */

const example = "1 . alpn=h2,h3 port=8443";
const names = ["mandatory", "alpn", "no-default-alpn", "port", "ipv4hint", "ech", "ipv6hint"];
const parameter = /\s*([^\s=]+)(?:=((?:"(?:[^"\\]|\\[\s\S])*"|[^\s"])*))?(?=\s|$)/y;

interface Parameter {
  readonly number: number;
  readonly name: string;
  readonly text: string | undefined;
}

export function parseServiceBinding(value: string): Parsed<string> {
  const [, priority = "", target = "", rest = ""] = /^(\S+)\s+(\S+)(.*)$/s.exec(value) ?? [];
  if (target === "")
    return refuse(`"${value}" must look like "${example}": priority, target, parameters (RFC 9460 2.1)`);
  if (!/^\d{1,5}$/.test(priority) || Number(priority) > 65_535)
    return refuse(`the priority "${priority}" must be a number from 0 to 65535 (RFC 9460 2.4.1)`);
  const host = parseTarget(target, { root: true });
  if (!host.ok) return host;
  const parameters = parseParameters(rest);
  if (!parameters.ok) return parameters;
  const alias = Number(priority) === 0;
  if (alias && parameters.value.length > 0)
    return refuse("priority 0 makes it an alias, which has no parameters (RFC 9460 2.4.2)");
  const problem = mandatoryProblem(parameters.value) ?? protocolProblem(parameters.value);
  if (problem !== undefined) return refuse(problem);
  const written = parameters.value.map(({ name, text }) => (text === undefined ? name : `${name}=${text}`));
  return { ok: true, value: [String(Number(priority)), host.value, ...written].join(" ") };
}

function parseParameters(text: string): Parsed<readonly Parameter[]> {
  const found: Parameter[] = [];
  const trimmed = text.trim();
  parameter.lastIndex = 0;
  while (parameter.lastIndex < trimmed.length) {
    const start = parameter.lastIndex;
    const match = parameter.exec(trimmed);
    if (match === null)
      return refuse(`"${trimmed.slice(start).trim()}" is not a parameter such as alpn=h2 (RFC 9460 2.1)`);
    const one = parseParameter(match[1] ?? "", match[2]);
    if (!one.ok) return one;
    if (found.some(({ number }) => number === one.value.number))
      return refuse(`the parameter ${one.value.name} is there twice (RFC 9460 2.1)`);
    found.push(one.value);
  }
  return { ok: true, value: found.sort((left, right) => left.number - right.number) };
}

function parseParameter(word: string, raw: string | undefined): Parsed<Parameter> {
  const key = word.toLowerCase();
  const number = numberOf(key);
  if (number === undefined)
    return refuse(`"${word}" is no parameter: write ${names.join(", ")}, or keyN with its number (RFC 9460 14.3.2)`);
  const name = names[number] ?? `key${number}`;
  if (name === "no-default-alpn")
    return raw === undefined
      ? { ok: true, value: { number, name, text: undefined } }
      : refuse("no-default-alpn has no value (RFC 9460 7.1.1)");
  const bytes = raw === undefined ? undefined : presentationToBytes(raw === "" ? '""' : raw);
  if (number > 6)
    return { ok: true, value: { number, name, text: bytes === undefined ? undefined : quotedBytes(bytes) } };
  const text = parameterText(name, bytes?.toString("utf8") ?? "");
  return text.ok ? { ok: true, value: { number, name, text: text.value } } : text;
}

/** By name, or as keyN; a number that has a name is written by it. */
function numberOf(key: string): number | undefined {
  const named = names.indexOf(key);
  if (named >= 0) return named;
  const match = /^key(0|[1-9]\d{0,4})$/.exec(key);
  const number = match === null ? Number.NaN : Number(match[1]);
  return number < 65_535 ? number : undefined;
}

function parameterText(name: string, text: string): Parsed<string> {
  const list = text.split(",");
  switch (name) {
    case "mandatory":
      return mandatoryText(list);
    case "alpn":
      return list.every((id) => /^[!#-+\--[\]-~]{1,255}$/.test(id))
        ? { ok: true, value: text }
        : refuse(`alpn "${text}" must name protocols with commas between them, such as h2,h3 (RFC 9460 7.1.1)`);
    case "port":
      return /^\d{1,5}$/.test(text) && Number(text) <= 65_535
        ? { ok: true, value: String(Number(text)) }
        : refuse(`port "${text}" must be a number from 0 to 65535 (RFC 9460 7.2)`);
    case "ech":
      return /^[A-Za-z0-9+/]+={0,2}$/.test(text) && text.length % 4 === 0
        ? { ok: true, value: text }
        : refuse("ech must be base64 (RFC 9460 14.3.2)");
    default: {
      const parse = name === "ipv4hint" ? parseIpv4 : parseIpv6;
      const addresses = list.map((address) => parse(address));
      const wrong = addresses.find((address) => !address.ok);
      if (wrong !== undefined && !wrong.ok) return refuse(`${name}: ${wrong.message} (RFC 9460 7.3)`);
      return { ok: true, value: addresses.map((address) => (address.ok ? address.value : "")).join(",") };
    }
  }
}

function mandatoryText(list: readonly string[]): Parsed<string> {
  const numbers = list.map((key) => numberOf(key.toLowerCase()));
  if (numbers.some((number) => number === undefined || number === 0) || new Set(numbers).size < numbers.length)
    return refuse(`mandatory "${list.join()}" must name other parameters, each once (RFC 9460 8)`);
  const sorted = numbers.map(Number).sort((left, right) => left - right);
  return { ok: true, value: sorted.map((number) => names[number] ?? `key${number}`).join(",") };
}

function mandatoryProblem(parameters: readonly Parameter[]): string | undefined {
  const listed = parameters.find(({ name }) => name === "mandatory")?.text?.split(",") ?? [];
  const missing = listed.find((name) => !parameters.some((given) => given.name === name));
  return missing === undefined ? undefined : `mandatory names ${missing}, which is not given (RFC 9460 8)`;
}

function protocolProblem(parameters: readonly Parameter[]): string | undefined {
  const has = (name: string) => parameters.some((given) => given.name === name);
  if (!has("no-default-alpn") || has("alpn")) return undefined;
  return "no-default-alpn without alpn leaves no protocol at all (RFC 9460 7.1.1)";
}

function refuse(message: string): { readonly ok: false; readonly message: string } {
  return { ok: false, message };
}
