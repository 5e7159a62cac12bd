import assert from "node:assert/strict";
import { SeededRandom } from "../sim/random.ts";
import { CloudLab } from "./cloud-lab.ts";

const rules = [{ protocol: "tcp", port: "443", cidrs: ["0.0.0.0/0"] }];
const server = { server_type: "cx22", image: "debian-12", location: "fsn1" };

type Thing = { readonly id: number; readonly name: string; readonly labels: Readonly<Record<string, string>> };
const collections = ["firewalls", "networks", "servers"] as const;

const faults: readonly object[] = [
  { kind: "half-list", path: "^/(firewalls|networks|servers)$" },
  { kind: "repeated-page" },
  { kind: "error", when: "after", chance: 0.3 },
  { kind: "timeout", when: "after", chance: 0.2 },
  { kind: "stale-list", ageSeconds: 600 },
  { kind: "rate-limit", chance: 0.2 },
];

/**
 * One account with things of ours and of somebody else. Somebody edits, breaks and deletes ours at random while the provider
 * misbehaves at random, and our own specs change. In the end what is somebody else's is as it was.
 */
export async function playDrift(seed: number): Promise<void> {
  const random = new SeededRandom(seed);
  const pick = <T>(list: readonly T[]): T | undefined => list[Math.floor(random.next() * list.length)];
  const lab = await CloudLab.open({ seed, pace: 0.1 });
  lab.console("POST", "/firewalls", { name: "theirs", rules: [] });
  lab.console("POST", "/networks", { name: "theirs", ip_range: "172.16.0.0/16" });
  lab.console("POST", "/servers", { ...server, name: "theirs" });
  await lab.bench.pass({ minutes: 2 });
  const before = unmanaged(lab);
  await lab.bench.declare("Firewall/web", { account: "demo", rules, applies: "scope" });
  await lab.bench.declare("CloudNetwork/backend", { account: "demo", range: "10.0.0.0/16" });
  await lab.bench.declare("Host/web-1", { account: "demo", type: "cx22", image: "debian-12", location: "fsn1" });
  await lab.finish(await lab.start("host.create", "Host/web-1"));
  for (let round = 0; round < 6; round++) {
    if (random.next() < 0.5) lab.fault(pick(faults));
    const collection = pick(collections) ?? "servers";
    const ours = pick(lab.list<Thing>(collection).filter(({ name }) => name !== "theirs"));
    if (ours !== undefined) edit(lab, collection, ours, random.next());
    if (random.next() < 0.3)
      await lab.bench.declare("Firewall/web", { account: "demo", rules: random.next() < 0.5 ? [] : rules });
    await lab.bench.pass({ minutes: 4 });
    lab.heal();
  }
  await lab.bench.pass({ minutes: 12 });
  assert.deepEqual(unmanaged(lab), before, `seed ${seed}: something that is not ours was touched`);
  await lab.bench.stop();
}

function edit(lab: CloudLab, collection: string, { id }: Thing, chance: number): void {
  if (chance < 0.35) lab.console("PUT", `/${collection}/${id}`, { labels: {} });
  else if (chance < 0.7) lab.console("PUT", `/${collection}/${id}`, { name: `moved-${id}` });
  else if (collection !== "firewalls") lab.console("DELETE", `/${collection}/${id}`);
}

function unmanaged(lab: CloudLab): unknown {
  const theirs = collections.map((name) => lab.list<Thing>(name).filter((thing) => thing.name === "theirs"));
  return JSON.parse(JSON.stringify(theirs)) as unknown;
}
