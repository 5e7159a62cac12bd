import type { AccountIdentity, AccountRights, Completeness } from "../ports/provider.ts";
import type { Docking } from "./docking.ts";
import type { Json, JsonObject } from "../ports/json.ts";
import type {
  Condition,
  DeclaredResource,
  FieldDifference,
  PartialLimits,
  PublishedSource,
  PublishedValues,
  SourceRef,
} from "../ports/records.ts";

/**
 * The contract an author of a kind learns. The words are those of docs/glossary.md.
 * A loop compares two keyed sets of items: what is wanted, computed from declared resources, and what was seen outside.
 * Everything else (when to look, what may be written, what must wait for a person, what is remembered) is the engine's.
 */
export interface Loop<Spec, Item extends object, Reader = unknown, Writer = unknown> {
  readonly kind: string;
  /** How often to look when nothing is wrong. A wish: the account's call budget decides the real interval. */
  readonly everySeconds: number;
  /** How old a shared listing may be when nothing is wrong and nobody waits; half the interval unless said otherwise. */
  readonly listedWithinSeconds?: number;
  /** An event may be what an operation did at the provider: then a listing that was begun before it will not do. */
  readonly listedAfterEvents?: boolean;
  /**
   * The collection that its outside things are listed in, by the external ids on record (up to a slash). By these an account is
   * known again whose sentinel is gone.
   */
  readonly listedIn?: string;
  /** The kinds this one is computed from, beside its own spec. */
  readonly inputs?: readonly string[];
  /** Stricter or wider defaults for this kind; ceilings of the scopes still apply. */
  readonly limits?: PartialLimits;
  /** How many items of an observation are stored for people and dry runs; 1,000 unless said otherwise. */
  readonly storesItems?: number;
  /**
   * Where its outside things are, in the provider's own words, such as a location. What goes bad there together makes the observer the
   * suspect there, however well the rest of the account is.
   */
  site?(subject: Subject<Spec>): string | undefined;
  /** True when outside things can carry a marker of ours. Then `Seen.marker` is always set, to a marker or to "none". */
  readonly marks?: boolean;
  /**
   * True when this subject claims everything that is there: what a complete look shows and nobody else marked is adopted,
   * and deleted within the guards when nothing wants it.
   */
  claimsAll?(subject: Subject<Spec>): boolean;
  /**
   * The kind of resources that it declares: it has nothing of its own outside, its items are those resources, and what goes
   * outside with one of them is charged there, by the operation that takes it away.
   */
  readonly declares?: string;
  /** It declares what is made at its account: where that is one of the operator's pool, one is claimed for it. Without, it waits for that. */
  docks?(subject: Subject<Spec>): Docking;
  /** True when `remove` uses a server-side precondition (If-Match, RFC 2136 prerequisite): it replaces the last read. */
  readonly removesOnlyAsSeen?: boolean;

  /**
   * What outside is measured for `desired` to weigh, such as the load of members. Asked in cycles alone; where it fails,
   * `desired` is told so, and a dry run has none. Never writes, and is not stored.
   */
  measure?(ctx: MeasureContext<Reader>, subject: Subject<Spec>): Promise<Json>;
  /** The wanted items, each with where it came from; or unknown, which keeps the last good set. Never writes. */
  desired(ctx: DesiredContext, subject: Subject<Spec>): Desired<Item> | Promise<Desired<Item>>;
  /** The items outside, with completeness. Never writes. Absence is concluded from complete observations only. */
  observe(ctx: LookContext<Reader>, subject: Subject<Spec>): Promise<Observation<Item>>;
  /** Reads one thing by its recorded id (or by key, before an id is known). "absent" only when the provider says so. */
  read(ctx: LookContext<Reader>, subject: Subject<Spec>, item: ItemName): Promise<Seen<Item> | "absent">;
  /** Field differences after normalising; empty means converged. */
  same(wanted: Item, seen: Item): readonly FieldDifference[];
  /** The item without fields that change by themselves, so that an approval does not expire by their moving. */
  stable?(item: Item): object;
  /** True when these differences cannot be written in place: the thing is then replaced, which counts as a delete. */
  replaces?(differences: readonly FieldDifference[]): boolean;
  /**
   * Where a replacement is long work: the pipeline that carries it out, and in words what is lost by it. It waits for a person
   * whatever the budgets say, and the loop itself removes and makes nothing: it starts the operation.
   */
  readonly replacement?: { readonly pipeline: string; readonly loses: string };

