import type { JsonSchema } from "../api/json-schema.ts";

/** Words that people write in capitals, or otherwise than a program does. */
const written: Readonly<Record<string, string>> = {
  cidrs: "address blocks",
  cpu: "CPU",
  dns: "DNS",
  dnssec: "DNSSEC",
  http: "HTTP",
  ip: "IP address",
  ipv4: "IPv4",
  ipv6: "IPv6",
  ssh: "SSH",
  tls: "TLS",
  ttl: "TTL",
};
const units: Readonly<Record<string, string>> = {
  seconds: "in seconds",
  percent: "in percent",
  megabits: "in megabits",
};

/** What a field is called: its schema's own title, or its name in words, with its unit at the end. */
export function labelOf(name: string, { title }: JsonSchema): string {
  if (title !== undefined) return title;
  const words = name
    .replace(/([A-Z])/g, " $1")
    .toLowerCase()
    .split(" ");
  const unit = words.length > 1 ? units[words.at(-1) ?? ""] : undefined;
  const said = (unit === undefined ? words : words.slice(0, -1)).map((word) => written[word] ?? word).join(" ");
  return `${said.charAt(0).toUpperCase()}${said.slice(1)}${unit === undefined ? "" : `, ${unit}`}`;
}

/** One of a list of them. */
export function oneOf(label: string): string {
  return label.toLowerCase().replace(/ies$/, "y").replace(/s$/, "");
}

/** A value in a field of text. */
export function textOf(value: unknown): string {
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** What holds where nothing is said. */
export function defaultWords({ default: value }: JsonSchema): string | undefined {
  if (value === undefined || value === "" || typeof value === "object") return undefined;
  return typeof value === "boolean" ? (value ? "yes" : "no") : textOf(value);
}
