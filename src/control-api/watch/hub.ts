import { thrownMessage } from "../../kernel/errors.ts";
import type { Kind } from "../../kernel/kind.ts";
import type { ChangedStatus, LogPosition, TailEntry } from "../../ports/read-store.ts";
import type { ApiContext } from "../context.ts";
import { ResourceDocuments } from "../resource-document.ts";
import type { ResourceDocument } from "../schemas/resource.ts";
import type { Cursor } from "./cursor.ts";
import { StatusFeed } from "./status-feed.ts";

/** One list that somebody watches. */
export interface WatchedList {
  readonly organization: string;
  readonly organizationId: string;
  readonly scope: string;
  readonly kind: Kind;
}

/** Something that happened to one resource of a list, with the resource as it was found afterwards. */
export interface Notice {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly uid: string;
  readonly revision: number;
  readonly name: string | undefined;
  /** Undefined for a change of the status, which is not in the log. */
  readonly position: number | undefined;
  /** Undefined when it is gone. */
  readonly document: ResourceDocument | undefined;
}

export interface Watcher {
  readonly list: WatchedList;
  /** Everything up to the position has been told. */
  told(notices: readonly Notice[], cursor: Cursor): void;
  /** The log has become another one, or the process ends. */
  end(): void;
}

/** How soon entries are found that another process has sealed. */
const pollMs = 250;
const batchSize = 500;
const retryMs = 1_000;

/**
 * Follows the log once for all who watch in this process, and tells each what concerns its list. It also tells of changed
 * status, which is not in the log. Nobody watches: nothing is read.
 */
export class WatchHub {
  readonly #context: Pick<ApiContext, "reads" | "kinds" | "clock" | "log">;
  readonly #watchers = new Map<string, Set<Watcher>>();
  readonly #feeds = new Map<string, StatusFeed<ChangedStatus>>();
  #poked = new AbortController();
  #started: Promise<void> | undefined;
  #at: Cursor | undefined;
  #closed = false;
  readonly #ended = new AbortController();

  constructor(context: Pick<ApiContext, "reads" | "kinds" | "clock" | "log">) {
    this.#context = context;
  }

