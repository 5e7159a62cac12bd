import { type Declaration, demo, projectPath } from "./names.ts";

export const nameservers = ["ns1.dns.example.", "ns2.dns.example."];
const metadata = (name: string, mode?: string) => ({ name, ...(mode === undefined ? {} : { mode }) });

/** A zone that the demo keeps, one that it makes, one that it watches, and one where changes wait. */
export function dnsDeclarations(): readonly Declaration[] {
  const zone = (name: string, mode: string, more: object) => ({
    path: `${projectPath}/dnszones`,
    body: {
      apiVersion: "setpoint/v1",
      kind: "DnsZone",
      metadata: metadata(name, mode),
      spec: { account: demo.account, ...more },
    },
  });
  const record = (of: string, name: string, type: string, values: readonly string[], ttlSeconds = 300) => ({
    path: `${projectPath}/dnsrecords`,
    body: {
      apiVersion: "setpoint/v1",
      kind: "DnsRecord",
      metadata: {
        ...metadata(`${of}-${name === "@" ? "apex" : name}-${type.toLowerCase()}`),
        labels: { zone: of, tier: tierOf(name) },
      },
      spec: { zone: of, name, type, values, ttlSeconds },
    },
  });
  const hosts = Array.from({ length: 12 }, (_, index) =>
    record("shop", `web-${index + 1}`, "A", [`198.51.100.${index + 10}`]),
  );
  const regions = ["eu", "us", "ap"].flatMap((region) => [
    record("shop", `api.${region}`, "CNAME", [`lb.${region}.shop.example.`]),
    record("shop", `lb.${region}`, "A", [`203.0.113.${region.charCodeAt(0)}`, `203.0.113.${region.charCodeAt(1)}`]),
  ]);
  return [
    zone("shop", "enforce", { zone: "shop.example.", nameservers }),
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

function tierOf(name: string): string {
  return /^(web|www|@)/.test(name) ? "front" : "edge";
}
