import type { Random } from "../ports/random.ts";
import type { Fault, FaultKind, FaultOf } from "./fault-schema.ts";
import type { WorldTime } from "./table.ts";

export interface PlacedFault {
  readonly id: number;
  readonly placedMs: number;
  readonly struck: number;
  readonly fault: Fault;
}

/** What a fault is aimed at, of one request. */
export interface Target {
  readonly cloud: string;
  readonly account: string | undefined;
  readonly method: string;
  readonly path: string;
}

/** The faults that may strike one request. Each is asked for where it would strike, and counted only there. */
export interface FaultsInForce {
  strike<K extends FaultKind>(kind: K, where?: (fault: FaultOf<K>) => boolean): FaultOf<K> | undefined;
  /** Like `strike`, without counting or chance: for what is shown while a fault is in force. */
  holds<K extends FaultKind>(kind: K, where?: (fault: FaultOf<K>) => boolean): boolean;
}

export const noFaults: FaultsInForce = Object.freeze({ strike: () => undefined, holds: () => false });

/** Where faults are laid and taken away. */
export class FaultTray {
  readonly #time: WorldTime;
  readonly #random: Random;
  #placed: readonly PlacedFault[] = [];
  #lastId = 0;

  constructor(time: WorldTime, random: Random) {
    this.#time = time;
    this.#random = random;
  }

  place(fault: Fault): PlacedFault {
    this.#lastId += 1;
    const placed = { id: this.#lastId, placedMs: this.#time.nowMs, struck: 0, fault };
    this.#placed = [...this.#placed, placed];
    return placed;
  }

  take(id: number): boolean {
    const before = this.#placed.length;
    this.#placed = this.#placed.filter((placed) => placed.id !== id);
    return this.#placed.length < before;
  }

  clear(): void {
    this.#placed = [];
  }

  list(): readonly PlacedFault[] {
    return this.#placed.filter((placed) => this.#inForce(placed));
  }

  get lastId(): number {
    return this.#lastId;
  }

  load(placed: readonly PlacedFault[], lastId: number): void {
    this.#placed = placed;
    this.#lastId = lastId;
  }

  against(target: Target): FaultsInForce {
    const met = this.#placed.filter((placed) => this.#inForce(placed) && meets(placed.fault, target));
    if (met.length === 0) return noFaults;
    const of = <K extends FaultKind>(kind: K, where: ((fault: FaultOf<K>) => boolean) | undefined) =>
      met.filter(
        (placed): placed is PlacedFault & { readonly fault: FaultOf<K> } =>
          placed.fault.kind === kind && (where === undefined || where(placed.fault as FaultOf<K>)),
      );
    return {
      strike: (kind, where) => {
        const striking = of(kind, where).find(
          ({ fault }) => fault.chance === undefined || this.#random.next() < fault.chance,
        );
        if (striking !== undefined) this.#count(striking.id);
        return striking?.fault;
      },
      holds: (kind, where) => of(kind, where).length > 0,
    };
  }

  #inForce({ placedMs, struck, fault }: PlacedFault): boolean {
    const { times, forSeconds } = fault;
    if (times !== undefined && struck >= times) return false;
    return forSeconds === undefined || this.#time.nowMs < placedMs + forSeconds * 1_000;
  }

  #count(id: number): void {
    this.#placed = this.#placed.map((placed) => (placed.id === id ? { ...placed, struck: placed.struck + 1 } : placed));
  }
}

function meets(fault: Fault, target: Target): boolean {
  return (
    (fault.cloud === undefined || fault.cloud === target.cloud) &&
    (fault.account === undefined || fault.account === target.account) &&
    (fault.method === undefined || fault.method === target.method) &&
    (fault.path === undefined || new RegExp(fault.path, "u").test(target.path))
  );
}
