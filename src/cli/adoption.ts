import { heldChangeSchema, planSchema } from "../control-api/schemas/governance.ts";
import { type SeenItemDocument, whySchema } from "../control-api/schemas/resource.ts";
import type { ApiClient } from "./api-client.ts";
import { CliError, usageError } from "./cli-error.ts";
import { exitCodes } from "./exit-codes.ts";
import { knownKinds } from "./kind-names.ts";
import { organizationPath, scopePath, type ScopeOptions } from "./scope-path.ts";
import { observationOf, type Target, targetText } from "./seen-items.ts";
import type { CliWorld } from "./world.ts";

/** Declares items just as they are. All are checked before the first is declared. */
export async function declareSeen(
  world: CliWorld,
  client: ApiClient,
  chosen: readonly SeenItemDocument[],
  options: ScopeOptions,
): Promise<void> {
  const problems = chosen.flatMap(({ key, owned, declaredBy, manifest, problem }) => {
    const [by] = declaredBy;
    if (owned) return [`${key}: it is ours already`];
    if (by !== undefined) return [`${key}: ${by.kind}/${by.name} declares it already`];
    return manifest === undefined ? [`${key}: ${problem ?? "no resource of its own can declare it"}`] : [];
  });
  if (problems.length > 0)
    throw usageError(`nothing was declared:\n${problems.map((problem) => `  ${problem}`).join("\n")}`);
  const kinds = await knownKinds(client);
  for (const { key, manifest } of chosen) {
    if (manifest === undefined) continue;
    const plural = kinds.find(({ kind }) => kind === manifest.kind)?.plural ?? "";
    const path = `${scopePath(world, options)}/${plural}/${encodeURIComponent(manifest.metadata.name)}`;
    const headers = { "content-type": "application/apply+json" };
    await client.send("PATCH", `${path}?fieldManager=cli`, { body: manifest, headers });
    world.writeData(`${manifest.kind}/${manifest.metadata.name} declared: ${key}\n`);
  }
}

export type Adoption =
  | { readonly state: "taken" }
  | { readonly state: "observing" }
  | { readonly state: "unknown" }
  | { readonly state: "waiting"; readonly approvals: readonly { readonly id: string; readonly digest: string }[] };

/** What became of the declared items: taking over what exists is for a person to approve, once it is more than looked at. */
export async function adoptionOf(
  world: CliWorld,
  client: ApiClient,
  target: Target,
  asked: { readonly chosen: readonly SeenItemDocument[]; readonly timeoutMs: number; readonly scope: ScopeOptions },
): Promise<Adoption> {
  const { chosen, scope } = asked;
  const untilMs = world.nowMs() + asked.timeoutMs;
  if ((await modeOf(client, target)) === "observe") return { state: "observing" };
  for (;;) {
    const now = await adoptionNow(world, client, target, { keys: chosen.map(({ key }) => key), scope });
    if (now.state !== "unknown" || world.nowMs() >= untilMs) return now;
    await world.sleep(250);
  }
}

/** The mode in force, whichever scope set it. */
async function modeOf(client: ApiClient, { path }: Target): Promise<unknown> {
  const { chain } = whySchema.parse(await client.get(`${path}/why`));
  const data = chain.find(({ topic }) => topic === "mode")?.data;
  return typeof data === "object" && data !== null && "mode" in data ? data.mode : undefined;
}

async function adoptionNow(
  world: CliWorld,
  client: ApiClient,
  target: Target,
  { keys, scope }: { readonly keys: readonly string[]; readonly scope: ScopeOptions },
): Promise<Adoption> {
  const { subjects } = planSchema.parse(await client.get(`${target.path}/plan`));
  const approvals: { readonly id: string; readonly digest: string }[] = [];
  const left = new Set(keys);
  for (const id of new Set(subjects.flatMap((subject) => subject.heldChanges))) {
    const path = `${organizationPath(world, scope)}/held-changes/${encodeURIComponent(id)}`;
    const held = heldChangeSchema.parse(await client.get(path));
    const ours = held.items.filter(({ key, name }) => name === target.name && left.has(key));
    if (ours.length === 0) continue;
    for (const { key } of ours) left.delete(key);
    approvals.push({ id, digest: held.digest });
    // What is not shown of a long one is part of it all the same.
    if (held.truncated) left.clear();
  }
  if (approvals.length > 0 && left.size === 0) return { state: "waiting", approvals };
  const seen = (await observationOf(client, target)).subjects.flatMap(({ items }) => items);
  const owned = new Set(seen.filter((item) => item.owned).map(({ key }) => key));
  if (![...left].every((key) => owned.has(key))) return { state: "unknown" };
  return approvals.length > 0 ? { state: "waiting", approvals } : { state: "taken" };
}

/** Says how it stands and what comes next; a change that waits ends the command with the code for that. */
export function tellAdoption(world: CliWorld, target: Target, adoption: Adoption): void {
  const name = targetText(target);
  if (adoption.state === "taken") return world.writeNote("all of them are ours now\n");
  if (adoption.state === "observing")
    return world.writeNote(
      `${name} is only looked at, so nothing is taken over yet. See what it would do: setpoint plan ${name}\nLet it act: setpoint mode ${name} enforce\n`,
    );
  if (adoption.state === "unknown")
    throw new CliError(
      `They are declared, and the next look was not seen yet. See: setpoint why ${name}`,
      exitCodes.timedOut,
    );
  const commands = adoption.approvals.map(({ id, digest }) => `  setpoint approve ${id} --digest ${digest}`);
  throw new CliError(
    `They exist already and are not ours: taking them over waits for a person.\n${commands.join("\n")}`,
    exitCodes.waitingForApproval,
  );
}