  /** Entries were sealed. Returns at once. */
  poke(): void {
    if (!this.#poked.signal.aborted) this.#poked.abort();
  }

  /** From the answered position on, the watcher is told everything. */
  async watch(watcher: Watcher): Promise<Cursor> {
    const key = keyOf(watcher.list);
    const others = this.#watchers.get(key) ?? new Set();
    others.add(watcher);
    this.#watchers.set(key, others);
    if (!this.#feeds.has(key) && watcher.list.kind.loop !== undefined) this.#feeds.set(key, this.#feed(watcher.list));
    this.#started ??= this.#start();
    await this.#started;
    if (this.#closed || this.#at === undefined) watcher.end();
    return this.#at ?? { incarnation: 0, position: 0 };
  }

  #feed(list: WatchedList): StatusFeed<ChangedStatus> {
    const { reads } = this.#context;
    return new StatusFeed({
      since: (after, limit) => reads.changedStatus({ ...list, kind: list.kind.kind, after, limit }),
      nowMs: async () => (await reads.logPosition()).nowMs,
    });
  }

  leave(watcher: Watcher): void {
    const key = keyOf(watcher.list);
    const others = this.#watchers.get(key);
    others?.delete(watcher);
    if (others?.size !== 0) return;
    this.#watchers.delete(key);
    this.#feeds.delete(key);
  }

  /** Fires when the process is about to end: streams that are not watches of one list end by it too. */
  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  /** Ends every watch; those who come back find the next process. */
  close(): void {
    this.#closed = true;
    this.#ended.abort();
    this.poke();
    for (const watcher of this.#all()) watcher.end();
  }

  async #start(): Promise<void> {
    this.#at = cursorOf(await this.#context.reads.logPosition());
    void this.#follow();
  }

  async #follow(): Promise<void> {
    const { clock, log } = this.#context;
    while (!this.#closed && this.#watchers.size > 0) {
      await clock.wait(pollMs, this.#poked.signal);
      this.#poked = new AbortController();
      try {
        await this.#tellAll();
      } catch (thrown) {
        log.warn("watch.not-read", { message: thrownMessage(thrown) });
        await clock.wait(retryMs);
      }
    }
    // Whoever comes next begins at the end of the log as it is then.
    this.#started = undefined;
    this.#at = undefined;
  }

  async #tellAll(): Promise<void> {
    for (let more = true; more && this.#at !== undefined; ) {
      const entries = await this.#context.reads.tailEntries({ afterPosition: this.#at.position, limit: batchSize });
      const last = entries.at(-1);
      if (last !== undefined && last.incarnation !== this.#at.incarnation) return this.#startOver();
      if (last !== undefined) await this.#tell(entries, { incarnation: last.incarnation, position: last.position });
      more = entries.length === batchSize;
    }
    await this.#tellStatus();
  }

  #startOver(): void {
    for (const watcher of this.#all()) watcher.end();
    this.#at = undefined;
  }

  async #tell(entries: readonly TailEntry[], at: Cursor): Promise<void> {
    const concerned = Map.groupBy(entries.filter(isAboutResource), (entry) => keyOfEntry(entry));
    const told = await Promise.all(
      [...this.#watchers].map(async ([key, watchers]) => {
        const [first] = watchers;
        const about = concerned.get(key) ?? [];
        const notices = first === undefined || about.length === 0 ? [] : await this.notices(first.list, about);
        return { key, notices };
      }),
    );
    // Told at once and to all: nobody joins between two of them.
    this.#at = at;
    for (const { key, notices } of told) for (const watcher of this.#watchers.get(key) ?? []) watcher.told(notices, at);
  }

  async #tellStatus(): Promise<void> {
    const nowMs = this.#context.clock.monotonicMs();
    for (const [key, feed] of this.#feeds) {
      const [first] = this.#watchers.get(key) ?? [];
      const uids = first === undefined ? [] : (await feed.changed(nowMs)).map(({ uid }) => uid);
      if (first === undefined || uids.length === 0) continue;
      const notices = await this.statusNotices(first.list, uids);
      const at = this.#at;
      if (at !== undefined) for (const watcher of this.#watchers.get(key) ?? []) watcher.told(notices, at);
    }
  }

  /** What entries of one list say, each resource once, as it is found now. */
  async notices(list: WatchedList, entries: readonly TailEntry[]): Promise<readonly Notice[]> {
    const last = new Map(entries.flatMap((entry) => (entry.uid === undefined ? [] : [[entry.uid, entry] as const])));
    const there = [...last.values()].filter(({ type }) => type !== "resource.removed");
    const found = await this.#documents(
      list,
      there.map(({ uid = "" }) => uid),
    );
    const added = new Set(entries.filter(({ type }) => type === "resource.created").map(({ uid }) => uid));
    const notices = [...last].flatMap(([uid, entry]): readonly Notice[] => {
      const { position, name } = entry;
      if (entry.type === "resource.removed")
        return [{ type: "DELETED", uid, revision: entry.revision ?? 0, name, position, document: undefined }];
      const document = found.get(uid);
      // Gone by now: what removed it is an entry of its own, and comes.
      if (document === undefined) return [];
      const { revision } = document.metadata;
      return [{ type: added.has(uid) ? "ADDED" : "MODIFIED", uid, revision, name, position, document }];
    });
    return notices.sort((left, right) => (left.position ?? 0) - (right.position ?? 0));
  }

  async statusNotices(list: WatchedList, uids: readonly string[]): Promise<readonly Notice[]> {
    const found = await this.#documents(list, uids);
    return [...found].map(([uid, document]) => {
      const { revision, name } = document.metadata;
      return { type: "MODIFIED", uid, revision, name, position: undefined, document };
    });
  }

  async #documents(list: WatchedList, uids: readonly string[]): Promise<ReadonlyMap<string, ResourceDocument>> {
    const { organizationId, organization, kind } = list;
    const views = await this.#context.reads.resourcesByUid({ organizationId, uids });
    const documents = await new ResourceDocuments(this.#context, organization).documents(kind, views);
    return new Map(documents.map((document) => [document.metadata.uid, document]));
  }

  #all(): readonly Watcher[] {
    return [...this.#watchers.values()].flatMap((watchers) => [...watchers]);
  }
}

function cursorOf({ incarnation, position }: LogPosition): Cursor {
  return { incarnation, position };
}

/** What changes a resource or its life; requests and holds do not. */
export function isAboutResource({ type }: TailEntry): boolean {
  return type.startsWith("resource.");
}

function keyOf({ organizationId, scope, kind }: WatchedList): string {
  return `${organizationId} ${scope} ${kind.kind}`;
}

function keyOfEntry({ organizationId, scope, kind }: TailEntry): string {
  return `${organizationId} ${scope} ${kind}`;
}
