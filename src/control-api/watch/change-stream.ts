import { thrownMessage } from "../../kernel/errors.ts";
import { isoTime } from "../../kernel/iso-time.ts";
import type { ChangedStatus, ListName, SealedEntry } from "../../ports/read-store.ts";
import type { Caller } from "../access/caller.ts";
import { can } from "../access/can.ts";
import type { ApiContext } from "../context.ts";
import { mayReadOperation } from "../operation-access.ts";
import { resourceLink } from "../resource-link.ts";
import { readableLists } from "../resources/readable-lists.ts";
import type { AnswerStream } from "../route.ts";
import type { ChangesDocument } from "../schemas/overview.ts";
import type { ResolvedScope } from "../scope.ts";
import { type Cursor, cursorText } from "./cursor.ts";
import { longestLagMs, StatusFeed } from "./status-feed.ts";

export interface ChangesRequest {
  readonly place: ResolvedScope;
  /** Undefined: from now on. */
  readonly from: Cursor | undefined;
  readonly caller: Caller;
}

type Change = ChangedStatus & ListName & { readonly name: string };
type ChangedResource = ChangesDocument["resources"][number];

const everyMs = 1_000;
const checkCallerMs = 2_000;
const heartbeatMs = 5_000;
const namedAtMost = 500;
const entriesAtMost = 500;

/** What a reader must be allowed to see before it is told that one of these changed. */
const keyOfRecord: ReadonlyMap<string, string> = new Map([
  ["held-change", "organization.held_change"],
  ["governance", "organization.held_change"],
  ["proposal", "organization.proposal"],
  ["pause", "organization.pause"],
  ["policy", "organization.policy"],
  ["account", "organization.account"],
  ["webhook", "organization.notification_channel"],
]);

/**
 * One connection that is told of every change in an organization, and only that it happened: whoever shows it reads it, with the
 * rights of then. One connection per reader is enough for any number of kinds and scopes.
 */
export class ChangeStream {
  readonly #context: ApiContext;
  readonly #request: ChangesRequest;
  readonly #stream: AnswerStream;
  #caller: Caller;
  #lists: readonly ListName[] = [];
  #feed: StatusFeed<Change> | undefined;
  #at: Cursor = { incarnation: 0, position: 0 };

  constructor(context: ApiContext, request: ChangesRequest, stream: AnswerStream) {
    this.#context = context;
    this.#request = request;
    this.#stream = stream;
    this.#caller = request.caller;
  }

