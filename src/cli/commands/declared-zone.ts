import type { SeenItemDocument } from "../../control-api/schemas/resource.ts";
import type { ApiClient } from "../api-client.ts";
import { CliError, usageError } from "../cli-error.ts";
import { exitCodes } from "../exit-codes.ts";
import { scopePath, type ScopeOptions } from "../scope-path.ts";
import { lastLook, observationOf, type Target, targetText } from "../seen-items.ts";
import type { CliWorld } from "../world.ts";
import { targetPath } from "./declare.ts";

/** The zone's own name, which is a resource's name nearly always. */
export function resourceNameOf(zone: string): string {
  const name = zone.toLowerCase().replace(/\.$/, "");
  if (!/^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$/.test(name))
    throw usageError(`"${zone}" cannot be the name of a DnsZone: declare it under another name with setpoint apply`);
  return name;
}

/** `name` of the options is the account; what was done is told where the caller wants it. */
export async function declareZone(
  world: CliWorld,
  client: ApiClient,
  zone: string,
  options: ScopeOptions & { readonly name: string; readonly mode: string; readonly told?: (text: string) => void },
): Promise<Target> {
  const told = options.told ?? ((text: string) => world.writeData(text));
  const name = resourceNameOf(zone);
  const path = `${scopePath(world, options)}/dnszones`;
  const body = {
    apiVersion: "setpoint/v1",
    kind: "DnsZone",
    metadata: { name, mode: options.mode },
    spec: { account: options.name, zone: name },
  };
  try {
    await client.send("POST", `${path}?fieldManager=cli`, { body });
    told(`DnsZone/${name} declared in mode ${options.mode}\n`);
  } catch (thrown) {
    // One that is declared already stays as it is: its mode may be somebody's decision.
    if (!(thrown instanceof CliError) || thrown.problem?.code !== "ALREADY_EXISTS") throw thrown;
    told(`DnsZone/${name} is declared already\n`);
  }
  return await targetPath(world, client, `dnszone/${name}`, options);
}

/** Of what was looked at before, another look: what was seen then says nothing about what this command brought. */
export async function firstLook(
  world: CliWorld,
  client: ApiClient,
  target: Target,
  timeoutMs: number,
): Promise<readonly SeenItemDocument[]> {
  const untilMs = world.nowMs() + timeoutMs;
  world.writeNote(`looking at ${targetText(target)} …\n`);
  const before = await lastLook(client, target);
  if (!before.isFirst) await client.send("POST", `${target.path}:reconcile`);
  for (;;) {
    const { isDue, failed } = await lastLook(client, target);
    if (!isDue && failed === undefined) {
      const { subjects } = await observationOf(client, target);
      const complete = subjects.length > 0 && subjects.every(({ completeness }) => completeness === "complete");
      if (complete) return subjects.flatMap(({ items }) => items);
    }
    const isLate = world.nowMs() >= untilMs;
    if (failed !== undefined && (isLate || (failed.final && !isDue)))
      throw new CliError(
        `${targetText(target)} could not be looked at${failed.final ? "" : " in time"}: ${failed.words}\nCorrect it (a credential by: setpoint secret set-credential ${failed.account} < FILE), then repeat this command without the credential`,
        failed.final ? exitCodes.operationFailed : exitCodes.timedOut,
      );
    if (isLate)
      throw new CliError(
        `${targetText(target)} was not looked at in time. Does a scheduler run? See: setpoint doctor; then repeat this command without the credential`,
        exitCodes.timedOut,
      );
    await world.sleep(250);
  }
}
