import { type Declaration, declaration, demo, demoPath, workspacePath } from "./names.ts";

const everybody = ["0.0.0.0/0", "::/0"];

/** Two clouds that are watched, and claimed before anything else is made there. */
export function providerDeclarations(): readonly Declaration[] {
  return [demo.hetzner, demo.ionos].map((account) =>
    declaration(
      `${demoPath}/computeproviders`,
      "ComputeProvider",
      { name: account, mode: "enforce" },
      { account, family: account === demo.ionos ? "ionos" : "hetzner-cloud" },
    ),
  );
}

/** A network and firewalls: what hosts need before they can be made. */
export function groundDeclarations(): readonly Declaration[] {
  return [
    declaration(
      `${demoPath}/cloudnetworks`,
      "CloudNetwork",
      { name: "backend" },
      {
        account: demo.hetzner,
        range: "10.0.0.0/16",
        subnets: [{ range: "10.0.1.0/24", zone: "eu-central" }],
      },
    ),
    ...firewalls(),
  ];
}

/** Eight hosts by name, and two load balancers. */
export function cloudDeclarations(): readonly Declaration[] {
  return [...hosts(), ...loadBalancers()];
}

function firewalls(): readonly Declaration[] {
  const firewall = (path: string, name: string, applies: string, rules: readonly object[]) =>
    declaration(`${path}/firewalls`, "Firewall", { name }, { account: demo.hetzner, applies, rules });
  const office = ["203.0.113.0/24"];
  return [
    firewall(demoPath, "base", "scope", [
      { protocol: "tcp", port: "22", cidrs: office, description: "from the office" },
      { protocol: "icmp", cidrs: everybody },
    ]),
    firewall(workspacePath, "web", "named", [
      { protocol: "tcp", port: "80", cidrs: everybody },
      { protocol: "tcp", port: "443", cidrs: everybody },
      { protocol: "tcp", port: "9100", cidrs: office, description: "metrics" },
    ]),
    firewall(workspacePath, "database", "named", [{ protocol: "tcp", port: "5432", cidrs: ["10.0.1.0/24"] }]),
  ];
}

function hosts(): readonly Declaration[] {
  const atHetzner = (name: string, role: string, location: string, firewall: readonly string[]) =>
    declaration(`${workspacePath}/hosts`, "Host", { name }, hostAtHetzner(role, location, firewall));
  const places = ["fsn1", "nbg1", "hel1"];
  const web = Array.from({ length: 6 }, (_, index) =>
    atHetzner(`web-${index + 1}`, "web", places[index % places.length] ?? "fsn1", ["web"]),
  );
  return [
    ...web,
    atHetzner("db-1", "database", "fsn1", ["database"]),
    atHetzner("db-2", "database", "nbg1", ["database"]),
  ];
}

/** What a host of the demo at Hetzner looks like. */
export function hostAtHetzner(role: string, location: string, firewalls: readonly string[]) {
  return { account: demo.hetzner, ...serverAtHetzner(role, location, firewalls) };
}

/** The same for the members of a group, whose account is the group's. */
export function serverAtHetzner(role: string, location: string, firewalls: readonly string[]) {
  return {
    type: "cx23",
    image: "debian-13",
    location,
    labels: { role },
    networks: [{ name: "backend", scope: "organization" }],
    firewalls: firewalls.map((name) => ({ name })),
  };
}

function loadBalancers(): readonly Declaration[] {
  const loadBalancer = (name: string, role: string, listenPort: number, targetPort: number) =>
    declaration(
      `${workspacePath}/loadbalancers`,
      "LoadBalancer",
      { name },
      {
        account: demo.hetzner,
        type: "lb11",
        location: "fsn1",
        network: { name: "backend", scope: "organization" },
        services: [{ protocol: "http", listenPort, targetPort, check: { path: "/healthz" } }],
        targets: [{ labels: { role }, private: true }],
      },
    );
  return [loadBalancer("edge", "web", 80, 8080), loadBalancer("api", "api", 8000, 8080)];
}
