import { fnv1a } from "../../../src/kernel/hash.ts";
import type { AccountIdentity, Page, Provider, ProviderAccount } from "../../../src/ports/provider.ts";
import type { AccountRecord } from "../../../src/ports/records.ts";
import { asError } from "../as-error.ts";
import type { SimProcess } from "../process.ts";
import type { Production } from "../production.ts";
import type { SeededRandom } from "../random.ts";
import type { Witness } from "../referee/witness.ts";
import type { Swarm } from "../swarm.ts";
import type { Outside, OutsideAccount, Thing } from "./outside.ts";
import { type BoxWriter, type Entry, lettersOf, recordId, type SimReader, type WriteCall } from "./sim-api.ts";
import { changeZone } from "./zone-change.ts";

interface Walk {
  readonly number: number;
  readonly startedAtMs: number;
  readonly lagMs: number;
  readonly ids: Set<string>;
  readonly contents: Map<string, string>;
  /** Draws what this listing leaves out; undefined when it is honest. */
  readonly omits: number | undefined;
}

/** The provider as one process reaches it. Its faults come from the seed; what it shows and does, the witness sees. */
export class SimProvider implements Provider<SimReader, BoxWriter> {
  readonly name = "sim";
  readonly settleMs: number;
  readonly callTimeoutMs: number;
  /** Switched off for the liveness phase. */
  faulty = true;
  readonly #swarm: Swarm;
  readonly #outside: Outside;
  readonly #process: SimProcess;
  readonly #random: SeededRandom;
  readonly #production: Production;
  readonly #witness: Witness;
  readonly #walks = new Map<number, Walk>();

  constructor(options: {
    readonly swarm: Swarm;
    readonly outside: Outside;
    readonly process: SimProcess;
    readonly production: Production;
    readonly witness: Witness;
  }) {
    this.#swarm = options.swarm;
    this.#outside = options.outside;
    this.#process = options.process;
    this.#random = options.process.random.fork("provider");
    this.#production = options.production;
    this.#witness = options.witness;
    this.settleMs = options.swarm.settleMs;
    this.callTimeoutMs = options.swarm.callTimeoutMs;
  }

