import { type SimulatedPowerDns, setOf } from "../../world/powerdns/simulated-powerdns.ts";
import type { ControlApi } from "./control-api.ts";
import { demo, demoPath, projectPath } from "./seed.ts";

/** How the provider behaves: as it should, not at all, or with errors; until it is told otherwise. */
export interface Outside {
  readonly dns: SimulatedPowerDns;
  trouble: "none" | "silent" | "failing";
}

export interface DemoWorld {
  readonly outside: Outside;
  readonly api: ControlApi;
  /** A real SIGKILL of the worker's process; its supervisor starts another. */
  readonly killWorker: () => void;
}

export interface Scenario {
  readonly id: string;
  readonly title: string;
  /** What it breaks. */
  readonly does: string;
  /** What to expect, and which guard speaks. */
  readonly expect: string;
  /** What an operator can do. */
  readonly youCan: string;
  /** Where to look, below the organization. */
  readonly look: string;
  run(world: DemoWorld): Promise<void>;
}

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

export const scenarios: readonly Scenario[] = [
  {
    id: "edited-record",
    title: "Somebody edits a record behind our back",
    does: "web-3.shop.example is pointed at a stranger's address, at the DNS server itself.",
    expect:
      "The zone differs in one field, is put right by the next cycle, and the timeline says what was seen and wanted.",
    youCan:
      "Nothing: drift of what is ours is healed. To allow it, declare the new value or add a rule that ignores it.",
    look: zoneObject,
    run: async (world) => {
      pointElsewhere(world.outside.dns);
      await lookAgain(world);
    },
  },
  {
    id: "foreign-record",
    title: "Somebody adds a record of their own",
    does: "campaign.shop.example appears at the server. Nobody declared it here.",
    expect: "The ownership guard leaves it alone: it is reported as not ours, and never deleted.",
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
    does: "A script deletes the declarations of every web host and two more, in one transaction.",
    expect: "The delete budget holds all of them: more than this zone may lose in one cycle. Nothing is deleted.",
    youCan: "Look at the held change, count, and approve exactly that, or reject it.",
    look: "held",
    run: async ({ api }) => {
      const web = Array.from({ length: 12 }, (_, index) => `shop-web-${index + 1}-a`);
      const names = [...web, "shop-api.eu-cname", "shop-api.us-cname"];
      const changes = names.map((name) => ({ project: demo.project, delete: { kind: "DnsRecord", name } }));
      // All of them in one transaction, so that no cycle comes in between.
      const made = await api.send("POST", `${demoPath}/proposals`, { reason: "clean up old hosts", changes });
      const path = `${demoPath}/proposals/${String(made.body["id"])}`;
      await api.send("POST", `${path}:approve`, { digest: made.body["digest"] });
      await api.send("POST", `${path}:apply`);
    },
  },
  {
    id: "silent-provider",
    title: "The provider stops answering",
    does: "Every call to the DNS server hangs until it times out, for a minute.",
    expect:
      "Looks fail and are tried again with backoff. What was seen gets old and reads Unknown, never green; nothing is deleted.",
    youCan: "Nothing: it goes on by itself when the provider is back.",
    look: zoneObject,
    run: async (world) => {
      world.outside.trouble = "silent";
      await lookAgain(world);
    },
  },
  {
    id: "failing-provider",
    title: "The provider answers with errors",
    does: "Every call to the DNS server is answered with 503, for a minute.",
    expect: "A failed look is no absence: the zone is not ready, and no plan is made from it.",
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
    does: "The DNS server says another identity, as after a moved address, and web-3.shop.example is another's there.",
    expect: "The account-identity guard refuses the whole account: nothing is written to a place that may not be ours.",
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
  {
    id: "killed-worker",
    title: "The worker is killed in the middle of its work",
    does: "A new zone is declared, and the process that makes it gets a real SIGKILL.",
    expect:
      "Another worker takes the operation over from its journal, and the zone is made once. Then it waits for its delegation.",
    youCan: "Nobody delegates a zone of a demo: skip that step, or cancel, which takes back what was made.",
    look: "operations",
    run: async ({ api, killWorker, outside }) => {
      const name = `launch-${outside.dns.state.zones.length}`;
      await api.send("POST", `${projectPath}/dnszones`, {
        apiVersion: "setpoint/v1",
        kind: "DnsZone",
        metadata: { name, mode: "enforce" },
        spec: { account: demo.account, zone: `${name}.example.`, makesZone: true, nameservers: ["ns1.dns.example."] },
      });
      killWorker();
    },
  },
  {
    id: "freeze",
    title: "Freeze everything",
    does: "The whole platform is frozen for ten minutes, as you would with the button above.",
    expect: "Within a second no write is made any more. Loops go on looking.",
    youCan: "Resume: it shows first what would run.",
    look: "now",
    run: async ({ api }) => {
      await api.send("POST", "/v1/freeze", { level: "writes", reason: "tried from the demo", forSeconds: 600 });
    },
  },
];

/** How long trouble with the provider lasts. */
export const troubleMs = 60_000;
