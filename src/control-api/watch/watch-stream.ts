import { thrownMessage } from "../../kernel/errors.ts";
import { can } from "../access/can.ts";
import type { Caller } from "../access/caller.ts";
import type { LabelRequirement, ListRequest } from "../../ports/read-store.ts";
import type { Mode } from "../../ports/records.ts";
import type { ApiContext } from "../context.ts";
import { ResourceDocuments } from "../resource-document.ts";
import type { AnswerStream } from "../route.ts";
import type { ResourceDocument } from "../schemas/resource.ts";
import { type Cursor, cursorText } from "./cursor.ts";
import { isAboutResource, type Notice, type WatchedList, type Watcher } from "./hub.ts";
import { longestLagMs } from "./status-feed.ts";

export interface WatchFilter {
  readonly labels: readonly LabelRequirement[];
  readonly namePrefix: string | undefined;
  readonly mode: Mode | undefined;
}

export interface WatchRequest {
  readonly list: WatchedList;
  readonly filter: WatchFilter;
  /** Undefined: begin with everything there is. */
  readonly from: Cursor | undefined;
  readonly caller: Caller;
  /** The scopes of the list, in which the caller must still be allowed to read. */
  readonly path: readonly string[];
}

export const heartbeatMs = 15_000;
const checkCallerMs = 2_000;
const pageSize = 500;

/**
 * One connection that watches one list. First it catches up: with everything there is, or with what came behind a cursor.
 * Meanwhile it only notes what else happens, and reads that anew afterwards. From then on it is told.
 */
export class WatchStream implements Watcher {
  readonly list: WatchedList;
  readonly #context: ApiContext;
  readonly #request: WatchRequest;
  readonly #stream: AnswerStream;
  /** What happened while catching up; undefined once it is told directly. */
  #noted: Map<string, Notice> | undefined = new Map();
  /** What was read last while catching up: the hub may have read it just before, and tell it just after. */
  readonly #readLast = new Map<string, ResourceDocument>();
  /** Of a filtered list: what is on the reader's side. Undefined when that is not known. */
  readonly #shown: Set<string> | undefined;
  #at: Cursor = { incarnation: 0, position: 0 };
  #sent: Cursor | undefined;

  constructor(context: ApiContext, request: WatchRequest, stream: AnswerStream) {
    this.#context = context;
    this.#request = request;
    this.#stream = stream;
    this.list = request.list;
    this.#shown = request.from === undefined ? new Set() : undefined;
  }

