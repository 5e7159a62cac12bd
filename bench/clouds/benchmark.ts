import { scopeLabels } from "../../src/kinds/cloud/layers.ts";
import { CloudLab, organizationId } from "../../test/support/cloud-lab.ts";
import { resourceRow } from "../../test/kit/records.ts";
import { claimKey } from "../../test/sim/store/state.ts";
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

/** Every server is there and is its host's before anything is measured, as if its own operation had made it. */
async function furnished(servers: number): Promise<CloudLab> {
  const lab = await CloudLab.open({ pace: 0 });
  lab.world.clouds[0]?.configure("demo", { requestsPerHour: 1_000_000_000 });
  await declareServer(lab, 0);
  // Taken over, and the account claimed with it.
  await lab.bench.pass({ minutes: passMinutes });
  for (let number = 1; number < servers; number++) recordServer(lab, await declareServer(lab, number));
  // Looked at twice, so that every host is at rest.
  await lab.bench.pass({ minutes: 2 * passMinutes });
  return lab;
}

async function declareServer(lab: CloudLab, number: number): Promise<string> {
  const name = `server-${number}`;
  const placed = { image: "debian-12", location: "fsn1" };
  await lab.bench.declare(`Host/${name}`, { account: "demo", type: "cx22", ...placed });
  const uid = resourceRow(lab.bench.store, `Host/${name}`)?.uid ?? "";
  const around = scopeLabels({ scope: `organization/${organizationId}`, organizationId });
  const labels = { ...around, "setpoint-installation": "installation-1", "setpoint-resource": uid };
  const { server } = lab.console("POST", "/servers", { server_type: "cx22", ...placed, name, labels });
  return String((server as { readonly id: number }).id);
}

/** What is on record of the first host, for the one declared last: fifty thousand that are taken over at once tell nothing of rest. */
function recordServer(lab: CloudLab, serverId: string): void {
  const { subjects, claims, nextSubjectId } = lab.bench.store.state.tables;
  const [first] = subjects.values();
  const subject = subjects.get(nextSubjectId - 1);
  if (first === undefined || subject === undefined) throw new Error("The host that was declared last has no subject");
  const firstId = first.memory.owned.find(({ key }) => key === "server")?.externalId ?? "";
  const owned = first.memory.owned.map((item) => ({
    ...item,
    externalId: item.externalId?.replace(firstId, serverId),
    sources: [subject.resourceUid],
  }));
  subject.memory = { ...first.memory, owned };
  subject.nowOwned = owned.length;
  for (const { key, externalId = "" } of owned)
    claims.set(claimKey("demo", externalId), { accountKey: "demo", externalId, subjectId: subject.id, key });
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
