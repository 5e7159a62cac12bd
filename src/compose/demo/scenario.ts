import type { Clock } from "../../ports/clock.ts";
import type { ControlApi } from "./control-api.ts";
import type { Outside } from "./outside.ts";

export interface DemoWorld {
  readonly outside: Outside;
  readonly api: ControlApi;
  readonly clock: Clock;
  /** A real SIGKILL of the worker's process; its supervisor starts another. */
  readonly killWorker: () => void;
}

export interface Scenario {
  readonly id: string;
  readonly title: string;
  /** Where it goes wrong. */
  readonly where: "clouds" | "dns" | "setpoint";
  /** What it breaks. */
  readonly does: string;
  /** What to expect. */
  readonly expect: string;
  /** The guard that speaks. */
  readonly guard: string;
  /** What an operator can do. */
  readonly youCan: string;
  /** Where to look, below the organization. */
  readonly look: string;
  readonly run: (world: DemoWorld) => Promise<void>;
}

/** How long trouble with a provider lasts. */
export const troubleSeconds = 60;
