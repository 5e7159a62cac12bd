import type { Mutant } from "../mutant.ts";
import { budgets } from "./budgets.ts";
import { desired } from "./desired.ts";
import { engine } from "./engine.ts";
import { evidence } from "./evidence.ts";
import { looks } from "./looks.ts";
import { modeAndPauses } from "./mode-and-pauses.ts";
import { operations } from "./operations.ts";
import { ownership } from "./ownership.ts";
import { permit } from "./permit.ts";
import { replacement } from "./replacement.ts";
import { store } from "./store.ts";
import { undone } from "./undone.ts";
import { writes } from "./writes.ts";

/** Every mutant, in the order of the guards. */
export const mutants: readonly Mutant[] = [
  ...modeAndPauses,
  ...evidence,
  ...looks,
  ...desired,
  ...budgets,
  ...ownership,
  ...writes,
  ...replacement,
  ...permit,
  ...engine,
  ...store,
  ...operations,
  ...undone,
];
