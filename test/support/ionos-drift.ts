import assert from "node:assert/strict";
import { SeededRandom } from "../sim/random.ts";
import { IonosLab, type Raw } from "./ionos-lab.ts";

const rules = [
  { protocol: "tcp", port: "443", cidrs: ["0.0.0.0/0"] },
  { protocol: "udp", port: "53", cidrs: ["192.0.2.0/24"] },
];
const balancer = {
  account: "demo",
  type: "nlb",
  location: "main",
  network: { name: "backend" },
  services: [443, 80].map((port) => ({ protocol: "tcp", listenPort: port, targetPort: port })),
  targets: [{ host: "web-1", private: true }],
};
const faults: readonly object[] = [
  { kind: "half-list", path: "/(servers|lans|networkloadbalancers|ipblocks)$" },
  { kind: "repeated-page" },
  { kind: "error", when: "after", chance: 0.3 },
  { kind: "timeout", when: "after", chance: 0.2 },
  { kind: "stale-list", ageSeconds: 600 },
  { kind: "rate-limit", chance: 0.2 },
  { kind: "failed-actions", code: "VDC-5-1", message: "no luck", chance: 0.3 },
];

const ours = ["Firewall/web", "CloudNetwork/backend", "Host/web-1", "LoadBalancer/edge"];

/** Somebody breaks what is ours at a contract of IONOS while it misbehaves; what is somebody else's is as it was in the end. */
export async function playIonosDrift(seed: number): Promise<void> {
  const random = new SeededRandom(seed);
  const lab = await IonosLab.open({ seed });
  await lab.theirServer("theirs");
  lab.addRule("theirs", { protocol: "TCP", portRangeStart: 1, portRangeEnd: 9, name: "web" });
  lab.make("lans", { name: "private", public: false });
  lab.theirBalancer("somebodys");
  await lab.bench.pass({ minutes: 2 });
  const before = unmanaged(lab);
  await lab.bench.declare("CloudNetwork/backend", { account: "demo", location: "main" });
  await lab.bench.declare("Firewall/web", { account: "demo", applies: "scope", rules });
  await lab.bench.pass({ minutes: 2 });
  await lab.host("web-1", { networks: [{ name: "backend" }] });
  await lab.bench.declare("LoadBalancer/edge", balancer);
  await lab.bench.pass({ minutes: 2 });
  for (let round = 0; round < 6; round++) {
    if (random.next() < 0.5) lab.fault(faults[Math.floor(random.next() * faults.length)]);
    edit(lab, random.next());
    if (random.next() < 0.3)
      await lab.bench.declare("Firewall/web", {
        account: "demo",
        applies: "scope",
        rules: rules.slice(0, random.next() < 0.5 ? 1 : 2),
      });
    await lab.bench.pass({ minutes: 4 });
    lab.heal();
  }
  await lab.bench.pass({ minutes: 75 });
  assert.equal(unmanaged(lab), before, `seed ${seed}: something that is not ours was touched`);
  // A list that is ten minutes old shows what was put back three times as if somebody took it away: a fight, which is tried anew
  // after a day.
  if (ours.some((name) => lab.bench.ready(name).includes("fights: changed back after 3 writes")))
    await lab.bench.pass({ hours: 25 });
  for (const name of ours)
    assert.match(lab.bench.ready(name), /^Converged/, `seed ${seed}: ${name}\n${lab.bench.why(name).join("\n")}`);
  requireBalanced(lab, seed);
  await lab.bench.stop();
}

/** One load balancer on one address, with both of its rules, each with the one host. */
function requireBalanced(lab: IonosLab, seed: number): void {
  const { properties, entities } = lab.one("networkloadbalancers", "edge");
  assert.deepEqual(properties["ips"], lab.ownBlock("edge").properties["ips"], `seed ${seed}`);
  const rules = (entities?.["forwardingrules"]?.items ?? []).map((rule) => {
    const targets = rule.properties["targets"] as unknown as readonly { readonly ip: string }[];
    return `${rule.properties["listenerPort"]} ${targets.map(({ ip }) => ip).join()}`;
  });
  const ip = lab.innerAddress("web-1");
  assert.deepEqual(rules.sort(), [`443 ${ip}`, `80 ${ip}`], `seed ${seed}`);
}

/** The host's server stays: what becomes of one that is gone is an operation's to say. */
function edit(lab: IonosLab, chance: number): void {
  const [lan] = lab.all("lans").filter(({ properties }) => properties.name?.startsWith("backend setpoint:"));
  const count = lab.card("web-1").rules.length;
  if (chance < 0.2 && count > 0) lab.removeRule("web-1", 0);
  else if (chance < 0.35) lab.removeRules("web-1");
  else if (chance < 0.5) lab.changeCard("web-1", { firewallActive: false });
  else if (chance < 0.65 && lab.labels("web-1").length > 0) lab.wipeLabels("web-1");
  else if (chance < 0.75 && lan !== undefined) lab.change(lan, chance < 0.7 ? { name: "moved" } : { public: true });
  else editBalancer(lab, chance);
}

function editBalancer(lab: IonosLab, chance: number): void {
  const mine = lab.all("networkloadbalancers").find(({ properties }) => properties.name !== "somebodys");
  // While the network leads to the internet, nothing of a load balancer in it can be changed.
  const open = lab.all("lans").filter(({ properties }) => properties["public"] === true);
  if (mine === undefined || open.some(({ id }) => Number(id) === mine.properties["targetLan"])) return;
  const [rule] = mine.entities?.["forwardingrules"]?.items ?? [];
  if (chance < 0.8) lab.change(mine, { name: "mine" });
  else if (chance < 0.85) lab.discard(mine);
  else if (rule !== undefined && chance < 0.9) lab.discard(rule);
  else if (rule !== undefined) lab.change(rule, { targets: [], algorithm: "RANDOM" });
}

function unmanaged(lab: IonosLab): string {
  const lans = lab
    .all("lans")
    .filter(({ properties }) => ["private", "theirs", "somebodys"].includes(properties.name ?? ""));
  // Hosts are put into any public LAN, so who is in it is not somebody's alone.
  const balancer = lab.one("networkloadbalancers", "somebodys");
  const blocks = lab.console("GET", "/ipblocks?depth=1")["items"] as readonly Raw[];
  const reserved = blocks.filter(({ properties }) => properties.name === "somebodys");
  return JSON.stringify([
    lab.one("servers", "theirs"),
    balancer,
    reserved,
    lans.map(({ id, properties }) => [id, properties]),
  ]);
}