  /** Lasts as long as the connection. */
  async run(): Promise<void> {
    const { ended } = this.#context.watches;
    const end = () => this.#stream.end();
    ended.addEventListener("abort", end, { once: true });
    try {
      await this.#begin();
      await Promise.race([this.#follow(), this.#checkCaller()]);
    } catch (thrown) {
      const message = thrownMessage(thrown);
      this.#context.log.warn("changes.failed", { message });
    } finally {
      ended.removeEventListener("abort", end);
      this.#stream.end();
    }
  }

  async #begin(): Promise<void> {
    const { reads } = this.#context;
    const { from, place } = this.#request;
    const { organizationId } = place;
    const { incarnation, position, nowMs } = await reads.logPosition();
    this.#at = from ?? { incarnation, position };
    const atMs = from === undefined ? nowMs : await reads.sealedTimeMs({ organizationId, position: from.position });
    this.#lists = await readableLists(this.#context, this.#caller, place);
    const source = {
      since: (after: { readonly changedAtMs: number; readonly subjectId: number }, limit: number) =>
        reads.changedInLists({ organizationId, lists: this.#lists, after, limit }),
      nowMs: async () => (await reads.logPosition()).nowMs,
    };
    this.#feed = new StatusFeed(source, from === undefined ? undefined : (atMs ?? 0) - longestLagMs);
    this.#write("SYNCED", {});
  }

  async #follow(): Promise<void> {
    const { clock } = this.#context;
    const { closed } = this.#stream;
    let toldAtMs = clock.monotonicMs();
    while (!closed.aborted) {
      const changes = await this.#changes();
      const nowMs = clock.monotonicMs();
      if (changes !== undefined) this.#write("CHANGED", changes);
      else if (nowMs - toldAtMs >= heartbeatMs) this.#write("BOOKMARK", {});
      if (changes !== undefined || nowMs - toldAtMs >= heartbeatMs) toldAtMs = nowMs;
      await this.#stream.drained();
      await clock.wait(everyMs, closed);
    }
  }

  async #changes(): Promise<Omit<ChangesDocument, "at"> | undefined> {
    const { reads, clock } = this.#context;
    const { organizationId } = this.#request.place;
    const afterPosition = this.#at.position;
    const entries = await reads.sealedEntries({ organizationId, afterPosition, limit: entriesAtMost });
    const last = entries.at(-1);
    if (last !== undefined) this.#at = { incarnation: last.incarnation, position: last.position };
    const scopesMoved = entries.some(({ type }) => type.startsWith("scope.") || type === "account.created");
    if (scopesMoved) this.#lists = await readableLists(this.#context, this.#caller, this.#request.place);
    const found = new Map<string, ChangedResource>();
    for (const row of (await this.#feed?.changed(clock.monotonicMs())) ?? [])
      found.set(row.uid, this.#named(row, false));
    for (const entry of entries) this.#noteResource(entry, found);
    const records = [...new Set(entries.flatMap((entry) => this.#recordOf(entry)))];
    if (found.size === 0 && records.length === 0) return undefined;
    const truncated = found.size > namedAtMost || entries.length === entriesAtMost;
    return { resources: [...found.values()].slice(0, namedAtMost), records, truncated };
  }

  #noteResource(entry: SealedEntry, found: Map<string, ChangedResource>): void {
    const { uid, type } = entry;
    const data = entry.data as { readonly scope?: string; readonly kind?: string; readonly name?: string } | null;
    if (uid === undefined || !type.startsWith("resource.")) return;
    const { scope, kind, name } = data ?? {};
    if (scope === undefined || kind === undefined || name === undefined) return;
    if (!this.#lists.some((list) => list.scope === scope && list.kind === kind)) return;
    found.set(uid, this.#named({ scope, kind, name }, type === "resource.removed"));
  }

  #named(of: ListName & { readonly name: string }, removed: boolean): ChangedResource {
    const link = resourceLink(this.#context.kinds, this.#request.place.organization, of);
    return { kind: of.kind, name: of.name, link, removed };
  }

  /** The record a log entry is about, where the reader may see such records. */
  #recordOf({ type, data }: SealedEntry): readonly string[] {
    const [record = ""] = type.split(".");
    if (record === "resource") return [];
    if (record === "operation") return this.#readsOperation(data) ? [record] : [];
    const key = keyOfRecord.get(record);
    if (key === undefined) return record === "subject" || record === "guard" ? [record] : [];
    const path = ["platform", `organization/${this.#request.place.organizationId}`];
    return can(this.#caller, key, "read", path).allowed ? [record] : [];
  }

  #readsOperation(data: SealedEntry["data"]): boolean {
    const { kind = "", name = "", scope = "" } = (data ?? {}) as { readonly [field: string]: string | undefined };
    return mayReadOperation(this.#context, this.#caller, this.#request.place.organization, { kind, name, scope });
  }

  #write(event: string, data: object): void {
    const at = isoTime(this.#context.clock.nowMs());
    this.#stream.write(`event: ${event}\nid: ${cursorText(this.#at)}\ndata: ${JSON.stringify({ at, ...data })}\n\n`);
  }

  /** A revoked credential or a role that was taken away ends the stream, or narrows it, within seconds. */
  async #checkCaller(): Promise<void> {
    const { closed } = this.#stream;
    while (!closed.aborted) {
      await this.#context.clock.wait(checkCallerMs, closed);
      const now = closed.aborted ? undefined : await this.#context.authenticator.renew(this.#caller);
      if (now === undefined) return;
      const changed = now.bindings !== this.#caller.bindings;
      this.#caller = now;
      if (changed) this.#lists = await readableLists(this.#context, now, this.#request.place);
    }
  }
}
