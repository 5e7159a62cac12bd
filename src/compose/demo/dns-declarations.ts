import { type Declaration, declaration, demo, projectPath } from "./names.ts";

export const nameservers = ["ns1.dns.example.", "ns2.dns.example."];

function zone(name: string, mode: string, more: object): Declaration {
  return declaration(`${projectPath}/dnszones`, "DnsZone", { name, mode }, { account: demo.account, ...more });
}

function record(of: string, name: string, type: string, values: readonly string[], called = nameOf(of, name, type)) {
  const labels = { zone: of, tier: tierOf(name) };
  const spec = { zone: of, name, type, values, ttlSeconds: 300 };
  return declaration(`${projectPath}/dnsrecords`, "DnsRecord", { name: called, labels }, spec);
}

function nameOf(zoneName: string, name: string, type: string): string {
  return `${zoneName}-${name === "@" ? "apex" : name}-${type.toLowerCase()}`;
}

/** A zone that the demo keeps, one that it makes, one that it watches, and one where changes wait. */
export function dnsDeclarations(nameServers: readonly string[]): readonly Declaration[] {
  const hosts = Array.from({ length: 12 }, (_, index) =>
    record("shop", `web-${index + 1}`, "A", [`198.51.100.${index + 10}`]),
  );
  const regions = ["eu", "us", "ap"].flatMap((region) => [
    record("shop", `api.${region}`, "CNAME", [`lb.${region}.shop.example.`]),
    record("shop", `lb.${region}`, "A", [`203.0.113.${region.charCodeAt(0)}`, `203.0.113.${region.charCodeAt(1)}`]),
  ]);
  const propagation = nameServers.length === 0 ? {} : { propagation: { servers: nameServers } };
  return [
    zone("shop", "enforce", { zone: "shop.example.", nameservers, ...propagation }),
    zone("events", "enforce", { zone: "events.example.", makesZone: true, nameservers }),
    zone("brand", "observe", { zone: "brand.example." }),
    zone("mail", "propose", { zone: "mail.example." }),
    record("shop", "@", "A", ["203.0.113.10"]),
    record("shop", "www", "CNAME", ["shop.example."]),
    record("shop", "@", "MX", ["10 mx1.mail.example.", "20 mx2.mail.example."]),
    record("shop", "@", "TXT", ["v=spf1 include:mail.example -all"]),
    ...hosts,
    ...regions,
    record("brand", "www", "A", ["203.0.113.80"]),
    record("mail", "mx1", "A", ["198.51.100.200"]),
    record("mail", "mx2", "A", ["198.51.100.201"]),
  ];
}

/** More names of the shop, so that a fifth of its zone is more than the most that may go at once; and the zone of an export. */
export function moreDnsDeclarations(): readonly Declaration[] {
  return [
    zone("status", "enforce", { zone: "status.example.", nameservers }),
    ...exportedRecords(1),
    ...["assets", "blog", "help", "jobs"].map((name) => record("shop", name, "CNAME", ["www.shop.example."])),
  ];
}

/** What an export lists for the zone status. Each run of it that begins from nothing declares them by other names. */
export function exportedRecords(run: number): readonly Declaration[] {
  const names = ["@", "www", "api", "history", "metrics", "eu"];
  return names.map((name, index) =>
    record("status", name, "A", [`203.0.113.${index + 200}`], `${nameOf("status", name, "a")}-${run}`),
  );
}

function tierOf(name: string): string {
  return /^(web|www|@)/.test(name) ? "front" : "edge";
}
