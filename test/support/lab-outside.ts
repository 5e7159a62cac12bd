import { TerminalError } from "../../src/kernel/errors.ts";
import type { Marker } from "../../src/kernel/loop.ts";
import type { AccountIdentity, Page, Provider, ProviderAccount } from "../../src/ports/provider.ts";
import type { AccountRecord } from "../../src/ports/records.ts";

/** What a thing at the lab is made of. The size cannot be changed in place; the beat moves by itself. */
export interface LabContent {
  readonly value: string;
  readonly size: number;
  readonly secret?: string;
  readonly beat?: number;
}

/** One thing as it is outside. Things are replaced whole, so that an older view of them stays as it was. */
export interface LabThing {
  readonly id: string;
  readonly group: string;
  readonly key: string;
  readonly content: LabContent;
  readonly marker: Marker | "none" | { readonly foreign: string };
  readonly lock?: string;
  readonly contains?: number;
}

export type LabCall = "identity" | "claim" | "list" | "zone" | "read" | "create" | "update" | "remove" | "apply";

export type LabChange =
  | { readonly action: "put"; readonly thing: Omit<LabThing, "marker"> }
  | { readonly action: "remove"; readonly id: string };

interface Trouble {
  readonly call: LabCall;
  readonly error: Error | undefined;
  /** The call has its effect and only its answer is lost. */
  readonly after: boolean;
  readonly meanwhile: (() => void | Promise<void>) | undefined;
}

/** The truth of one account at the lab, with the troubles a test asks for. */
export class LabOutside {
  things: readonly LabThing[] = [];
  fingerprint: string;
  sentinel: AccountIdentity["sentinel"];
  readOnly = false;
  pageSize = 100;
  /** Names are unique where the provider says so. */
  uniqueNames = true;
  /** What lists show instead of the truth, while they lag behind. */
  listed: readonly LabThing[] | undefined;
  /** Whether lists show a lock; a read of one thing always does. */
  listsLocks = true;
  readonly calls: LabCall[] = [];
  #troubles: Trouble[] = [];
  #made = 0;

  constructor(fingerprint: string) {
    this.fingerprint = fingerprint;
  }

  /** Values that no batch may have in it. */
  readonly refuses = new Set<string>();

  /** Somebody does something by hand. */
  put(thing: Pick<LabThing, "group" | "key"> & Partial<LabThing>): LabThing {
    const made = { id: this.nextId(), content: { value: "x", size: 1 }, marker: "none" as const, ...thing };
    this.things = [...this.things.filter(({ id }) => id !== made.id), made];
    return made;
  }

  edit(key: string, content: Partial<LabContent>): void {
    this.things = this.things.map((thing) =>
      thing.key === key ? { ...thing, content: { ...thing.content, ...content } } : thing,
    );
  }

  change(key: string, parts: Partial<LabThing>): void {
    this.things = this.things.map((thing) => (thing.key === key ? { ...thing, ...parts } : thing));
  }

  drop(...keys: readonly string[]): void {
    this.things = this.things.filter(({ key }) => !keys.includes(key));
  }

  keys(group?: string): readonly string[] {
    return this.things
      .filter((thing) => group === undefined || thing.group === group)
      .map(({ key }) => key)
      .sort();
  }

  valueOf(key: string): string | undefined {
    return this.things.find((thing) => thing.key === key)?.content.value;
  }

  /** The next call of this sort fails; with `after`, only its answer is lost. */
  fail(call: LabCall, error: Error, options: { readonly after?: boolean; readonly times?: number } = {}): void {
    for (let time = 0; time < (options.times ?? 1); time++)
      this.#troubles.push({ call, error, after: options.after ?? false, meanwhile: undefined });
  }

  /** Something happens elsewhere while the next call of this sort is under way, before it has its effect. */
  meanwhile(call: LabCall, happens: () => void | Promise<void>): void {
    this.#troubles.push({ call, error: undefined, after: false, meanwhile: happens });
  }

  count(...calls: readonly LabCall[]): number {
    return this.calls.filter((call) => calls.includes(call)).length;
  }

  nextId(): string {
    return `thing-${++this.#made}`;
  }