  open(account: AccountRecord): ProviderAccount<SimReader, BoxWriter> {
    const { id } = account;
    return {
      identity: () => this.#call(id, "identity", (outside) => this.#identity(outside)),
      claim: (sentinel) =>
        this.#call(id, "claim", (outside) => {
          this.#witness.claims(this.#process, id, sentinel);
          outside.sentinel = sentinel;
        }),
      rights: () =>
        this.#call(id, "rights", () => ({
          write: !this.#outside.connection(id).readOnly,
          reason: "as the provider says",
        })),
      collections: { items: (token) => this.#page(id, token) },
      reader: this.#reader(id),
      writer: this.#writer(id),
    };
  }

  #identity(outside: OutsideAccount): AccountIdentity {
    return { fingerprint: outside.fingerprint, sentinel: outside.sentinel };
  }

  #reader(accountId: string): SimReader {
    const startedAtMs = () => this.#process.world.nowMs;
    return {
      get: (id) => {
        const from = startedAtMs();
        return this.#call(accountId, "get", (outside) => shown(outside.things.get(id)), {
          absentOnNotFound: true,
          learned: (entry) => this.#witness.readOne(this.#process, accountId, id, from, contentOf(entry)),
        });
      },
      find: (group, key) =>
        this.#call(accountId, "find", (outside) => shown(outside.find(group, key)), { absentOnNotFound: true }),
      zone: (group) => {
        const from = startedAtMs();
        return this.#call(accountId, "zone", (outside) => this.#zone(outside, group), {
          learned: (entries) => {
            const ids = new Set(entries.map((entry) => entry.id));
            this.#witness.looked(this.#process, accountId, { startedAtMs: from, ids, group });
          },
        });
      },
    };
  }

  #zone(outside: OutsideAccount, group: string): readonly Entry[] {
    const view = outside.viewAt(this.#process.world.nowMs - this.#lagMs());
    return view.filter((thing) => thing.group === group).map((thing) => entryOf(thing));
  }

  #lagMs(): number {
    const stale = this.faulty && this.#random.chance(this.#swarm.provider.staleList);
    return stale ? this.#random.int(0, this.#swarm.settleMs) : 0;
  }

  /** Some providers show some of their things without the id they gave them. */
  #listed(thing: Thing): Entry {
    const blank = this.faulty && this.#swarm.rare.blankIds && fnv1a(thing.id) % 2 === 0;
    return blank ? { ...entryOf(thing), id: "" } : entryOf(thing);
  }

  #omits(): number | undefined {
    const { omits } = this.#swarm.rare;
    return this.faulty && omits > 0 && this.#random.chance(omits) ? this.#random.next() : undefined;
  }

  #page(accountId: string, token: string | undefined): Promise<Page<Entry>> {
    const walk = this.#walkOf(token);
    const afterId = token?.slice(token.indexOf(":") + 1) ?? "";
    return this.#call(accountId, "list", (outside) => this.#pageOf(outside, walk, token, afterId), {
      learned: (page) => {
        for (const entry of page.entries) {
          walk.ids.add(entry.id);
          walk.contents.set(entry.id, contentOf(entry));
        }
        const { startedAtMs, ids, contents } = walk;
        if (page.next === undefined) this.#witness.looked(this.#process, accountId, { startedAtMs, ids, contents });
      },
    });
  }

  #walkOf(token: string | undefined): Walk {
    const known = token === undefined ? undefined : this.#walks.get(Number(token.slice(0, token.indexOf(":"))));
    if (known !== undefined) return known;
    const number = this.#walks.size + 1;
    const walk = {
      number,
      startedAtMs: this.#process.world.nowMs,
      lagMs: this.#lagMs(),
      ids: new Set<string>(),
      contents: new Map<string, string>(),
      omits: this.#omits(),
    };
    this.#walks.set(number, walk);
    return walk;
  }

  #pageOf(outside: OutsideAccount, walk: Walk, token: string | undefined, afterId: string): Page<Entry> {
    const faults = this.#swarm.provider;
    if (token !== undefined && this.faulty && this.#random.chance(faults.pageError)) {
      throw new this.#production.RetryableError("PROVIDER_UNAVAILABLE", "The next page answered 503", {
        ambiguous: false,
      });
    }
    const view = without(outside.viewAt(this.#process.world.nowMs - walk.lagMs), walk.omits);
    const rest = view.filter((thing) => thing.id > afterId);
    const shownThings = rest.slice(0, this.#swarm.pageSize);
    const entries = shownThings.map((thing) => this.#listed(thing));
    const more = rest.length > entries.length;
    const repeats = token !== undefined && this.faulty && this.#random.chance(faults.repeatedToken);
    const next = repeats ? token : more ? `${walk.number}:${shownThings.at(-1)?.id ?? ""}` : undefined;
    const page: Page<Entry> = { entries, next };
    return this.#swarm.counted ? { ...page, total: view.length } : page;
  }

  #writer(accountId: string): BoxWriter {
    return {
      create: (caller, entry) => {
        const call = callOf(accountId, caller.uid, [{ effect: "create", key: entry.key, id: undefined }]);
        return this.#write(call, (outside, effects) => {
          const taken = this.#swarm.uniqueKeys ? outside.find(entry.group, entry.key) : undefined;
          if (taken !== undefined) return { taken: entryOf(taken) };
          const id = outside.nextId();
          effects.create({
            id,
            group: entry.group,
            key: entry.key,
            ...entry.content,
            marker: entry.marker,
            lock: undefined,
            madeFor: caller.uid,
            lockedAtMs: 0,
            markedAtMs: 0,
          });
          return { id };
        });
      },
      update: (caller, id, content, marker) => {
        const key = this.#outside.answering(accountId).things.get(id)?.key ?? "";
        return this.#write(callOf(accountId, caller.uid, [{ effect: "update", key, id }]), (outside, effects) => {
          const thing = outside.things.get(id);
          if (thing === undefined) throw new this.#production.TerminalError("NOT_FOUND", `There is no thing ${id}`);
          effects.update({ ...thing, value: content.value, marker });
        });
      },
      remove: (caller, id) => {
        const key = this.#outside.answering(accountId).things.get(id)?.key ?? "";
        return this.#write(callOf(accountId, caller.uid, [{ effect: "delete", key, id }]), (outside, effects) => {
          const thing = outside.things.get(id);
          if (thing === undefined) return;
          if (thing.lock !== undefined) {
            throw new this.#production.TerminalError("PROVIDER_REFUSED", `${id} is locked: ${thing.lock}`);
          }
          effects.remove(thing);
        });
      },
      send: this.#sender(accountId),
      changeZone: (caller, group, changes) => {
        const call = callOf(
          accountId,
          caller.uid,
          changes.map(({ action, key }) => ({
            effect: action === "replace" ? "update" : action,
            key: recordId(group, key),
            id: action === "create" ? undefined : recordId(group, key),
          })),
        );
        return this.#write(call, (outside, effects) =>
          changeZone(this.#production, outside, effects, { uid: caller.uid, group, changes }),
        );
      },
    };
  }

  #sender(accountId: string): BoxWriter["send"] {
    return (caller, { group, orderedBy, operationId }) => {
      const call = callOf(accountId, caller.uid, [{ effect: "update", key: "letter", id: undefined }]);
      return this.#write(call, (outside, effects) => {
        if (outside.find(lettersOf(group), orderedBy) !== undefined) return;
        effects.create({
          id: outside.nextId(),
          group: lettersOf(group),
          key: orderedBy,
          value: operationId,
          size: 1,
          marker: "none",
          lock: undefined,
          madeFor: caller.uid,
          lockedAtMs: 0,
          markedAtMs: 0,
        });
      });
    };
  }

  #write<T>(call: WriteCall, handle: (outside: OutsideAccount, effects: Effects) => T): Promise<T> {
    const started = this.#witness.writeStarts(this.#process, call);
    return this.#call(
      call.accountId,
      "write",
      (outside) => {
        const { nowMs } = this.#process.world;
        return handle(outside, {
          create: (thing) => {
            this.#witness.effect(started, outside, { effect: "create", thing });
            outside.put(thing, nowMs);
          },
          update: (thing) => {
            this.#witness.effect(started, outside, { effect: "update", thing });
            outside.put(thing, nowMs);
            const insisted = outside.rivals.get(thing.id)?.value;
            if (insisted !== undefined) outside.put({ ...thing, value: insisted }, nowMs);
          },
          remove: (thing) => {
            this.#witness.effect(started, outside, { effect: "delete", thing });
            outside.remove(thing.id, nowMs);
          },
        });
      },
      { writes: true },
    );
  }

  /** One call: it arrives, something happens or not, and an answer comes back or not. */
  #call<T>(
    accountId: string,
    label: string,
    handle: (outside: OutsideAccount) => T,
    options: {
      readonly writes?: boolean;
      readonly absentOnNotFound?: boolean;
      readonly learned?: (answer: T) => void;
    } = {},
  ): Promise<T> {
    const { world } = this.#process;
    const faults = this.#swarm.provider;
    const hangs = this.faulty && this.#random.chance(faults.hang);
    const arrivesInMs = this.#random.int(
      1,
      Math.min(hangs ? this.callTimeoutMs : faults.slowestMs, this.callTimeoutMs - 1),
    );
    return new Promise((resolve, reject) => {
      const answer = (run: () => void) => {
        if (hangs && this.#random.chance(0.5)) return;
        const delayMs = hangs ? this.callTimeoutMs * 2 : this.#random.int(0, faults.slowestMs >> 1);
        world.schedule(delayMs, label, run, { owner: this.#process });
      };
      const arrive = () => {
        try {
          const trouble = this.#trouble(accountId, options);
          if (trouble === "absent") return answer(() => resolve(undefined as T));
          const value = handle(this.#outside.answering(accountId));
          if (this.faulty && this.#random.chance(faults.lostAnswer)) throw this.#lost();
          world.onStep?.(`  ${this.#process.name} ${accountId} ${label} -> ${JSON.stringify(value)}`);
          answer(() => {
            options.learned?.(value);
            resolve(value);
          });
        } catch (thrown) {
          world.onStep?.(`  ${this.#process.name} ${accountId} ${label} -> ${String(thrown)}`);
          answer(() => reject(asError(thrown)));
        }
      };
      world.schedule(arrivesInMs, `${label} arrives`, arrive, { sender: this.#process });
    });
  }

  #lost(): Error {
    return new this.#production.RetryableError("TIMED_OUT", "The connection was lost before the answer came", {
      ambiguous: true,
    });
  }

  /** What stops a call before it does anything. */
  #trouble(accountId: string, options: { readonly writes?: boolean; readonly absentOnNotFound?: boolean }) {
    const { RetryableError, TerminalError } = this.#production;
    const connection = this.#outside.connection(accountId);
    const waitMs = connection.throttle.take(this.#process.world.nowMs);
    if (waitMs > 0) {
      throw new RetryableError("RATE_LIMITED", "429 too many requests", { afterMs: waitMs, ambiguous: false });
    }
    if (connection.notFound) {
      if (options.absentOnNotFound === true) return "absent";
      throw new TerminalError("NOT_FOUND", "404 not found");
    }
    if (options.writes === true && connection.readOnly) {
      throw new TerminalError("CREDENTIAL_REFUSED", "403 this credential may only read");
    }
    if (this.faulty && this.#random.chance(this.#swarm.provider.errorBefore)) {
      throw new RetryableError("PROVIDER_UNAVAILABLE", "502 bad gateway", { ambiguous: true });
    }
    return undefined;
  }
}

/** How a write reaches the truth: each effect is witnessed before it happens. */
export interface Effects {
  create(thing: Thing): void;
  update(thing: Thing): void;
  remove(thing: Thing): void;
}

function callOf(accountId: string, uid: string, changes: WriteCall["changes"]): WriteCall {
  return { accountId, uid, changes };
}

/** What a listing left out, every one of its pages leaves out, and its count says nothing of it. */
function without(view: readonly Thing[], draw: number | undefined): readonly Thing[] {
  if (draw === undefined) return view;
  const at = Math.floor(draw * view.length);
  return view.filter((_thing, index) => index !== at);
}

function contentOf(entry: Entry | undefined): string {
  return entry === undefined ? "" : `${entry.value} ${entry.size}`;
}

function shown(thing: Thing | undefined): Entry | undefined {
  return thing === undefined ? undefined : entryOf(thing);
}

function entryOf({ id, group, key, value, size, marker, lock }: Thing): Entry {
  return { id, group, key, value, size, marker, lock };
}