  /** The key of what is there and must be gone before this can be made; a batch that removes it may make this too. */
  blockedBy?(wanted: Item, there: ReadonlyMap<string, Item>): string | undefined;

  /** Idempotent: a uniqueness error is answered by adopting what carries our marker. Returns the external id. */
  create(
    ctx: WriteContext<Writer>,
    subject: Subject<Spec>,
    wanted: Wanted<Item>,
  ): Promise<{ readonly externalId: string }>;
  update(ctx: WriteContext<Writer>, subject: Subject<Spec>, wanted: Wanted<Item>, seen: Seen<Item>): Promise<void>;
  /** Idempotent: removing what is gone is a success. */
  remove(ctx: WriteContext<Writer>, subject: Subject<Spec>, seen: Seen<Item>): Promise<void>;
  /**
   * What else people should know, asked after a complete look that found nothing to write: it is shown, and decides nothing.
   * Where it fails or takes too long, what it said last stands. Answers that are the same write nothing.
   */
  inspect?(
    ctx: InspectContext<Reader>,
    subject: Subject<Spec>,
    seen: readonly Seen<Item>[],
  ): Promise<Inspection | undefined>;
  /** What other resources may use, by the fields that the kind publishes, from a complete look. A field that is left out is empty. */
  publishes?(seen: readonly Seen<Item>[]): PublishedValues;
  /**
   * Where the provider can change many items in one atomic call: all changes of a cycle, as one call under one permit. External
   * ids by key are answered where a key is not its own.
   */
  apply?(
    ctx: WriteContext<Writer>,
    subject: Subject<Spec>,
    changes: readonly BatchChange<Item>[],
  ): Promise<void | ReadonlyMap<string, string>>;
  /**
   * What belongs together, by key: items with the same answer are always changed in one call. Where the provider refuses a batch
   * for good, the others are then tried without what it refuses. Without this a batch stands or falls as a whole.
   */
  together?(key: string): string;
  /** Whether the provider of this account can do that; without it every one can. Where not, each change is a call for itself. */
  appliesAt?(reader: Reader): boolean;
}

export type ItemName = { readonly key: string; readonly externalId: string | undefined };

export interface Subject<Spec> {
  readonly uid: string;
  readonly name: string;
  readonly scope: string;
  readonly organizationId: string;
  readonly generation: number;
  readonly spec: Spec;
}

export interface Wanted<Item> {
  readonly key: string;
  readonly item: Item;
  /** The resources that declare it; empty means the subject's own resource. */
  readonly sources?: readonly SourceRef[];
}

export type Desired<Item> =
  | {
      readonly known: true;
      readonly items: readonly Wanted<Item>[];
      /** The spec itself says that nothing is wanted. Emptiness without this is suspicious. */
      readonly zero?: boolean;
      /** Values that came from another system's status and went empty: their last good value is kept, marked stale. */
      readonly stale?: readonly { readonly key: string; readonly reason: string }[];
      /** Keys that the declaration itself gives up now, as a group's shrink within what it says: that is a declared delete. */
      readonly covered?: readonly string[];
    }
  | { readonly known: false; readonly reason: string };

/** Who made an outside thing. */
export interface Marker {
  readonly installationId: string;
  readonly resourceUid: string;
}

