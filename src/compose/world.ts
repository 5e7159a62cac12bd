import { readFileSync } from "node:fs";
import type { Clock } from "../ports/clock.ts";
import type { Ids } from "../ports/ids.ts";
import type { Random } from "../ports/random.ts";
import { systemClock } from "../runtime/system-clock.ts";
import { createSystemIds } from "../runtime/system-ids.ts";
import { systemRandom } from "../runtime/system-random.ts";

/** The small ports, each with its real adapter. */
export interface World {
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
  readonly version: string;
}

export function realWorld(): World {
  const file = new URL("../../package.json", import.meta.url);
  const { version } = JSON.parse(readFileSync(file, "utf8")) as { readonly version: string };
  return Object.freeze({ clock: systemClock, random: systemRandom, ids: createSystemIds(), version });
}
