import { scopeLabels } from "../../src/kinds/cloud/layers.ts";
import { CloudLab, organizationId } from "../../test/support/cloud-lab.ts";
import type { BenchContext, Benchmark } from "../harness/benchmark.ts";

/** Servers of one account, each with its Host. */
const FULL = [1_000, 10_000, 50_000] as const;
const QUICK = [1_000] as const;
/** As often as a Host is looked at. */
const passMinutes = 5;
const passes = 3;

export const cloudsBenchmark: Benchmark = {
  name: "clouds",
  about: "calls to a cloud while nothing changes, by the world's own log, for accounts of growing size",
  limits: [{ figure: "calls_per_1000_per_pass", atMost: 25 }],
  run,
};

async function run({ quick, progress }: BenchContext): Promise<Readonly<Record<string, number>>> {
  const figures: Record<string, number> = {};
  let worst = 0;
  for (const servers of quick ? QUICK : FULL) {
    progress.say(`an account with ${servers} servers`);
    const measured = await measure(servers);
    worst = Math.max(worst, measured.calls);
    figures[`calls_per_1000_per_pass_${servers}`] = measured.calls;
    figures[`writes_per_pass_${servers}`] = measured.writes;
    figures[`pass_wall_ms_${servers}`] = measured.wallMs;
    figures[`pass_cpu_ms_${servers}`] = measured.cpuMs;
    figures[`resident_mb_${servers}`] = measured.residentMb;
  }
  return { calls_per_1000_per_pass: worst, ...figures };
}

async function measure(servers: number) {
  const lab = await furnished(servers);
  const from = lab.world.log.after(0).at(-1)?.number ?? 0;
  const writesFrom = lab.lastRequest;
  const startedMs = performance.now();
  const cpu = process.cpuUsage();
  let calls = 0;
  let last = from;
  for (let pass = 0; pass < passes; pass++) {
    await lab.bench.pass({ minutes: passMinutes });
    const made = lab.world.log.after(last);
    calls += made.length;
    last = made.at(-1)?.number ?? last;
  }
  const { user, system } = process.cpuUsage(cpu);
  const measured = {
    calls: round((calls / passes / servers) * 1_000),
    writes: round(lab.writes(writesFrom).length / passes),
    wallMs: round((performance.now() - startedMs) / passes),
    cpuMs: round((user + system) / 1_000 / passes),
    residentMb: round(process.memoryUsage.rss() / 2 ** 20),
  };
  await lab.bench.stop();
  return measured;
}

/** Every server is there and is its host's before anything is measured; an operation would have made them so. */
async function furnished(servers: number): Promise<CloudLab> {
  const lab = await CloudLab.open({ pace: 0 });
  lab.world.clouds[0]?.configure("demo", { requestsPerHour: 1_000_000_000 });
  const server = { server_type: "cx22", image: "debian-12", location: "fsn1" };
  const spec = { account: "demo", type: "cx22", image: "debian-12", location: "fsn1" };
  const around = scopeLabels({ scope: `organization/${organizationId}`, organizationId });
  for (let number = 0; number < servers; number++) await lab.bench.declare(`Host/server-${number}`, spec);
  for (const { uid, name } of lab.bench.store.state.tables.resources.values()) {
    const labels = { ...around, "setpoint-installation": "installation-1", "setpoint-resource": uid };
    lab.console("POST", "/servers", { ...server, name, labels });
  }
  // Taken over, and looked at twice more so that every host is at rest.
  await lab.bench.pass({ minutes: 3 * passMinutes });
  return lab;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
