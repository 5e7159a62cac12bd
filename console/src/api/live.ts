import type { QueryClient } from "@tanstack/react-query";
import { base, keys } from "./queries.ts";
import type { ChangesDocument } from "./types.ts";

export type LiveState = { readonly connected: boolean; readonly heardAtMs: number };

/** What changes within this time is read again together. */
const gatherMs = 250;
/** After everything that changed was read again there is a rest: at least this long, and twice as long as the reading took. */
const restMs = 1_000;
/**
 * Heartbeats come every 5 s. Where nothing at all comes for longer, the connection is dead and the browser has not noticed: the machine
 * slept, or something on the way forgot it.
 */
const silentAtMostMs = 20_000;
const checkEveryMs = 5_000;
/** Of a list; one of which more was read is read anew when it is next opened. */
export const pagesKeptLive = 5;

/**
 * The one stream of an organization: it says what changed, and what was read about that becomes old. The browser goes on where the
 * stream broke; where that is not possible any more, everything is read again. What could not be read while nobody answered is read
 * again as soon as the stream is back.
 */
export class LiveConnection {
  readonly #client: QueryClient;
  readonly #organization: string;
  readonly #tell: (state: LiveState) => void;
  #source: EventSource | undefined;
  #closed = false;
  #heardAtMs = Date.now();
  #openedAtMs = Date.now();
  /** What must be read again with the next word of the stream, because it was away. */
  #missed: "nothing" | "failures" | "everything" = "nothing";
  readonly #watch: ReturnType<typeof setInterval>;
  #noted: ChangesDocument[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #restsUntilMs = 0;

  constructor(client: QueryClient, organization: string, tell: (state: LiveState) => void) {
    this.#client = client;
    this.#organization = organization;
    this.#tell = tell;
    this.#open();
    this.#watch = setInterval(() => this.#checkSilence(), checkEveryMs);
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#watch);
    this.#source?.close();
    clearTimeout(this.#timer);
  }

  #open(): void {
    const source = new EventSource(`${base(this.#organization)}/changes`);
    this.#source = source;
    this.#openedAtMs = Date.now();
    for (const type of ["SYNCED", "BOOKMARK"]) source.addEventListener(type, () => this.#heard());
    source.addEventListener("CHANGED", (event: MessageEvent<string>) => {
      this.#heard();
      this.#note(JSON.parse(event.data) as ChangesDocument);
    });
    source.addEventListener("error", () => {
      this.#tell({ connected: false, heardAtMs: this.#heardAtMs });
      if (this.#missed === "nothing") this.#missed = "failures";
      // While it is connecting the browser tries by itself; closed means that the cursor or the session is gone.
      if (source.readyState === EventSource.CLOSED && !this.#closed) setTimeout(() => this.#begin(), 2_000);
    });
  }

  /** From the beginning: what changed meanwhile is not told. */
  #begin(): void {
    if (this.#closed) return;
    this.#missed = "everything";
    this.#open();
  }

  #checkSilence(): void {
    if (Date.now() - Math.max(this.#heardAtMs, this.#openedAtMs) < silentAtMostMs) return;
    this.#source?.close();
    this.#begin();
  }

  #heard(): void {
    this.#heardAtMs = Date.now();
    this.#tell({ connected: true, heardAtMs: this.#heardAtMs });
    const missed = this.#missed;
    this.#missed = "nothing";
    if (missed === "nothing") return;
    void this.#client.invalidateQueries({ predicate: ({ state }) => state.status === "error" });
    if (missed === "everything")
      void this.#client.invalidateQueries({ queryKey: keys.organization(this.#organization) });
  }

  #note(changes: ChangesDocument): void {
    this.#noted.push(changes);
    this.#timer ??= setTimeout(() => void this.#catchUp(), Math.max(gatherMs, this.#restsUntilMs - Date.now()));
  }

  /** However much changes, the page reads for a third of the time at most; it is the person in front of it who has the rest. */
  async #catchUp(): Promise<void> {
    const startedMs = Date.now();
    await this.#readAgain(this.#noted.splice(0));
    this.#restsUntilMs = Date.now() + Math.max(restMs, 2 * (Date.now() - startedMs));
    this.#timer = undefined;
    const [next, ...others] = this.#noted.splice(0);
    if (next === undefined || this.#closed) return;
    this.#noted = others;
    this.#note(next);
  }

  /** A list of which much was read is not read anew for every change; it is marked as old, and read when it is next opened. */
  async #readLists(): Promise<void> {
    const queryKey = keys.record(this.#organization, "resources");
    const isLong = ({ state }: { readonly state: { readonly data: unknown } }) =>
      ((state.data as { readonly pages?: readonly unknown[] } | undefined)?.pages?.length ?? 0) > pagesKeptLive;
    await Promise.all([
      this.#client.invalidateQueries({ queryKey, predicate: (one) => !isLong(one) }),
      this.#client.invalidateQueries({ queryKey, predicate: isLong, refetchType: "none" }),
    ]);
  }

  async #readAgain(noted: readonly ChangesDocument[]): Promise<void> {
    const organization = this.#organization;
    if (noted.some(({ truncated }) => truncated)) {
      await this.#client.invalidateQueries({ queryKey: keys.organization(organization) });
      return;
    }
    // Whatever counts or lists resources follows every change.
    const always = ["figures", "pending", "drift", "activity", "held-change"];
    const named = noted.flatMap(({ records }) => records.map((name) => (name === "governance" ? "held-change" : name)));
    const links = new Set(noted.flatMap(({ resources }) => resources.map(({ link }) => link)));
    await Promise.all([
      ...[...new Set([...always, ...named])].map((record) =>
        this.#client.invalidateQueries({ queryKey: keys.record(organization, record) }),
      ),
      this.#client.invalidateQueries({
        queryKey: keys.record(organization, "object"),
        predicate: ({ queryKey }) => links.has(String(queryKey[3])),
      }),
      this.#client.invalidateQueries({ queryKey: ["loops"] }),
      this.#readLists(),
    ]);
  }
}
