import type { Clock } from "../../ports/clock.ts";
import { cloudDeclarations, groundDeclarations, providerDeclarations } from "./cloud-declarations.ts";
import type { ControlApi } from "./control-api.ts";
import { dnsDeclarations } from "./dns-declarations.ts";
import { type Declaration, demo, demoPath, projectPath, workspacePath } from "./names.ts";

/** A simulated provider bears more than a real one: twelve hosts are made at once. */
const callsPerSecond = 50;
const pollMs = 200;
const patienceMs = 30_000;

/** Declares the demo organization once; what is there already is left as people made it. Answers what went wrong. */
export async function seedDemo(api: ControlApi, outsideUrl: string, clock: Clock): Promise<readonly string[]> {
  const made = await api.send("POST", "/v1/organizations", { name: demo.organization });
  if (made.status !== 201) return made.status === 409 ? [] : [`the organization: ${String(made.body["detail"])}`];
  const account = (name: string, provider: string, path: string, key: string): Declaration => ({
    path: `${demoPath}/accounts`,
    body: { name, provider, settings: { url: `${outsideUrl}${path}` }, credentialRef: `env:${key}`, callsPerSecond },
  });
  const problems = await declare(api, [
    { path: `${demoPath}/projects`, body: { name: demo.project } },
    { path: `${projectPath}/workspaces`, body: { name: demo.workspace } },
    account(demo.account, "powerdns", "", "SETPOINT_DEMO_KEY"),
    account(demo.hetzner, "hetzner-cloud", "/v1", "SETPOINT_DEMO_TOKEN"),
    account(demo.ionos, "ionos", "/cloudapi/v6", "SETPOINT_DEMO_TOKEN"),
    ...providerDeclarations(),
    ...dnsDeclarations(),
  ]);
  // A claim that something else has left meanwhile would ask a person first.
  await untilReady(api, clock, [`${demoPath}/computeproviders`]);
  const ground = await declare(api, groundDeclarations());
  // A host that is declared before its network and its firewall stand would try again later, which takes longer.
  await untilReady(api, clock, [`${demoPath}/cloudnetworks`, `${demoPath}/firewalls`, `${workspacePath}/firewalls`]);
  return [...problems, ...ground, ...(await declare(api, cloudDeclarations()))];
}

async function untilReady(api: ControlApi, clock: Clock, paths: readonly string[]): Promise<void> {
  for (const path of paths)
    for (let waitedMs = 0; waitedMs < patienceMs && !(await allReady(api, path)); waitedMs += pollMs)
      await clock.wait(pollMs);
}

async function declare(api: ControlApi, declarations: readonly Declaration[]): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const { path, body } of declarations) {
    const answer = await api.send("POST", path, body);
    if (answer.status >= 300 || answer.status === 0) problems.push(`${path}: ${String(answer.body["detail"])}`);
  }
  return problems;
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
