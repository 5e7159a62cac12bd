import { hostAtHetzner } from "./cloud-declarations.ts";
import { declareAll } from "./declare-all.ts";
import { declaration, demo, workspacePath } from "./names.ts";
import { type DemoWorld, type Scenario, troubleSeconds } from "./scenario.ts";

const workspaceObject = `objects/projects/${demo.project}/workspaces/${demo.workspace}`;
const pollMs = 50;
const patienceMs = 20_000;

async function lookAgain({ api }: DemoWorld, ...names: readonly string[]): Promise<void> {
  for (const name of names) await api.send("POST", `${workspacePath}/${name}:reconcile`);
}

/** Longer than a listing is good enough for a look that somebody asked for. */
const listingAgedMs = 11_000;

/** Now, and once more when a listing from before the trouble does no longer do: it was whole, and shows none of it. */
async function lookTwice(world: DemoWorld, ...names: readonly string[]): Promise<void> {
  await lookAgain(world, ...names);
  void world.clock
    .wait(listingAgedMs)
    .then(() => lookAgain(world, ...names))
    .catch(() => undefined);
}

const hosts = ["web-1", "web-2", "web-3", "web-4", "web-5", "web-6", "api-1", "api-2", "db-1", "db-2"];
const atHetzner = [...hosts.map((name) => `hosts/${name}`), "firewalls/web", "loadbalancers/edge"];

export const cloudScenarios: readonly Scenario[] = [
  {
    id: "deleted-rule",
    title: "Somebody deletes a firewall rule behind our back",
    where: "clouds",
    does: "The rule that lets HTTPS in is taken out of the firewall web, in the console of the cloud.",
    expect:
      "The firewall differs in its rules, and the next cycle puts the rule back. The timeline says what was seen.",
    guard: "None has to: a missing rule of what is ours is drift, and healed within the change cap.",
    youCan: "Nothing, or declare the firewall without that rule.",
    look: `${workspaceObject}/firewalls/web`,
    run: async (world) => {
      const { outside } = world;
      const firewall = outside.atHetzner("firewalls", "web");
      if (firewall === undefined) throw new Error("The firewall web is not there.");
      const rules = firewall.rules?.filter(({ port }) => port !== "443");
      outside.atConsole("hetzner-cloud", "POST", `/firewalls/${firewall.id}/actions/set_rules`, { rules });
      await lookTwice(world, "firewalls/web");
    },
  },
  {
    id: "renamed-server",
    title: "Somebody renames a server and switches it off",
    where: "clouds",
    does: "The server of web-2 is called do-not-touch from now on, and is off.",
    expect:
      "It is known by its recorded id, so nothing is missing and nothing made anew: it gets its name back and is on.",
    guard: "ownership: ours is what we have on record, whatever it is called.",
    youCan: "Nothing. To keep it off, declare spec.power: off.",
    look: `${workspaceObject}/hosts/web-2`,
    run: async (world) => {
      const { outside } = world;
      const server = outside.atHetzner("servers", "web-2");
      if (server === undefined) throw new Error("The server of web-2 is not there.");
      outside.atConsole("hetzner-cloud", "PUT", `/servers/${server.id}`, { name: "do-not-touch" });
      outside.atConsole("hetzner-cloud", "POST", `/servers/${server.id}/actions/poweroff`);
      await lookTwice(world, "hosts/web-2");
    },
  },
  {
    id: "half-list",
    title: "The cloud answers half a list",
    where: "clouds",
    does: "Lists of servers end before db-1, for a minute, and still say how many there are.",
    expect:
      "The list does not add up, so it is partial: nobody is missing by it, and nothing is deleted or made again.",
    guard: "complete reads only: absence from a list is a suspicion.",
    youCan: "Nothing: with the next whole list everything goes on.",
    look: `${workspaceObject}/hosts/db-1`,
    run: async (world) => {
      const aim = { path: "^/servers$", forSeconds: troubleSeconds };
      const share = world.outside.shareBefore("servers", "db-1");
      world.outside.breakHetzner({ kind: "half-list", share, total: "kept", ...aim });
      await lookTwice(world, ...atHetzner);
    },
  },
  {
    id: "silent-cloud",
    title: "The cloud times out",
    where: "clouds",
    does: "Every call to Hetzner hangs until it is given up, for a minute. Servers go on running.",
    expect:
      "Looks fail and are tried again with backoff. Hosts read Unknown, never gone; the DNS server is not affected.",
    guard: "complete reads only: a failed look is no absence.",
    youCan: "Nothing: it goes on by itself when the cloud is back.",
    look: `${workspaceObject}/hosts/web-1`,
    run: async (world) => {
      world.outside.breakHetzner({ kind: "timeout", when: "before", forSeconds: troubleSeconds });
      await lookTwice(world, ...atHetzner);
    },
  },
  {
    id: "traffic-spike",
    title: "A traffic spike hits a scaling group",
    where: "clouds",
    does: "For a minute and a half visitors ask the api servers for four times as much. The cloud's metrics show it.",
    expect:
      "The group grows from two to four, which is its most; workers make the hosts. When the visitors leave, one goes at a time: out of the load balancer first, then the server.",
    guard:
      "The group's own bounds, its cooldown, and drained first. Metrics that are missing would never make it smaller.",
    youCan: "Nothing, or declare other bounds: spec.min, spec.max, spec.metrics.",
    look: `${workspaceObject}/scalinggroups/${demo.group}`,
    run: async (world) => {
      void spike(world).catch(() => undefined);
    },
  },
  {
    id: "killed-worker",
    title: "The worker is killed in the middle of making a host",
    where: "clouds",
    does: "A new host is declared. The cloud makes its server, the answer is lost, and the worker gets a real SIGKILL.",
    expect: "Another worker goes on from the journal, finds the server by its mark and adopts it: one server, not two.",
    guard: "once in effect: the intent was on record before the call.",
    youCan: "Nothing. The operation's journal shows both workers.",
    look: "operations",
    run: killInTheMiddle,
  },
];