  /** Lasts as long as the connection. */
  async run(): Promise<void> {
    const { watches, log } = this.#context;
    try {
      this.#at = await watches.watch(this);
      const { from } = this.#request;
      await (from === undefined ? this.#sendAll() : this.#sendSince(from, this.#at));
      await this.#goLive();
      await Promise.race([this.#beat(), this.#checkCaller()]);
    } catch (thrown) {
      log.warn("watch.failed", { message: thrownMessage(thrown) });
    } finally {
      watches.leave(this);
      this.#stream.end();
    }
  }

  told(notices: readonly Notice[], cursor: Cursor): void {
    this.#at = cursor;
    for (const notice of notices) {
      if (this.#noted === undefined) this.#send(notice);
      else this.#noted.set(notice.uid, notice);
    }
  }

  end(): void {
    this.#stream.end();
  }

  async #sendAll(): Promise<void> {
    const { organizationId, scope, kind, organization } = this.list;
    const { filter } = this.#request;
    let request: ListRequest | undefined = {
      organizationId,
      scope,
      kind: kind.kind,
      ...filter,
      deleting: undefined,
      ready: undefined,
      drifted: undefined,
      held: undefined,
      sort: "name",
      descending: false,
      after: undefined,
      limit: pageSize,
    };
    while (request !== undefined && !this.#stream.closed.aborted) {
      const { views, next }: Awaited<ReturnType<ApiContext["reads"]["listPage"]>> =
        await this.#context.reads.listPage(request);
      const documents = await new ResourceDocuments(this.#context, organization).documents(kind, views);
      for (const document of documents) this.#sendDocument("ADDED", document, undefined);
      await this.#stream.drained();
      request = next === undefined ? undefined : { ...request, after: next };
    }
  }

  async #sendSince(from: Cursor, until: Cursor): Promise<void> {
    const { organizationId, scope, kind } = this.list;
    let afterPosition = from.position;
    for (let more = true; more && !this.#stream.closed.aborted; ) {
      const range = { organizationId, afterPosition, untilPosition: until.position, limit: pageSize };
      const entries = await this.#context.reads.tailOfTenant(range);
      const ours = entries.filter(
        (entry) => isAboutResource(entry) && entry.scope === scope && entry.kind === kind.kind,
      );
      for (const notice of await this.#context.watches.notices(this.list, ours)) this.#send(notice);
      await this.#stream.drained();
      more = entries.length === pageSize;
      afterPosition = entries.at(-1)?.position ?? afterPosition;
    }
    await this.#sendStatusSince(from);
  }

  /** Status is not in the log: whatever changed since about the time of the cursor is sent again. */
  async #sendStatusSince({ position }: Cursor): Promise<void> {
    const { organizationId, scope, kind } = this.list;
    const atMs = (await this.#context.reads.sealedTimeMs({ organizationId, position })) ?? 0;
    let after = { changedAtMs: atMs - longestLagMs, subjectId: 0 };
    for (let more = kind.loop !== undefined; more && !this.#stream.closed.aborted; ) {
      const request = { organizationId, scope, kind: kind.kind, after, limit: pageSize };
      const rows = await this.#context.reads.changedStatus(request);
      const uids = [...new Set(rows.map(({ uid }) => uid))];
      for (const notice of await this.#context.watches.statusNotices(this.list, uids)) this.#send(notice);
      await this.#stream.drained();
      const last = rows.at(-1);
      if (last !== undefined) after = { changedAtMs: last.changedAtMs, subjectId: last.subjectId };
      more = rows.length === pageSize;
    }
  }

  /** Reads anew what happened meanwhile, until nothing did; then, without waiting for anything, takes what it is told. */
  async #goLive(): Promise<void> {
    for (let noted = this.#noted; noted !== undefined && noted.size > 0; noted = this.#noted) {
      this.#noted = new Map();
      const found = await this.#context.watches.statusNotices(this.list, [...noted.keys()]);
      const there = new Map(found.map((notice) => [notice.uid, notice]));
      for (const [uid, notice] of noted) {
        const now = there.get(uid);
        if (now?.document !== undefined) {
          this.#readLast.set(uid, now.document);
          this.#sendDocument(notice.type === "DELETED" ? "MODIFIED" : notice.type, now.document, undefined);
        } else if (notice.type === "DELETED") this.#send({ ...notice, position: undefined });
      }
    }
    this.#noted = undefined;
    this.#mark("SYNCED");
  }

  #send(notice: Notice): void {
    const { document, position } = notice;
    if (document !== undefined) {
      const last = this.#readLast.get(notice.uid);
      if (last !== undefined && !isAbove(document, last)) return;
      this.#sendDocument(notice.type, document, position);
      return;
    }
    const { uid, revision, name } = notice;
    this.#shown?.delete(uid);
    this.#write("DELETED", { type: "DELETED", uid, revision, name }, position);
  }

  #sendDocument(type: Notice["type"], document: ResourceDocument, position: number | undefined): void {
    const { uid, revision, statusRevision, name } = document.metadata;
    const { filter } = this.#request;
    if (!matches(document, filter)) {
      // It may have been in the list before.
      if (this.#shown !== undefined && !this.#shown.delete(uid)) return;
      this.#write("DELETED", { type: "DELETED", uid, revision, name }, position);
      return;
    }
    const isNew = type !== "ADDED" && this.#shown?.has(uid) === false;
    if (isFiltered(filter)) this.#shown?.add(uid);
    const shownType = isNew && isFiltered(filter) ? "ADDED" : type;
    this.#write(shownType, { type: shownType, uid, revision, statusRevision, object: document }, position);
  }

  #mark(type: "SYNCED" | "BOOKMARK"): void {
    this.#write(type, { type, position: cursorText(this.#at) }, this.#at.position);
  }

  #write(event: string, data: unknown, position: number | undefined): void {
    const { incarnation } = this.#at;
    // Without an id while catching up: what comes behind a position must not seem told before it is.
    const id = position === undefined || this.#isCatchingUp() ? "" : `id: ${cursorText({ incarnation, position })}\n`;
    if (id !== "") this.#sent = { incarnation, position: position ?? 0 };
    this.#stream.write(`event: ${event}\n${id}data: ${JSON.stringify(data)}\n\n`);
  }

  #isCatchingUp(): boolean {
    return this.#noted !== undefined;
  }

  async #beat(): Promise<void> {
    const { closed } = this.#stream;
    while (!closed.aborted) {
      await this.#context.clock.wait(heartbeatMs, closed);
      if (closed.aborted) return;
      if (this.#sent?.position === this.#at.position) this.#stream.write(": still here\n\n");
      else this.#mark("BOOKMARK");
    }
  }

  /** A revoked credential or a role that was taken away ends the watch within seconds. */
  async #checkCaller(): Promise<void> {
    const { closed } = this.#stream;
    const { path, caller } = this.#request;
    while (!closed.aborted) {
      await this.#context.clock.wait(checkCallerMs, closed);
      const now = closed.aborted ? undefined : await this.#context.authenticator.renew(caller);
      if (now === undefined || !can(now, this.list.kind.permission, "read", path).allowed) return;
    }
  }
}

function isFiltered({ labels, namePrefix, mode }: WatchFilter): boolean {
  return labels.length > 0 || namePrefix !== undefined || mode !== undefined;
}

function matches({ metadata }: ResourceDocument, { labels, namePrefix, mode }: WatchFilter): boolean {
  if (namePrefix !== undefined && !metadata.name.startsWith(namePrefix)) return false;
  if (mode !== undefined && metadata.mode !== mode) return false;
  return labels.every(({ key, op, values }) => {
    const value = Object.hasOwn(metadata.labels, key) ? metadata.labels[key] : undefined;
    if (op === "exists" || op === "absent") return (value !== undefined) === (op === "exists");
    return (value !== undefined && values.includes(value)) === (op === "in");
  });
}

/** Revisions of a declaration and of its status each only grow. */
function isAbove(one: ResourceDocument, other: ResourceDocument): boolean {
  const [left, right] = [one.metadata, other.metadata];
  return (
    left.revision > right.revision || (left.revision === right.revision && left.statusRevision > right.statusRevision)
  );
}
