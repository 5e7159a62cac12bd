import { findProgram } from "../../scripts/find-program.mjs";
import type { DnsChange, DnsReader, DnsWriter } from "../../src/ports/dns.ts";
import type { ProviderAccount } from "../../src/ports/provider.ts";
import { type DnsOutside, type FirstSet, outsides, startOutside } from "../../test/support/dns-outside.ts";
import type { BenchContext, Benchmark } from "../harness/benchmark.ts";
import { median } from "../harness/statistics.ts";
import { ZonePass } from "./zone-pass.ts";

const zone = "example.test.";

/** A zone at a real PowerDNS and a real BIND: what our pass costs beside a bare transfer of the same zone. */
export const dnsBenchmark: Benchmark = {
  name: "dns",
  about:
    "a pass over a large zone at a real PowerDNS and a real BIND against a bare transfer of it, and the calls it takes",
  limits: [
    { figure: "powerdns_noop_vs_transfer", atMost: 1.5 },
    { figure: "bind_noop_vs_transfer", atMost: 1.5 },
    { figure: "powerdns_noop_cpu_of_wall", atMost: 0.3 },
    { figure: "powerdns_unchanged_transfers", atMost: 0 },
    { figure: "bind_unchanged_transfers", atMost: 0 },
    { figure: "powerdns_drift_batches", atMost: 1 },
    { figure: "bind_drift_batches", atMost: 1 },
  ],
  run,
};

async function run({ cleanup, progress, quick }: BenchContext): Promise<Readonly<Record<string, number>>> {
  const size = quick ? { records: 5_000, rounds: 3 } : { records: 50_000, rounds: 5 };
  const sets: readonly FirstSet[] = Array.from({ length: size.records }, (_, index) => ({
    host: `host-${index}`,
    ttlSeconds: 300,
    type: "A",
    value: `192.0.${Math.floor(index / 250) % 250}.${index % 250}`,
  }));
  const figures: Record<string, number> = { records: size.records };
  for (const name of ["PowerDNS", "BIND"] as const) {
    const program = findProgram(outsides[name]);
    if (program === undefined) throw new Error(`${name} is not installed: npm run test:real installs it`);
    progress.say(`${name}: a zone of ${size.records} record sets`);
    const outside = cleanup.use(await startOutside(name, program, sets));
    const prefix = name.toLowerCase();
    for (const [figure, value] of Object.entries(await measure(outside, sets, size.rounds)))
      figures[`${prefix}_${figure}`] = value;
  }
  return figures;
}

async function measure(
  outside: DnsOutside,
  sets: readonly FirstSet[],
  rounds: number,
): Promise<Readonly<Record<string, number>>> {
  const counted = open(outside);
  const pass = new ZonePass(counted.reader, sets);
  await outside.bare();
  await pass.run(true);
  const [bareMs, passMs, cpuOfWall]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < rounds; round++) {
    bareMs.push((await timed(() => outside.bare())).wallMs);
    const ours = await timed(() => pass.run(true));
    if (ours.value.changes.length > 0) throw new Error(`A zone as declared gave ${ours.value.changes.length} changes`);
    passMs.push(ours.wallMs);
    cpuOfWall.push(ours.cpuMs / ours.wallMs);
  }
  const ratios = passMs.map((wallMs, index) => wallMs / (bareMs[index] ?? Number.NaN));
  const before = outside.calls();
  const unchanged = await timed(() => pass.run(false));
  const after = outside.calls();
  const drift = await healDrift(outside, pass, counted.writer, sets);
  return {
    transfer_ms: median(bareMs),
    noop_ms: median(passMs),
    noop_vs_transfer: median(ratios),
    noop_cpu_of_wall: median(cpuOfWall),
    unchanged_ms: unchanged.wallMs,
    unchanged_calls: after.calls - before.calls,
    unchanged_transfers: after.transfers - before.transfers,
    ...drift,
  };
}

/** Somebody changes a hundredth of the zone; one look finds all of it, and one batch heals it. */
async function healDrift(outside: DnsOutside, pass: ZonePass, writer: DnsWriter, sets: readonly FirstSet[]) {
  const moved = sets.filter((_, index) => index % 100 === 0).slice(0, 500);
  const hosts = moved.map(({ host }) => host);
  await outside.putMany(hosts, "A", "198.51.100.1");
  const before = outside.calls();
  const { changes } = await pass.run(false);
  if (changes.length !== moved.length)
    throw new Error(`${moved.length} record sets were moved, and ${changes.length} found`);
  const healing = changes.map(({ wanted }): DnsChange => ({ action: "replace", recordSet: wanted?.item as never }));
  await writer.change(zone, healing, AbortSignal.timeout(60_000));
  const after = outside.calls();
  const left = await pass.run(false);
  if (left.changes.length > 0) throw new Error(`${left.changes.length} record sets differ after they were healed`);
  return {
    drift_sets: moved.length,
    drift_batches: after.writes - before.writes,
    drift_calls: after.calls - before.calls,
  };
}

function open({ provider, settings }: DnsOutside): ProviderAccount<DnsReader, DnsWriter> {
  return provider.open({
    id: "bench",
    organizationId: "bench",
    name: "bench",
    provider: provider.name,
    settings,
    credentialRef: "env:SECRET",
    fingerprint: undefined,
    claimedIncarnation: undefined,
  }) as ProviderAccount<DnsReader, DnsWriter>;
}

async function timed<Value>(work: () => Promise<Value>) {
  const cpu = process.cpuUsage();
  const startMs = performance.now();
  const value = await work();
  const { user, system } = process.cpuUsage(cpu);
  return { value, wallMs: performance.now() - startMs, cpuMs: (user + system) / 1_000 };
}