const spikeMs = 90_000;
const lookEveryMs = 10_000;
/** Two members go, one cooldown after the other; then nobody looks more often than the group itself does. */
const calmMs = 240_000;

/** The group looks once a minute by itself. Whoever watches should not wait for that. */
async function spike(world: DemoWorld): Promise<void> {
  const { clock, outside } = world;
  outside.traffic.spikeUntilMs = clock.monotonicMs() + spikeMs;
  for (let passedMs = 0; passedMs < spikeMs + calmMs; passedMs += lookEveryMs) {
    await lookTwice(world, `scalinggroups/${demo.group}`);
    await clock.wait(lookEveryMs);
  }
}

interface Named {
  readonly metadata: { readonly name: string };
}

/** Kills when the cloud has made the server and nobody has heard of it: the worst moment there is. */
async function killInTheMiddle({ api, clock, killWorker, outside }: DemoWorld): Promise<void> {
  const { log, core } = outside.clouds;
  const before = log.after(0).at(-1)?.number ?? 0;
  const fault = outside.breakHetzner({ kind: "timeout", when: "after", method: "POST", path: "^/servers$", times: 1 });
  const { items = [] } = (await api.send("GET", `${workspacePath}/hosts`)).body as { items?: readonly Named[] };
  const spares = items.map(({ metadata: { name } }) => Number(/^spare-([0-9]+)$/.exec(name)?.[1] ?? 0));
  const name = `spare-${Math.max(0, ...spares) + 1}`;
  const spec = hostAtHetzner("spare", "fsn1", ["web"]);
  const [problem] = await declareAll(api, [declaration(`${workspacePath}/hosts`, "Host", { name }, spec)]);
  if (problem !== undefined) throw new Error(problem);
  const isMade = () => log.after(before).some(({ method, path }) => method === "POST" && path === "/servers");
  for (let waitedMs = 0; waitedMs < patienceMs && !isMade(); waitedMs += pollMs) await clock.wait(pollMs);
  core.tray.take(fault);
  killWorker();
}
