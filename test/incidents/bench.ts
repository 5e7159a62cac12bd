import type { GuardName, Verdict } from "../../src/ports/records.ts";
import type { HeldChange, Span } from "../kit/index.ts";

/** Items by name; what a name and a value become at the provider is the business of the kind under test. */
export type Items = Readonly<Record<string, string>>;

/** How the outside misbehaves. */
export type Fault =
  | "none"
  /** The first page of a list is right, the second answers with an error. */
  | "half-a-list"
  /** The second page names itself as the next one. */
  | "repeated-token"
  /** Every call answers 404. */
  | "not-found"
  /** An adapter that takes 404 for "nothing here": lists are empty and complete, reads say absent. Writes go through. */
  | "nothing-listed"
  /** The credential now leads to somebody else's account. */
  | "another-account";

/** Something done outside through our hands. */
export interface Effect {
  readonly effect: "create" | "update" | "delete";
  readonly account: string;
  readonly key: string;
}

/** A process that stands still between its decision and its permit, with its clocks, as a stopped machine does. */
export interface Suspension {
  /** Whether it has come to the point where it stands still. */
  readonly reached: boolean;
  /** It goes on exactly where it stood. */
  resume(): Promise<void>;
}

/** A set whose number of members follows what they report. */
export interface Autoscaler {
  declare(): Promise<void>;
  /** The last reading, member by member; undefined: the source of readings does not answer. */
  report(loads: Readonly<Record<string, number | undefined>> | undefined): void;
}

/** Everything a script may do and see. A kind that wants to run the scripts implements this. */
export interface IncidentBench extends AsyncDisposable {
  /** The set becomes exactly these items; `main` unless named. Names differ between sets. */
  declare(items: Items, set?: string): Promise<void>;
  pass(span: Span): Promise<void>;
  fault(fault: Fault): void;
  /** What exists at our account. */
  world(): Items;
  /** Everything done outside since the bench began, in order. */
  effects(): readonly Effect[];
  /** Every verdict in the record, in order. */
  verdicts(): readonly Verdict[];
  heldChanges(): readonly HeldChange[];
  /** As a person, exactly what was seen. */
  approve(held: HeldChange): Promise<void>;
  /** How often a person has decided. */
  readonly approvals: number;
  /** Whether every declared set is as declared, by its own status. */
  converged(): boolean;

  /** Our process will stand still when it asks for its next permit to delete. */
  suspendAtNextDelete(): Suspension;
  /** Another process comes up beside ours. */
  startAnother(): void;
  /** The program comes back without the adapter of the kind, and then with it again. */
  uninstall(): Promise<void>;
  install(): Promise<void>;
  /** The program comes back with an adapter of the same name that wants nothing. */
  installIgnorant(): Promise<void>;
  backup(): void;
  /** The backup is put back, and the program comes up on it. */
  restore(): Promise<void>;
  /** What a delete call with an empty name would do, made past every guard. */
  deleteWithoutName(): Promise<void>;
  readonly autoscaler: Autoscaler;
}

export interface BenchSetting {
  /** This guard is taken out of the engine. */
  readonly without?: GuardName;
  /** Delete budgets so wide that they never speak: what protects is the guard under test alone. */
  readonly wide?: boolean;
}

export type MakeBench = (setting: BenchSetting) => Promise<IncidentBench>;

/** One incident that happened elsewhere, as a script. */
export interface Incident {
  readonly title: string;
  /** The guard that must speak, and that the damage needs gone. */
  readonly guard: GuardName;
  readonly arrange: (bench: IncidentBench) => Promise<void>;
  /** The cause, and time for it to do its harm. */
  readonly strike: (bench: IncidentBench) => Promise<void>;
  /** The cause goes away. */
  readonly recover: (bench: IncidentBench) => Promise<void>;
  /** Decisions of a person that recovery takes. */
  readonly approvals: 0 | 1;
  /** What exists outside in the end. */
  readonly ends: Items;
  /** What would have happened without the guard; unless given, the same strike without the guard deletes something. */
  readonly counterproof?: {
    readonly setting?: BenchSetting;
    readonly strike?: (bench: IncidentBench) => Promise<void>;
    readonly harmed?: (effects: readonly Effect[]) => boolean;
  };
}

/** `count` items, `item-01` and so on, with their values. */
export function numbered(count: number, options: { readonly prefix?: string; readonly value?: string } = {}): Items {
  const { prefix = "item", value = "v1" } = options;
  const names = Array.from({ length: count }, (_, index) => `${prefix}-${String(index + 1).padStart(2, "0")}`);
  return Object.fromEntries(names.map((name) => [name, value]));
}

export function without(items: Items, ...names: readonly string[]): Items {
  return Object.fromEntries(Object.entries(items).filter(([name]) => !names.includes(name)));
}
