import type { FaultsInForce } from "../fault-tray.ts";
import type { Route, RouteAnswer } from "../router.ts";
import type { SeededRandom } from "../seeded-random.ts";
import type { Contract } from "./contract.ts";

export type Answer = RouteAnswer;

/** One request to a contract, with what answering it needs. */
export interface Call {
  readonly contract: Contract;
  readonly params: Readonly<Record<string, string>>;
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: string;
  /** What every address in an answer begins with. */
  readonly base: string;
  readonly nowMs: number;
  readonly random: SeededRandom;
  readonly faults: FaultsInForce;
  readonly pace: number;
  readonly listLagMs: number;
  /** The most that a page of a list holds, where that is less than the provider's own most. */
  readonly pageMax: number | undefined;
  nextAddress(): number;
}

export type IonosRoute = Route<Call>;

export const ok = (body: unknown): Answer => ({ status: 200, body });

export function newId({ random }: Pick<Call, "random">): string {
  const part = (length: number) => random.text(length, "0123456789abcdef");
  return `${part(8)}-${part(4)}-4${part(3)}-8${part(3)}-${part(12)}`;
}