  async call<Answer>(call: LabCall, effect: () => Answer): Promise<Answer> {
    this.calls.push(call);
    const trouble = this.#troubles.find((entry) => entry.call === call);
    this.#troubles = this.#troubles.filter((entry) => entry !== trouble);
    await trouble?.meanwhile?.();
    if (trouble?.error !== undefined && !trouble.after) throw trouble.error;
    const answer = effect();
    if (trouble?.error !== undefined) throw trouble.error;
    return answer;
  }

  page(token: string | undefined): Page<LabThing> {
    const shown = this.shown();
    const from = token === undefined ? 0 : Number(token);
    const entries = shown.slice(from, from + this.pageSize);
    const more = from + this.pageSize < shown.length;
    return { entries, ...(more ? { next: String(from + this.pageSize) } : {}) };
  }

  /** The truth as lists show it. */
  shown(): readonly LabThing[] {
    const shown = this.listed ?? this.things;
    return this.listsLocks ? shown : shown.map(({ lock: _lock, ...thing }) => thing);
  }
}

export interface LabReader {
  get(id: string): Promise<LabThing | undefined>;
  find(group: string, key: string): Promise<LabThing | undefined>;
  zone(group: string): Promise<readonly LabThing[]>;
}

export interface LabWriter {
  create(
    thing: Omit<LabThing, "id"> & { readonly id?: string },
  ): Promise<{ readonly id: string; readonly taken?: LabThing }>;
  update(id: string, content: LabContent, marker: LabThing["marker"]): Promise<void>;
  remove(id: string): Promise<void>;
  apply(changes: readonly LabChange[]): Promise<void>;
}

/** The lab as a provider: whatever account is opened, the truth of that name answers. */
export class LabProvider implements Provider<LabReader, LabWriter> {
  readonly name = "lab";
  readonly callTimeoutMs = 30_000;
  readonly #outside: (account: AccountRecord) => LabOutside;
  readonly settleMs: number;

  constructor(outside: (account: AccountRecord) => LabOutside, settleMs: number) {
    this.#outside = outside;
    this.settleMs = settleMs;
  }

  open(account: AccountRecord): ProviderAccount<LabReader, LabWriter> {
    const outside = () => this.#outside(account);
    return {
      identity: () =>
        outside().call("identity", () => ({ fingerprint: outside().fingerprint, sentinel: outside().sentinel })),
      claim: (sentinel) =>
        outside().call("claim", () => {
          outside().sentinel = sentinel;
        }),
      rights: async () => ({
        write: !outside().readOnly,
        reason: outside().readOnly ? "read-only token" : "may write",
      }),
      collections: { things: (token) => outside().call("list", () => outside().page(token)) },
      reader: readerOf(outside),
      writer: writerOf(outside),
    };
  }
}

function readerOf(outside: () => LabOutside): LabReader {
  return {
    get: (id) => outside().call("read", () => outside().things.find((thing) => thing.id === id)),
    find: (group, key) =>
      outside().call("read", () => outside().things.find((thing) => thing.group === group && thing.key === key)),
    zone: (group) =>
      outside().call("zone", () =>
        outside()
          .shown()
          .filter((thing) => thing.group === group),
      ),
  };
}

function writerOf(outside: () => LabOutside): LabWriter {
  return {
    create: (thing) =>
      outside().call("create", () => {
        const world = outside();
        const taken = world.things.find(({ group, key }) => group === thing.group && key === thing.key);
        if (taken !== undefined && world.uniqueNames) return { id: taken.id, taken };
        return { id: world.put({ ...thing, id: thing.id ?? world.nextId() }).id };
      }),
    update: (id, content, marker) =>
      outside().call("update", () => {
        const thing = outside().things.find((entry) => entry.id === id);
        if (thing === undefined) throw new TerminalError("NOT_FOUND", `there is no ${id}`);
        outside().put({ ...thing, content, marker });
      }),
    remove: (id) =>
      outside().call("remove", () => {
        outside().things = outside().things.filter((thing) => thing.id !== id);
      }),
    apply: (changes) =>
      outside().call("apply", () => {
        const refused = changes.find((one) => one.action === "put" && outside().refuses.has(one.thing.content.value));
        if (refused !== undefined) throw new TerminalError("PROVIDER_REFUSED", "422 one of the values is not allowed");
        for (const change of changes) {
          if (change.action === "put") outside().put({ ...change.thing, marker: "none" });
          else outside().things = outside().things.filter((thing) => thing.id !== change.id);
        }
      }),
  };
}
