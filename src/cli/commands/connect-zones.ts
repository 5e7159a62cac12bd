import type { ApiClient } from "../api-client.ts";
import { parseSeconds } from "../duration.ts";
import type { Target } from "../seen-items.ts";
import type { CliWorld } from "../world.ts";
import { type ConnectOptions, goOn, offer } from "./connect-steps.ts";
import { declareZone, firstLook } from "./declared-zone.ts";

/** Declares zones of an account, looks at each, and offers what is in it. */
export async function beginZones(
  world: CliWorld,
  client: ApiClient,
  zones: readonly string[],
  options: ConnectOptions,
): Promise<void> {
  const timeoutMs = parseSeconds(options.timeout) * 1_000;
  const targets: Target[] = [];
  for (const zone of zones) targets.push(await declareZone(world, client, zone, options));
  for (const target of targets) {
    const items = await firstLook(world, client, target, timeoutMs);
    const chosen = await offer(world, client, { target, items }, options);
    await goOn(world, client, { target, chosen, timeoutMs }, options);
  }
}
