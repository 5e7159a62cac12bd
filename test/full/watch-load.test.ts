import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { z } from "zod";
import { defineKind, type Kind } from "../../src/kernel/kind.ts";
import { kinds } from "../../src/kinds/registry.ts";
import { startTestApi, type TestApi, whatever } from "../support/api.ts";
import { query, withUrl } from "../support/postgres.ts";
import { openWatch, type WatchEvent } from "../support/watch-reader.ts";
import { addLab, base, declare, type Engine, status, takeEngine, zone } from "../support/zones.ts";

const writers = 50;
const watchers = 20;
const changesPerWriter = 30;
const zones = 20;
const noteNames = 120;

/** Without subjects and links: what is deleted is gone at once. */
const noteKind = defineKind({
  kind: "Note",
  plural: "notes",
  schema: z.strictObject({ text: z.string() }),
  permission: "project.note",
  scopes: ["organization"],
  modeRequired: false,
  accounts: () => [],
  links: () => [],
  withoutLoop: "a test writes it and reads it",
});

interface Shown {
  readonly revision: number;
  readonly statusRevision: number;
  readonly spec: unknown;
}

/** What one reader has on its screen, by the rule that every reader follows. */
class Screen {
  readonly shown = new Map<string, Shown>();
  readonly #gone = new Map<string, number>();

