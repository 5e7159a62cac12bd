import { fileURLToPath } from "node:url";
import type { BenchContext, Benchmark } from "../harness/benchmark.ts";
import { startChild } from "../harness/child.ts";
import type { Account, AccountCalls, Measured } from "./account-process.ts";

/** Servers of one account, each with its Host. */
const FULL = [1_000, 10_000, 50_000] as const;
const QUICK = [1_000] as const;
/** As often as a Host is looked at. */
const passMinutes = 5;
/** The largest account with firewall, network and load balancer as well. */
const mostCovered = 10_000;

const clouds = [
  { prefix: "", name: "Hetzner Cloud", cloud: "hetzner-cloud" },
  { prefix: "ionos_", name: "IONOS", cloud: "ionos" },
] as const;

export const cloudsBenchmark: Benchmark = {
  name: "clouds",
  about: "calls to a cloud while nothing changes, by the world's own log, for accounts of growing size",
  limits: [{ figure: "calls_per_1000_per_pass", atMost: 25 }],
  run,
};

async function run({ quick, progress, cleanup }: BenchContext): Promise<Readonly<Record<string, number>>> {
  const figures: Record<string, number> = {};
  let worst = 0;
  for (const { prefix, name, cloud } of clouds)
    for (const servers of quick ? QUICK : FULL) {
      progress.say(`an account of ${name} with ${servers} servers`);
      const alone = await measure(cleanup, { cloud, servers, isCovered: false });
      worst = Math.max(worst, alone.calls);
      figures[`${prefix}calls_per_1000_per_pass_${servers}`] = alone.calls;
      figures[`${prefix}writes_per_pass_${servers}`] = alone.writes;
      figures[`${prefix}pass_wall_ms_${servers}`] = alone.wallMs;
      figures[`${prefix}pass_cpu_ms_${servers}`] = alone.cpuMs;
      figures[`${prefix}resident_mb_${servers}`] = alone.residentMb;
      if (servers > mostCovered) continue;
      progress.say("the same with a network, a firewall for all of them, and a load balancer before some");
      const covered = await measure(cleanup, { cloud, servers, isCovered: true });
      figures[`${prefix}covered_calls_per_1000_per_minute_${servers}`] =
        Math.round((covered.calls / passMinutes) * 100) / 100;
      figures[`${prefix}covered_writes_per_pass_${servers}`] = covered.writes;
    }
  return { calls_per_1000_per_pass: worst, ...figures };
}

async function measure(cleanup: AsyncDisposableStack, account: Account): Promise<Measured> {
  const file = fileURLToPath(new URL("account-process.ts", import.meta.url));
  // World, store and scheduler are all in it, with every server as each of them has it.
  const child = await startChild<AccountCalls>(cleanup, { file, execArgv: ["--max-old-space-size=8192"] });
  try {
    return await child.call("measure", account);
  } finally {
    await child.stop();
  }
}
