import type { QueryClient } from "@tanstack/react-query";
import { base, keys } from "./queries.ts";
import type { ChangesDocument } from "./types.ts";

export type LiveState = { readonly connected: boolean; readonly heardAtMs: number };

/** Lists are read again at most this often, however much changes. */
const restMs = 1_000;
const pagesKeptLive = 5;

/**
 * The one stream of an organization: it says what changed, and what was read about that becomes old. The browser goes on where the
 * stream broke; where that is not possible any more, everything is read again.
 */
export class LiveConnection {
  readonly #client: QueryClient;
  readonly #organization: string;
  readonly #tell: (state: LiveState) => void;
  #source: EventSource | undefined;
  #closed = false;
  #heardAtMs = Date.now();
  #noted: ChangesDocument[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(client: QueryClient, organization: string, tell: (state: LiveState) => void) {
    this.#client = client;
    this.#organization = organization;
    this.#tell = tell;
    this.#open();
  }

  close(): void {
    this.#closed = true;
    this.#source?.close();
    clearTimeout(this.#timer);
  }

  #open(): void {
    const source = new EventSource(`${base(this.#organization)}/changes`);
    this.#source = source;
    for (const type of ["SYNCED", "BOOKMARK"]) source.addEventListener(type, () => this.#heard());
    source.addEventListener("CHANGED", (event: MessageEvent<string>) => {
      this.#heard();
      this.#note(JSON.parse(event.data) as ChangesDocument);
    });
    source.addEventListener("error", () => {
      this.#tell({ connected: false, heardAtMs: this.#heardAtMs });
      // While it is connecting the browser tries by itself; closed means that the cursor or the session is gone.
      if (source.readyState === EventSource.CLOSED && !this.#closed) setTimeout(() => this.#begin(), 2_000);
    });
  }

  #begin(): void {
    if (this.#closed) return;
    void this.#client.invalidateQueries({ queryKey: keys.organization(this.#organization) });
    this.#open();
  }

  #heard(): void {
    this.#heardAtMs = Date.now();
    this.#tell({ connected: true, heardAtMs: this.#heardAtMs });
  }

  #note(changes: ChangesDocument): void {
    this.#noted.push(changes);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#forget(this.#noted.splice(0));
    }, restMs / 4);
  }

  /** A list of which much was read is not read anew for every change; it is marked as old, and read when it is next opened. */
  #forgetLists(): void {
    const queryKey = keys.record(this.#organization, "resources");
    const isLong = ({ state }: { readonly state: { readonly data: unknown } }) =>
      ((state.data as { readonly pages?: readonly unknown[] } | undefined)?.pages?.length ?? 0) > pagesKeptLive;
    void this.#client.invalidateQueries({ queryKey, predicate: (one) => !isLong(one) });
    void this.#client.invalidateQueries({ queryKey, predicate: isLong, refetchType: "none" });
  }

  #forget(noted: readonly ChangesDocument[]): void {
    const organization = this.#organization;
    if (noted.some(({ truncated }) => truncated)) {
      void this.#client.invalidateQueries({ queryKey: keys.organization(organization) });
      return;
    }
    const stale = (record: string) =>
      void this.#client.invalidateQueries({ queryKey: keys.record(organization, record) });
    for (const record of new Set(noted.flatMap(({ records }) => records))) {
      stale(record === "governance" ? "held-change" : record);
    }
    const links = new Set(noted.flatMap(({ resources }) => resources.map(({ link }) => link)));
    for (const link of links)
      void this.#client.invalidateQueries({ queryKey: [...keys.record(organization, "object"), link] });
    // Whatever counts or lists resources follows every change.
    for (const record of ["figures", "pending", "drift", "activity", "held-change"]) stale(record);
    this.#forgetLists();
    void this.#client.invalidateQueries({ queryKey: ["loops"] });
  }
}