export interface Seen<Item> {
  readonly key: string;
  readonly externalId: string;
  readonly item: Item;
  /** Required where the loop `marks`. A marker of another owner makes the thing foreign, whatever we recorded. */
  readonly marker?: Marker | "none" | { readonly foreign: string };
  /** A provider-side lock against deletion, in the provider's words. */
  readonly lockedBy?: string;
  /** How many further things of ours go with it when it is deleted (records in a zone). */
  readonly contains?: number;
}

export interface Observation<Item> {
  readonly completeness: Completeness;
  /** Why it is not complete, or how completeness is known. */
  readonly proof: string;
  /** Monotonic time of this process: immune to jumps of the wall clock. */
  readonly startedAtMonotonicMs: number;
  readonly items: readonly Seen<Item>[];
  /** The whole belongs to somebody else, who is named: nothing in it is ours to change. */
  readonly foreign?: string | undefined;
}

export interface Inventory<Entry> {
  readonly completeness: Completeness;
  readonly proof: string;
  readonly startedAtMonotonicMs: number;
  readonly entries: readonly Entry[];
}

export interface InputResource<Spec = unknown> extends Omit<DeclaredResource, "spec"> {
  readonly spec: Spec;
}

export interface DesiredContext {
  /** Declared resources of one of the loop's input kinds that name this subject and are not being deleted, parsed. */
  inputs<Spec>(kind: string): readonly InputResource<Spec>[];
  /** A wanted value that comes from another system's status: empty keeps the last good value of that item, marked stale. */
  lastGood(key: string): unknown;
  /** Keys of the last good set. */
  lastKeys(): readonly string[];
  /** What the resources show of themselves that the inputs refer to. One that shows nothing is not among them. */
  readonly published: readonly PublishedSource[];
  /** Everything of this kind that names the subject: also what is being deleted, and what no longer parses. */
  parts(kind: string): readonly Part[];
  /** What was measured in this cycle, or why there is nothing. */
  readonly measured: Measured;
  /** Keys whose last write failed for good with these very inputs: whoever chooses keys may choose others. */
  readonly stopped: ReadonlySet<string>;
  /** The store's time. */
  readonly nowMs: number;
  /** When the subject last wrote anything. */
  readonly lastWriteAtMs: number | undefined;
}

export interface Part {
  readonly uid: string;
  readonly name: string;
  readonly leaving: boolean;
}

export type Measured =
  | { readonly known: true; readonly value: Json }
  | { readonly known: false; readonly reason: string };

export interface LookContext<Reader> {
  readonly reader: Reader;
  readonly signal: AbortSignal;
  /** What of ours an outside thing would carry. */
  readonly marker: Marker;
  /** A person asked: what a provider kept from an earlier look will not do. */
  readonly fresh: boolean;
  /** The external ids on record for this subject: what has one is its own, whatever it is called and labelled by now. */
  readonly ownIds: ReadonlySet<string>;
  /** What was noted of the thing with this external id when an operation made it; nothing where that is not on record. */
  noted(externalId: string): Readonly<Record<string, string>>;
  /**
   * Declared resources of a kind that name this subject and are not being deleted, as they were read with the subject itself: whole,
   * or the cycle would not run. For loops whose items they are.
   */
  declared(kind: string): { readonly startedAtMonotonicMs: number; readonly resources: readonly DeclaredResource[] };
  /**
   * Lists a collection once per account, shared by all subjects and kinds there. What is only shown, and neither wanted nor ours, may
   * be read more rarely than the loop looks: then it says how old a listing may be, and takes its age for no evidence.
   */
  inventory<Entry>(collection: string, shown?: { readonly withinSeconds: number }): Promise<Inventory<Entry>>;
  /** A read of this subject alone: complete when `read` resolves, failed when it throws. */
  look<Item>(read: (signal: AbortSignal) => Promise<readonly Seen<Item>[]>): Promise<Observation<Item>>;
  /** An observation from an inventory: its completeness and times, the entries of this subject as items. */
  from<Entry, Item>(inventory: Inventory<Entry>, items: readonly Seen<Item>[]): Observation<Item>;
}

