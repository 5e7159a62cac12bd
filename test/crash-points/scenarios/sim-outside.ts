import { RetryableError, TerminalError } from "../../../src/kernel/errors.ts";
import type { Json } from "../../../src/ports/json.ts";
import type { Page, Provider, ProviderAccount } from "../../../src/ports/provider.ts";
import { OutsideAccount, type Thing } from "../../sim/outside/outside.ts";
import type { Entry, SimReader, SimWriter } from "../../sim/outside/sim-api.ts";
import type { Effects } from "../../sim/outside/sim-provider.ts";
import { changeZone } from "../../sim/outside/zone-change.ts";
import { simKinds } from "../../sim/sim-kind.ts";
import { accountId, type PointCall, type ScenarioOutside, tenant } from "../scenario.ts";

const errors = { RetryableError, TerminalError };
const settleMs = 2_000;
const pageSize = 2;

/** The simulation's provider without its own faults: every call is a point, and a stale read is as stale as it may be. */
export class SimOutside implements ScenarioOutside {
  readonly #account: OutsideAccount;
  readonly #nowMs: () => number;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
    this.#account = new OutsideAccount({ id: accountId, organizationId: tenant, settleMs, fingerprint: "thing" });
  }

  canonical(): Json {
    return [...this.#account.things.values()]
      .map(({ group, key, value, size, marker }) => ({ group, key, value, size, marked: typeof marker === "object" }))
      .sort((left, right) => (`${left.group}/${left.key}` < `${right.group}/${right.key}` ? -1 : 1));
  }

  connect(call: PointCall): ReturnType<ScenarioOutside["connect"]> {
    const provider: Provider<SimReader, SimWriter> = {
      name: "outside",
      settleMs,
      callTimeoutMs: 3_000,
      open: () => this.#open(call),
    };
    return { kinds: simKinds(errors), providers: new Map([["outside", provider as Provider]]) };
  }

  #open(call: PointCall): ProviderAccount<SimReader, SimWriter> {
    const account = this.#account;
    return {
      identity: () => call("identity", () => ({ fingerprint: account.fingerprint, sentinel: account.sentinel })),
      claim: (sentinel) =>
        call("claim", () => {
          account.sentinel = sentinel;
        }),
      collections: { items: (token) => call("list", (stale) => this.#page(token ?? "", stale), { reads: true }) },
      reader: {
        get: (id) => call("get", () => entryOf(account.things.get(id))),
        find: (group, key) => call("find", () => entryOf(account.find(group, key))),
        zone: (group) =>
          call("zone", (stale) => this.#view(stale).filter((entry) => entry.group === group), { reads: true }),
      },
      writer: this.#writer(call),
    };
  }

  #view(stale: boolean): readonly Entry[] {
    return this.#account.viewAt(this.#nowMs() - (stale ? settleMs : 0)).flatMap((thing) => entryOf(thing) ?? []);
  }

  #page(afterId: string, stale: boolean): Page<Entry> {
    const rest = this.#view(stale).filter((entry) => entry.id > afterId);
    const entries = rest.slice(0, pageSize);
    return { entries, next: rest.length > entries.length ? entries.at(-1)?.id : undefined };
  }

  #writer(call: PointCall): SimWriter {
    const account = this.#account;
    const effects: Effects = {
      create: (thing) => account.put(thing, this.#nowMs()),
      update: (thing) => account.put(thing, this.#nowMs()),
      remove: (thing) => account.remove(thing.id, this.#nowMs()),
    };
    return {
      create: (caller, { group, key, content, marker }) =>
        call("create", () => {
          // Names are unique here: the second delivery of one create meets the first one's thing.
          const taken = entryOf(account.find(group, key));
          if (taken !== undefined) return { taken };
          const id = account.nextId();
          const none = { lock: undefined, madeFor: caller.uid, lockedAtMs: 0, markedAtMs: 0 };
          effects.create({ id, group, key, ...content, marker, ...none });
          return { id };
        }),
      update: (_caller, id, content, marker) =>
        call("update", () => {
          const thing = account.things.get(id);
          if (thing === undefined) throw new TerminalError("NOT_FOUND", `There is no thing ${id}`);
          effects.update({ ...thing, value: content.value, marker });
        }),
      remove: (_caller, id) =>
        call("remove", () => {
          const thing = account.things.get(id);
          if (thing !== undefined) effects.remove(thing);
        }),
      changeZone: (caller, group, changes) =>
        call("change zone", () => changeZone(errors, account, effects, { uid: caller.uid, group, changes })),
    };
  }
}

function entryOf(thing: Thing | undefined): Entry | undefined {
  if (thing === undefined) return undefined;
  const { id, group, key, value, size, marker, lock } = thing;
  return { id, group, key, value, size, marker, lock };
}
