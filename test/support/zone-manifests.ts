/** A zone under enforcement and one address in it, as a person would write them down. */
export function zoneManifests(name: string, address: string): string {
  return `apiVersion: setpoint/v1
kind: DnsZone
metadata: { name: ${name}, mode: enforce }
spec: { account: lab, zone: ${name}.test }
---
apiVersion: setpoint/v1
kind: DnsRecord
metadata: { name: www }
spec: { zone: ${name}, name: www, type: A, values: ["${address}"], ttlSeconds: 60 }
`;
}
