import type { Clock } from "../../ports/clock.ts";
import { cloudDeclarations, groundDeclarations, providerDeclarations } from "./cloud-declarations.ts";
import type { ControlApi } from "./control-api.ts";
import { declareAll } from "./declare-all.ts";
import { dnsDeclarations, moreDnsDeclarations } from "./dns-declarations.ts";
import { groupDeclarations } from "./group-declarations.ts";
import { type Declaration, demo, demoPath, projectPath, workspacePath } from "./names.ts";
import type { Chapter, SeededChapters } from "./seeded-chapters.ts";

/** A simulated provider bears more than a real one: twelve hosts are made at once. */
const callsPerSecond = 50;
const pollMs = 200;
const patienceMs = 30_000;

export interface Seeding {
  readonly api: ControlApi;
  readonly clock: Clock;
  /** Where the simulated providers listen. */
  readonly outsideUrl: string;
  /** Where the name servers of the zones listen, if they do. */
  readonly nameServers: readonly string[];
  readonly chapters: SeededChapters;
}

/**
 * Declares each chapter of the demo once. What people changed or deleted since stays as they made it; a chapter that an older demo did
 * not have, or did not get to the end of, is added to it. Answers what went wrong.
 */
export async function seedDemo(seeding: Seeding): Promise<readonly string[]> {
  const { api, chapters } = seeding;
  const made = await api.send("POST", "/v1/organizations", { name: demo.organization });
  if (made.status !== 201 && made.status !== 409) return [`the organization: ${String(made.body["detail"])}`];
  if (made.status === 409 && chapters.areUnknown) chapters.add(...(await chaptersFromBefore(api)));
  const problems: string[] = [];
  for (const chapter of ["dns", "clouds", "groups"] as const) {
    if (chapters.has(chapter)) continue;
    const found = await declareChapter[chapter](seeding);
    if (found.length === 0) chapters.add(chapter);
    problems.push(...found);
  }
  return problems;
}

/** Demos that wrote no chapters down had these, if they have the account: accounts are never deleted. */
async function chaptersFromBefore(api: ControlApi): Promise<readonly Chapter[]> {
  const { items = [] } = (await api.send("GET", `${demoPath}/accounts`)).body as { readonly items?: readonly Named[] };
  const has = (account: string) => items.some(({ name }) => name === account);
  return [...(has(demo.account) ? (["dns"] as const) : []), ...(has(demo.hetzner) ? (["clouds"] as const) : [])];
}

interface Named {
  readonly name: string;
}

const declareChapter: Readonly<Record<Chapter, (seeding: Seeding) => Promise<readonly string[]>>> = {
  dns: async ({ api, outsideUrl, nameServers }) =>
    await declareAll(api, [
      { path: `${demoPath}/projects`, body: { name: demo.project } },
      { path: `${projectPath}/workspaces`, body: { name: demo.workspace } },
      account(demo.account, "powerdns", outsideUrl, "SETPOINT_DEMO_KEY"),
      ...dnsDeclarations(nameServers),
    ]),
  clouds: async ({ api, clock, outsideUrl }) => {
    const problems = await declareAll(api, [
      account(demo.hetzner, "hetzner-cloud", `${outsideUrl}/v1`, "SETPOINT_DEMO_TOKEN"),
      account(demo.ionos, "ionos", `${outsideUrl}/cloudapi/v6`, "SETPOINT_DEMO_TOKEN"),
      ...providerDeclarations(),
    ]);
    // A claim that something else has left meanwhile would ask a person first.
    await untilReady(api, clock, [`${demoPath}/computeproviders`]);
    const ground = await declareAll(api, groundDeclarations());
    // A host that is declared before its network and its firewall stand would try again later, which takes longer.
    await untilReady(api, clock, [`${demoPath}/cloudnetworks`, `${demoPath}/firewalls`, `${workspacePath}/firewalls`]);
    return [...problems, ...ground, ...(await declareAll(api, cloudDeclarations()))];
  },
  groups: async ({ api }) => await declareAll(api, [...groupDeclarations(), ...moreDnsDeclarations()]),
};

function account(name: string, provider: string, url: string, key: string): Declaration {
  const body = { name, provider, settings: { url }, credentialRef: `env:${key}`, callsPerSecond };
  return { path: `${demoPath}/accounts`, body };
}

async function untilReady(api: ControlApi, clock: Clock, paths: readonly string[]): Promise<void> {
  for (const path of paths)
    for (let waitedMs = 0; waitedMs < patienceMs && !(await allReady(api, path)); waitedMs += pollMs)
      await clock.wait(pollMs);
}

async function allReady(api: ControlApi, path: string): Promise<boolean> {
  const { items = [] } = (await api.send("GET", path)).body as { readonly items?: readonly Conditioned[] };
  return items.every(({ status }) =>
    status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True"),
  );
}

interface Conditioned {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}
