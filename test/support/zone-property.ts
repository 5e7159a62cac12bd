import assert from "node:assert/strict";
import type { JsonObject } from "../../src/ports/json.ts";
import { desiredRecordSets } from "../../src/kinds/dns-zone/desired.ts";
import { dnsRecordSchema } from "../../src/kinds/dns-record/schema.ts";
import { foldSeen, stableRecordSet } from "../../src/kinds/dns-zone/record-set.ts";
import type { DnsRecordSet } from "../../src/ports/dns.ts";
import { SeededRandom } from "../sim/random.ts";
import type { startZoneBench } from "./zone-bench.ts";

type ZoneBench = Awaited<ReturnType<typeof startZoneBench>>;
type Records = ReadonlyMap<string, JsonObject>;

const names = ["@", "www", "mail", "*.apps", "bücher", "_sip._tcp", "_443._tcp.www"];
const hex = "0123456789abcdef".repeat(4);

/** A zone that breaks no rule, drawn from a seed: names, types, values and TTLs that meet again and again. */
export function randomZone(seed: number, leastTtlSeconds = 0): Records {
  const random = new SeededRandom(seed);
  const below = (count: number) => Math.floor(random.next() * count);
  const address = () => `192.0.2.${below(4)}`;
  const records = new Map<string, JsonObject>();
  const put = (name: string, type: string, values: readonly string[]) => {
    if (below(2) === 0) return;
    const spec = {
      zone: "example",
      name,
      type,
      values: [...new Set(values)],
      ttlSeconds: Math.max(leastTtlSeconds, [0, 60, 300][below(3)] ?? 60),
    };
    records.set(`r-${names.indexOf(name)}-${type.toLowerCase()}`, spec);
  };
  for (const name of names) {
    if (name.startsWith("_sip")) put(name, "SRV", [`${below(3)} 5 5060 sip.example.net`]);
    else if (name.startsWith("_443")) put(name, "TLSA", [`3 1 1 ${hex.slice(below(8))}${hex}`.slice(0, 70)]);
    else if (name !== "@" && below(3) === 0) put(name, "CNAME", [`host-${below(3)}.example.net`]);
    else {
      put(name, "A", Array.from({ length: 1 + below(3) }, address));
      put(name, "AAAA", [`2001:db8::${below(5)}`]);
      put(name, "MX", [`${below(20)} mail.example.net`]);
      put(name, "TXT", [`text ${below(4)} "é"`, "x".repeat(250 + below(20))]);
      put(name, "CAA", ["0 issue letsencrypt.org"]);
      put(name, "HTTPS", [`1 . alpn=h${2 + below(2)}`]);
    }
  }
  return records;
}

/** What the zone must hold, in the one form in which equal things are equal. */
function expected(records: Records): readonly object[] {
  const inputs = [...records].map(([name, spec]) => ({
    uid: name,
    name,
    scope: "organization/o",
    generation: 1,
    spec: dnsRecordSchema.parse(spec),
  }));
  const desired = desiredRecordSets(
    { zone: "example.test.", scope: "organization/o", delegations: [] },
    inputs as never,
  );
  assert.ok(desired.known && desired.stale === undefined);
  return desired.items.map(({ item }) => stableRecordSet(item)).toSorted(byText);
}

export function seenOf(sets: readonly DnsRecordSet[]): readonly object[] {
  return sets
    .filter(
      ({ type, name }) =>
        type !== "SOA" && !(type === "NS" && name === "example.test.") && !name.startsWith("_setpoint."),
    )
    .map((set) => stableRecordSet(foldSeen(set)))
    .toSorted(byText);
}

function byText(left: object, right: object): number {
  return JSON.stringify(left) < JSON.stringify(right) ? -1 : 1;
}

/** Budgets so wide that only convergence is looked at. */
export async function widen(bench: ZoneBench): Promise<void> {
  const wide = { count: 10_000, percent: 100, atLeast: 10_000 };
  const deletesPerHour = { account: wide, organization: wide, platform: wide };
  const limits = { deletesPerCycle: wide, deletesPerHour };
  await bench.setPolicy({ limits });
  await bench.store.setPolicy({
    organizationId: undefined,
    policy: { scope: "platform", limits },
    author: { name: "operator", type: "person" },
  });
}

/** From whatever is declared now to the zone of this seed; then it must be exactly that, and a second plan must be empty. */
export async function becomes(
  bench: ZoneBench,
  declared: Map<string, JsonObject>,
  seed: number,
  world: () => Promise<readonly DnsRecordSet[]>,
  { leastTtlSeconds = 0, seconds = 8 } = {},
): Promise<void> {
  const next = randomZone(seed, leastTtlSeconds);
  for (const name of declared.keys()) if (!next.has(name)) await bench.delete(`DnsRecord/${name}`);
  for (const [name, spec] of next)
    if (JSON.stringify(declared.get(name)) !== JSON.stringify(spec)) await bench.declare(`DnsRecord/${name}`, spec);
  declared.clear();
  for (const [name, spec] of next) declared.set(name, spec);
  const before = bench.process.reports.length;
  // The writes, and the look that follows each of them: that one is the second plan.
  await bench.pass({ seconds });
  assert.deepEqual(seenOf(await world()), expected(next), `seed ${seed}: the zone is not what was declared`);
  const last = bench.process.reports.slice(before).at(-1);
  if (last === undefined) return;
  assert.equal(last.result, "converged", `seed ${seed}: ${last.message}`);
  assert.deepEqual(
    last.sizes,
    { create: 0, update: 0, replace: 0, delete: 0 },
    `seed ${seed}: a second plan is not empty`,
  );
}
