import { resourceRow } from "../../test/kit/records.ts";
import { claimKey } from "../../test/sim/store/state.ts";
import type { CloudLab } from "../../test/support/cloud-lab.ts";
import { answerCalls } from "../harness/child.ts";
import { type BenchAccount, firewall } from "./account.ts";
import { hetznerAccount } from "./hetzner-account.ts";
import { ionosAccount } from "./ionos-account.ts";

/** As often as a Host is looked at. What is around hosts is looked at every minute. */
const passMinutes = 5;
const passes = 3;
/** As many as the load balancer has behind it. */
const webHosts = 20;

export interface Account {
  readonly cloud: "hetzner-cloud" | "ionos";
  /** Each with its Host. */
  readonly servers: number;
  /** With a network, a firewall for all hosts, and a load balancer before some. */
  readonly isCovered: boolean;
}

export interface Measured {
  readonly calls: number;
  readonly writes: number;
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly residentMb: number;
}

/** One account in a process of its own, so that the memory is that of this account alone. */
export type AccountCalls = { readonly measure: (account: Account) => Promise<Measured> };

const calls: AccountCalls = {
  measure: async (account) => {
    const opened = await (account.cloud === "ionos" ? ionosAccount() : hetznerAccount());
    return await measure(await furnished(opened, account), account.servers);
  },
};
answerCalls(calls, async () => undefined);

async function measure(lab: CloudLab, servers: number): Promise<Measured> {
  const { log } = lab.world;
  const writesFrom = lab.lastRequest;
  const callsFrom = log.counts().total;
  const startedMs = performance.now();
  const cpu = process.cpuUsage();
  let writes = 0;
  for (let pass = 0; pass < passes; pass++) {
    await lab.bench.pass({ minutes: passMinutes });
    writes = lab.writes(writesFrom).length;
  }
  const { user, system } = process.cpuUsage(cpu);
  const measured = {
    calls: round(((log.counts().total - callsFrom) / passes / servers) * 1_000),
    writes: round(writes / passes),
    wallMs: round((performance.now() - startedMs) / passes),
    cpuMs: round((user + system) / 1_000 / passes),
    residentMb: round(process.memoryUsage.rss() / 2 ** 20),
  };
  await lab.bench.stop();
  return measured;
}

/** Every server is there and is its host's before anything is measured, as if its own operation had made it. */
async function furnished(account: BenchAccount, { servers, isCovered }: Account): Promise<CloudLab> {
  const { lab } = account;
  const covering = isCovered ? await cover(account) : [];
  const model = "server-0";
  await account.makeHost(model, false);
  await lab.bench.pass({ minutes: 2 * passMinutes });
  const others = servers - (isCovered ? webHosts : 0);
  for (let number = 1; number < others; number++) {
    const name = `server-${number}`;
    await account.declareHost(name);
    const uid = resourceRow(lab.bench.store, `Host/${name}`)?.uid ?? "";
    recordServer(lab, model, account.copyServer(model, { name, uid }));
  }
  // Looked at twice, so that everything is at rest.
  await lab.bench.pass({ minutes: 2 * passMinutes });
  for (const name of [...covering, `Host/${model}`, `Host/server-${others - 1}`])
    if (!lab.bench.ready(name).startsWith("Converged")) throw new Error(`${name}: ${lab.bench.why(name).join("\n")}`);
  return lab;
}

/** A firewall for every host of the account, and a load balancer before some of them; what it is called. */
async function cover(account: BenchAccount): Promise<readonly string[]> {
  const { lab } = account;
  await account.declareNetwork();
  await lab.bench.declare("Firewall/all", firewall);
  await lab.bench.pass({ minutes: 2 });
  for (let number = 0; number < webHosts; number++) await account.makeHost(`web-${number}`, true);
  await account.declareBalancer();
  return ["CloudNetwork/backend", "Firewall/all", "LoadBalancer/edge", "Host/web-0"];
}

/** What is on record of one host, for the one declared last: fifty thousand that are taken over at once tell nothing of rest. */
function recordServer(lab: CloudLab, model: string, serverId: string): void {
  const { subjects, claims, nextSubjectId } = lab.bench.store.state.tables;
  const modelUid = resourceRow(lab.bench.store, `Host/${model}`)?.uid;
  const first = subjects.values().find(({ resourceUid }) => resourceUid === modelUid);
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