  see({ data }: WatchEvent): void {
    const { uid, revision = 0, statusRevision = 0, object } = data;
    if (uid === undefined || revision <= (this.#gone.get(uid) ?? 0)) return;
    if (data.type === "DELETED") {
      this.#gone.set(uid, revision);
      this.shown.delete(uid);
      return;
    }
    const known = this.shown.get(uid);
    const isNews =
      known === undefined ||
      revision > known.revision ||
      (revision === known.revision && statusRevision > known.statusRevision);
    if (isNews) this.shown.set(uid, { revision, statusRevision, spec: object?.spec });
  }
}

/** Watches until told to stop, with connections that break. */
class Reader {
  readonly screen = new Screen();
  readonly #url: string;
  readonly #random: () => number;
  #lastId: string | undefined;
  older = 0;
  connections = 0;

  constructor(url: string, random: () => number) {
    this.#url = url;
    this.#random = random;
  }

  async run(over: AbortSignal, breaks: () => boolean): Promise<void> {
    while (!over.aborted) {
      const watch = await openWatch(this.#url, this.#lastId === undefined ? {} : { "last-event-id": this.#lastId });
      assert.equal(watch.status, 200);
      this.connections++;
      over.addEventListener("abort", () => watch.close(), { once: true });
      const inThisOne = new Screen();
      let left = 5 + Math.floor(this.#random() * 120);
      for (;;) {
        const event = await watch.next(() => true);
        if (event === undefined) break;
        this.#countOlder(inThisOne, event);
        this.screen.see(event);
        inThisOne.see(event);
        this.#lastId = event.id ?? this.#lastId;
        if (--left <= 0 && breaks()) watch.close();
      }
    }
  }

  /** The server itself never goes back within one connection: a reader that follows no rule would be right too. */
  #countOlder({ shown }: Screen, { data }: WatchEvent): void {
    const known = data.uid === undefined ? undefined : shown.get(data.uid);
    if (known === undefined || data.type === "DELETED") return;
    const { revision = 0, statusRevision = 0 } = data;
    const isOlder = revision < known.revision || (revision === known.revision && statusRevision < known.statusRevision);
    if (isOlder) this.older++;
  }
}

function randomOf(seed: number): () => number {
  let state = seed >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

async function write(api: TestApi, random: () => number): Promise<void> {
  for (let change = 0; change < changesPerWriter; change++) {
    const name = `note-${Math.floor(random() * noteNames)}`;
    const text = String(Math.floor(random() * 1e9));
    const body = { apiVersion: "setpoint/v1", kind: "Note", metadata: { name }, spec: { text } };
    const path = `${base}/notes/${name}`;
    const what = random();
    const answer =
      what < 0.2
        ? await api.send("DELETE", path, undefined, whatever)
        : what < 0.6
          ? await api.send("PUT", path, body, whatever)
          : await api.send("POST", `${base}/notes`, body);
    assert.ok([200, 201, 202, 404, 409].includes(answer.status), JSON.stringify(answer.body));
  }
}

async function heal(engine: Engine, random: () => number, over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    const result = (["converged", "held", "changed", "failed"] as const)[Math.floor(random() * 4)] ?? "converged";
    const name = `zone-${Math.floor(random() * zones)}`;
    await engine.settle(name, { status: status({ result, message: String(random()) }) });
    await sleep(20);
  }
}

/** A transaction that has written something and does not end, in another database of the same cluster. */
async function leaveTransactionOpen(api: TestApi): Promise<AsyncDisposable> {
  await query(api.url, "create database elsewhere");
  const client = new Client(withUrl(api.url, { database: "elsewhere" }));
  await client.connect();
  await client.query("create table left_open (n integer)");
  await client.query("begin");
  await client.query("insert into left_open values (1)");
  return { [Symbol.asyncDispose]: () => client.end() };
}

async function committed(api: TestApi, plural: string): Promise<ReadonlyMap<string, Shown>> {
  const found = new Map<string, Shown>();
  let next = "";
  do {
    const { body } = await api.send("GET", `${base}/${plural}?pageSize=500${next}`);
    const items = body["items"] as { metadata: Shown & { uid: string }; spec: unknown }[];
    for (const { metadata, spec } of items) {
      const { uid, revision, statusRevision } = metadata;
      found.set(uid, { revision, statusRevision, spec });
    }
    const token = body["nextPageToken"];
    next = typeof token === "string" ? `&pageToken=${token}` : "";
  } while (next !== "");
  return found;
}

test("50 writers and 20 watchers with broken connections: every watcher ends with exactly what is committed", {
  timeout: 180_000,
}, async () => {
  const registry = new Map<string, Kind>([...kinds, ["Note", noteKind]]);
  await using undo = new AsyncDisposableStack();
  const api = undo.use(await startTestApi({ kinds: registry }));
  undo.use(await leaveTransactionOpen(api));
  await addLab(api);
  for (let index = 0; index < zones; index++) await declare(api, zone(`zone-${index}`));
  const engine = await takeEngine(api);
  const origin = await api.app.listen({ host: "127.0.0.1", port: 0 });
  const [writing, over] = [new AbortController(), new AbortController()];
  const sealing = (async () => {
    while (!over.signal.aborted) {
      await api.seal();
      await sleep(10);
    }
  })();
  const plurals = Array.from({ length: watchers }, (_, index) => (index % 2 === 0 ? "notes" : "dnszones"));
  const readers = plurals.map(
    (plural, index) => new Reader(`${origin}${base}/${plural}?watch=true`, randomOf(1_000 + index)),
  );
  const reading = readers.map((reader) => reader.run(over.signal, () => !writing.signal.aborted));
  try {
    const healing = heal(engine, randomOf(7), writing.signal);
    await Promise.all(Array.from({ length: writers }, (_, index) => write(api, randomOf(index + 1))));
    writing.abort();
    await healing;
    for (const [index, reader] of readers.entries()) {
      const wanted = await committed(api, plurals[index] ?? "");
      assert.ok(wanted.size > 0);
      // Only time is waited for here, never another change: nothing may be missing for good.
      for (let wait = 0; wait < 300 && !isSame(reader.screen.shown, wanted); wait++) await sleep(100);
      assert.deepEqual(sorted(reader.screen.shown), sorted(wanted), `watcher ${index} of ${plurals[index]}`);
      assert.equal(reader.older, 0, "no connection was shown something older after something newer");
    }
    assert.ok(readers.reduce((sum, { connections }) => sum + connections, 0) > 2 * watchers, "connections did break");
  } finally {
    writing.abort();
    over.abort();
    await Promise.all([sealing, ...reading]);
  }
});

function isSame(shown: ReadonlyMap<string, Shown>, wanted: ReadonlyMap<string, Shown>): boolean {
  return JSON.stringify(sorted(shown)) === JSON.stringify(sorted(wanted));
}

function sorted(shown: ReadonlyMap<string, Shown>): readonly (readonly [string, Shown])[] {
  return [...shown].sort(([left], [right]) => (left < right ? -1 : 1));
}
