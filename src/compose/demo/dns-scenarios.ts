import { type SimulatedPowerDns, setOf } from "../../world/powerdns/simulated-powerdns.ts";
import { declareAll } from "./declare-all.ts";
import { exportedRecords } from "./dns-declarations.ts";
import { demo, demoPath, projectPath } from "./names.ts";
import type { DemoWorld, Scenario } from "./scenario.ts";

const zonePath = `${projectPath}/dnszones/${demo.zone}`;
const zoneObject = `objects/projects/${demo.project}/dnszones/${demo.zone}`;

const rightServer = "demo-dns-1";
const otherServer = "demo-dns-2";

function pointElsewhere(dns: SimulatedPowerDns): void {
  dns.edit(demo.domain, (sets) =>
    sets.map((set) => (set.name === `web-3.${demo.domain}` ? setOf(set.name, set.type, set.ttl, ["192.0.2.66"]) : set)),
  );
}

async function lookAgain({ api }: DemoWorld): Promise<void> {
  await api.send("POST", `${zonePath}:reconcile`);
}

interface DeclaredRecord {
  readonly metadata: { readonly name: string; readonly deletion?: unknown };
}

async function recordsOf({ api }: DemoWorld, zone: string): Promise<readonly DeclaredRecord[]> {
  const answer = await api.send("GET", `${projectPath}/dnsrecords?labels=zone%3D${zone}&pageSize=100`);
  return (answer.body as { readonly items?: readonly DeclaredRecord[] }).items ?? [];
}

async function standingRecords(world: DemoWorld, zone: string): Promise<readonly string[]> {
  const records = await recordsOf(world, zone);
  return records.filter(({ metadata }) => metadata.deletion === undefined).map(({ metadata }) => metadata.name);
}

/** All of them in one transaction, so that no cycle comes in between. */
async function deleteTogether({ api }: DemoWorld, names: readonly string[], reason: string): Promise<void> {
  const changes = names.map((name) => ({ project: demo.project, delete: { kind: "DnsRecord", name } }));
  const made = await api.send("POST", `${demoPath}/proposals`, { reason, changes });
  const path = `${demoPath}/proposals/${String(made.body["id"])}`;
  const approved = await api.send("POST", `${path}:approve`, { digest: made.body["digest"] });
  const applied = await api.send("POST", `${path}:apply`);
  for (const { status, body } of [made, approved, applied])
    if (status >= 300) throw new Error(`The records could not be deleted: ${String(body["detail"])}`);
}

export const dnsScenarios: readonly Scenario[] = [
  {
    id: "edited-record",
    title: "Somebody edits a record behind our back",
    where: "dns",
    does: "web-3.shop.example is pointed at a stranger's address, at the DNS server itself.",
    expect:
      "The zone differs in one field, is put right by the next cycle, and the timeline says what was seen and wanted.",
    guard: "None has to: drift of what is ours is healed within the change cap.",
    youCan: "Nothing. To allow it, declare the new value or add a rule that ignores it.",
    look: zoneObject,
    run: async (world) => {
      pointElsewhere(world.outside.dns);
      await lookAgain(world);
    },
  },
  {
    id: "foreign-record",
    title: "Somebody adds a record of their own",
    where: "dns",
    does: "campaign.shop.example appears at the server. Nobody declared it here.",
    expect: "It is reported as not ours, and never deleted.",
    guard: "ownership: what has no record with us is reported, and left alone.",
    youCan: "Leave it, or take it over: setpoint adopt dnszone/shop.",
    look: `${zoneObject}?tab=outside`,
    run: async (world) => {
      const name = `campaign.${demo.domain}`;
      world.outside.dns.edit(demo.domain, (sets) => [
        ...sets.filter((set) => set.name !== name),
        setOf(name, "A", 300, ["192.0.2.80"]),
      ]);
      await lookAgain(world);
    },
  },
  {
    id: "mass-delete",
    title: "Fourteen records are deleted at once",
    where: "dns",
    does: "A script deletes the declarations of every web host and two more, in one transaction.",
    expect: "All of them are held, and nothing is deleted.",
    guard: "delete budget: a zone may lose five in one cycle, or a fifth of it where that is less.",
    youCan: "Look at the held change, count, and approve exactly that, or reject it.",
    look: "held",
    run: async (world) => {
      const web = Array.from({ length: 12 }, (_, index) => `shop-web-${index + 1}-a`);
      const names = [...web, "shop-api.eu-cname", "shop-api.us-cname"];
      const standing = await standingRecords(world, "shop");
      if (!names.every((name) => standing.includes(name)))
        throw new Error(
          "They are deleted already: decide about it under Held changes. `npm start -- --reset` begins anew.",
        );
      await deleteTogether(world, names, "clean up old hosts");
    },
  },
  {
    id: "empty-source",
    title: "The source of desired state arrives empty",
    where: "dns",
    does: "The export that the zone status.example is made from is empty tonight, and its job deletes all six records.",
    expect: "Nobody takes an empty list for a wish: all six are held, and the zone goes on answering.",
    guard: "empty desired: a set that would lose everything waits for a person, whatever the budgets say.",
    youCan:
      "Reject it, or approve it by its count. Or mend the source: break it once more, and the export is whole again.",
    look: "held",
    run: async (world) => {
      const standing = await standingRecords(world, "status");
      if (standing.length > 0) return await deleteTogether(world, standing, "the export of tonight");
      const runs = (await recordsOf(world, "status")).map(({ metadata }) => Number(/[0-9]+$/.exec(metadata.name)?.[0]));
      const [problem] = await declareAll(world.api, exportedRecords(Math.max(1, ...runs) + 1));
      if (problem !== undefined) throw new Error(problem);
    },
  },
  {
    id: "silent-provider",
    title: "The DNS server stops answering",
    where: "dns",
    does: "Every call to the DNS server hangs until it times out, for a minute.",
    expect:
      "Looks fail and are tried again with backoff. What was seen gets old and reads Unknown, never green; nothing is deleted.",
    guard: "complete reads only: a failed look is no absence.",
    youCan: "Nothing: it goes on by itself when the provider is back.",
    look: zoneObject,
    run: async (world) => {
      world.outside.trouble = "silent";
      await lookAgain(world);
    },
  },
  {
    id: "failing-provider",
    title: "The DNS server answers with errors",
    where: "dns",
    does: "Every call to the DNS server is answered with 503, for a minute.",
    expect: "A failed look is no absence: the zone is not ready, and no plan is made from it.",
    guard: "complete reads only: no plan is made from a failed look.",
    youCan: "Nothing: backoff, then it goes on.",
    look: zoneObject,
    run: async (world) => {
      world.outside.trouble = "failing";
      await lookAgain(world);
    },
  },
  {
    id: "other-server",
    title: "Another server answers at the same address",
    where: "dns",
    does: "The DNS server says another identity, as after a moved address, and web-3.shop.example is another's there.",
    expect: "Nothing is written to a place that may not be ours, not even to heal it.",
    guard: "account identity: the whole account is refused.",
    youCan: "Mend the address. Here: break it once more, and the right server is back.",
    look: zoneObject,
    run: async (world) => {
      const { dns } = world.outside;
      const isRight = dns.state.serverId !== otherServer;
      dns.becomeServer(isRight ? otherServer : rightServer);
      if (isRight) pointElsewhere(dns);
      await lookAgain(world);
    },
  },
];
