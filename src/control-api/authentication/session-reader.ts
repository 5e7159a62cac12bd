import type { CredentialType } from "../../ports/access.ts";
import type { Clock } from "../../ports/clock.ts";
import type { IdentityStore, SessionRecord } from "../../ports/identity-store.ts";
import type { RightsStore } from "../../ports/rights-store.ts";
import type { Caller } from "../access/caller.ts";
import { sessionPrefix, tokenHash } from "../identity/opaque-token.ts";
import { Problem } from "../problem.ts";
import { bearerOf, type Proof, type ProofReader } from "./authenticator.ts";
import { requireSameOrigin } from "./same-origin.ts";
import { tokenInCookie } from "./session-cookie.ts";

export const idleMs = 30 * 60_000;
export const sessionLastsMs = 12 * 3_600_000;
/** Another process may end a session: what was read is believed for this long. */
const believedForMs = 2_000;
const mostEntries = 10_000;

export interface SessionReaderOptions {
  readonly store: Pick<IdentityStore, "session">;
  readonly rights: RightsStore;
  readonly clock: Clock;
  /** Whether people reach this server over TLS alone. */
  readonly onlySecure: boolean;
}

interface Entry {
  readonly readAtMs: number;
  readonly caller: Promise<Caller | undefined>;
}

/** Sessions, in a browser's cookie or as the token of a program. */
export class SessionReader implements ProofReader {
  readonly types: readonly CredentialType[] = ["session"];
  readonly #options: SessionReaderOptions;
  readonly #entries = new Map<string, Entry>();

  constructor(options: SessionReaderOptions) {
    this.#options = options;
  }

  async read(proof: Proof): Promise<Caller | undefined> {
    const token = this.tokenOf(proof);
    if (token === undefined) return undefined;
    if (proof.authorization === undefined) requireSameOrigin(proof.method, proof.headers);
    const hash = tokenHash(token);
    const caller = await this.#kept(hash, () => this.#options.store.session({ tokenHash: hash, idleMs }));
    if (caller !== undefined) return caller;
    throw new Problem(
      "UNAUTHENTICATED",
      "This session has ended. Sign in again, on the sign-in page or with: setpoint auth login",
    );
  }

  /** Watching does not keep a session from idling. */
  async renew(caller: Caller): Promise<Caller | undefined> {
    const { id } = caller.credential;
    return this.#kept(`id ${id}`, () => this.#options.store.session({ id, idleMs }));
  }

  /** A header comes before a cookie: whoever sends one means it. */
  tokenOf(proof: Pick<Proof, "authorization" | "cookie">): string | undefined {
    if (proof.authorization === undefined) return tokenInCookie(proof.cookie, this.#options.onlySecure);
    const bearer = bearerOf(proof as Proof);
    return bearer?.startsWith(sessionPrefix) === true ? bearer : undefined;
  }

  /** After anything that ends sessions or changes what people may do: in this process it holds at once. */
  forget(): void {
    this.#entries.clear();
  }

  async #kept(key: string, find: () => Promise<SessionRecord | undefined>): Promise<Caller | undefined> {
    const nowMs = this.#options.clock.monotonicMs();
    const known = this.#entries.get(key);
    if (known !== undefined && nowMs - known.readAtMs < believedForMs) return known.caller;
    if (this.#entries.size >= mostEntries) this.#entries.clear();
    const caller = find().then((session) => (session === undefined ? undefined : this.#callerOf(session)));
    // What failed is asked again, and not remembered.
    caller.catch(() => this.#entries.delete(key));
    this.#entries.set(key, { readAtMs: nowMs, caller });
    return caller;
  }

  async #callerOf({ id, person, provenForMs }: SessionRecord): Promise<Caller> {
    return {
      principal: { name: person.email, type: "person" },
      personId: person.id,
      credential: { type: "session", id },
      bindings: await this.#options.rights.bindingsOfPerson(person.id),
      within: undefined,
      provenAtMs: this.#options.clock.nowMs() - provenForMs,
    };
  }
}