export interface MeasureContext<Reader> {
  readonly reader: Reader;
  readonly signal: AbortSignal;
  /** What of ours an outside thing would carry. */
  readonly marker: Marker;
  /** The store's time. */
  readonly nowMs: number;
  /** Declared resources of this kind that name the subject and are not being deleted. */
  parts(kind: string): readonly Part[];
  /** The item that was wanted last under this key: what would leave it is worth a read by its id. */
  lastGood(key: string): unknown;
  inventory<Entry>(collection: string): Promise<Inventory<Entry>>;
  /** A read of the provider: counted and limited like every other one. */
  read<Answer>(what: string, work: (signal: AbortSignal) => Promise<Answer>): Promise<Answer>;
}

export interface InspectContext<Reader> {
  readonly reader: Reader;
  readonly signal: AbortSignal;
  /** The store's time. */
  readonly nowMs: number;
  /** A person asked: what is kept from an earlier look will not do. */
  readonly fresh: boolean;
  /** What it reported last. */
  readonly before: Json | undefined;
  /** The account that it looks at; undefined where it lives at none. */
  readonly account: CredentialQuestions | undefined;
  /** When each item of ours was last written, by its key. */
  writtenAtMs(): ReadonlyMap<string, number>;
  /** A read of the provider: counted and limited like every other one. */
  read<Answer>(what: string, work: (signal: AbortSignal) => Promise<Answer>): Promise<Answer>;
}

/** What the credential of an account is asked while nothing is to be changed. Each question is counted and limited like every read. */
export interface CredentialQuestions {
  /** What the account is known by here; undefined before it was claimed. */
  readonly fingerprint: string | undefined;
  /** Who answers there: an answer that is at most so old, and a new one when a person asked for the look. */
  identity(withinSeconds: number): Promise<AccountIdentity>;
  /**
   * Whether it may write, by a request that cannot succeed; as old as that. Undefined where it is not asked: in observe, while
   * writes are paused, and where the provider cannot tell.
   */
  rights(withinSeconds: number): Promise<AccountRights | undefined>;
}

export interface Inspection {
  /** Shown beside the engine's own while their status is True. */
  readonly conditions: readonly Omit<Condition, "sinceMs">[];
  readonly report: Json;
  /** When to look again, where that is sooner than usual. */
  readonly againInMs?: number | undefined;
}

export interface WriteContext<Writer> {
  readonly writer: Writer;
  readonly signal: AbortSignal;
  /** What an outside thing we make must carry, where it can. */
  readonly marker: Marker;
  /** The subject leaves, and nothing of it is left behind this call. */
  readonly last: boolean;
  /** Declares resources on behalf of this one. */
  readonly children: Children;
}

export type ChildChange =
  | { readonly action: "create" | "update"; readonly name: string; readonly spec: JsonObject }
  /** Only as it was when that was decided. */
  | { readonly action: "delete"; readonly name: string; readonly spec: JsonObject; readonly generation: number };

export interface Children {
  /**
   * All of the changes or none, checked like anybody's (quota, references, organization), in the parent's own scope and at its own
   * account, with the parent as author. What is declared starts the operation that its kind has for it. Answers uids by name.
   */
  change(changes: readonly ChildChange[]): Promise<ReadonlyMap<string, string>>;
}

export type BatchChange<Item> =
  | { readonly action: "create"; readonly wanted: Wanted<Item> }
  | { readonly action: "update" | "replace"; readonly wanted: Wanted<Item>; readonly seen: Seen<Item> }
  | { readonly action: "delete"; readonly seen: Seen<Item> };

export function defineLoop<Spec, Item extends object, Reader = unknown, Writer = unknown>(
  loop: Loop<Spec, Item, Reader, Writer>,
): Loop<Spec, Item, Reader, Writer> {
  return Object.freeze(loop);
}
