import { type SimulatedPowerDns, setOf } from "../../world/powerdns/simulated-powerdns.ts";
import type { ControlApi } from "./control-api.ts";

export const demo = { organization: "demo", project: "shop", account: "dns", zone: "shop", domain: "shop.example." };
export const demoPath = `/v1/organizations/${demo.organization}`;
export const projectPath = `${demoPath}/projects/${demo.project}`;

const nameservers = ["ns1.dns.example.", "ns2.dns.example."];
const metadata = (name: string, mode?: string) => ({ name, ...(mode === undefined ? {} : { mode }) });

/** What the demo organization declares: a zone that it keeps, one that it makes, one that it watches, and one where changes wait. */
function manifests(): readonly { readonly path: string; readonly body: unknown }[] {
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

/** What is at the provider before Setpoint comes: three zones, two of them with records. */
export function fillOutside(dns: SimulatedPowerDns): void {
  for (const zone of ["shop.example.", "brand.example.", "mail.example."])
    if (dns.zone(zone) === undefined)
      dns.handle(
        "POST",
        "/api/v1/servers/localhost/zones",
        new URLSearchParams(),
        JSON.stringify({ name: zone, kind: "Native", nameservers }),
      );
  dns.edit("brand.example.", (sets) => [
    ...sets.filter(({ type }) => type === "NS"),
    setOf("www.brand.example.", "A", 300, ["203.0.113.79"]),
    setOf("press.brand.example.", "A", 300, ["203.0.113.81"]),
  ]);
  dns.edit("mail.example.", (sets) => [
    ...sets.filter(({ type }) => type === "NS"),
    setOf("mx1.mail.example.", "A", 300, ["198.51.100.200"]),
  ]);
}

/** Declares the demo organization once; what is there already is left as people made it. Answers what went wrong. */
export async function seedDemo(api: ControlApi, dnsUrl: string): Promise<readonly string[]> {
  const made = await api.send("POST", "/v1/organizations", { name: demo.organization });
  if (made.status !== 201) return made.status === 409 ? [] : [`the organization: ${String(made.body["detail"])}`];
  const steps = [
    { path: `${demoPath}/projects`, body: { name: demo.project } },
    {
      path: `${demoPath}/accounts`,
      body: {
        name: demo.account,
        provider: "powerdns",
        settings: { url: dnsUrl },
        credentialRef: "env:SETPOINT_DEMO_KEY",
      },
    },
    ...manifests(),
  ];
  const problems: string[] = [];
  for (const { path, body } of steps) {
    const answer = await api.send("POST", path, body);
    if (answer.status >= 300 || answer.status === 0) problems.push(`${path}: ${String(answer.body["detail"])}`);
  }
  return problems;
}
