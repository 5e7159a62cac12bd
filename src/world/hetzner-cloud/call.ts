import type { FaultsInForce } from "../fault-tray.ts";
import type { Route, RouteAnswer } from "../router.ts";
import type { SeededRandom } from "../seeded-random.ts";
import type { Project } from "./project.ts";

/** One request to a project, with what answering it needs. */
export interface Call {
  readonly project: Project;
  readonly params: Readonly<Record<string, string>>;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: string;
  readonly nowMs: number;
  readonly random: SeededRandom;
  readonly faults: FaultsInForce;
  /** How far lists lag behind what was done. */
  readonly listLagMs: number;
  /** The most that a page of a list holds, where that is less than the provider's own most. */
  readonly pageMax: number | undefined;
  /** How long actions take, as a share of the usual time; 0: they are over at once. */
  readonly pace: number;
  nextId(): number;
  nextActionId(): number;
  nextAddress(): number;
}

export type HetznerRoute = Route<Call>;

export type Answer = RouteAnswer;

export const ok = (body: unknown): Answer => ({ status: 200, body });
export const created = (body: unknown): Answer => ({ status: 201, body });
export const gone: Answer = Object.freeze({ status: 204, body: undefined });
