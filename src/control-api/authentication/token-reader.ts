import type { Clock } from "../../ports/clock.ts";
import type { CredentialRecord, CredentialStore, TokenType } from "../../ports/credential-store.ts";
import type { Caller } from "../access/caller.ts";
import { Problem } from "../problem.ts";
import { bearerOf, type Proof, type ProofReader } from "./authenticator.ts";
import type { Maker, MakerOf } from "./makers.ts";
import { readTokenText, tokenPrefixes, tokenWords } from "./token-text.ts";
import type { TokenUses } from "./token-uses.ts";

/** What is known of a token is looked up again after this time: a revocation elsewhere counts within it. */
const freshMs = 2_000;
const keptMax = 10_000;

interface Kept {
  readonly hash: string;
  readonly record: CredentialRecord;
  readonly maker: Maker;
  readonly readAtMs: number;
}

/** Reads tokens of machines. Only here a token becomes a caller, and never a person: machines propose, people decide. */
export class TokenReader implements ProofReader {
  readonly types: readonly TokenType[] = ["personal-token", "service-token", "workspace-key", "assistant-token"];
  readonly #store: Pick<CredentialStore, "find">;
  readonly #makerOf: MakerOf;
  readonly #uses: TokenUses;
  readonly #clock: Clock;
  readonly #byHash = new Map<string, Kept>();
  readonly #hashOf = new Map<string, string>();

  constructor(options: {
    readonly store: Pick<CredentialStore, "find">;
    readonly makerOf: MakerOf;
    readonly uses: TokenUses;
    readonly clock: Clock;
  }) {
    this.#store = options.store;
    this.#makerOf = options.makerOf;
    this.#uses = options.uses;
    this.#clock = options.clock;
  }

  async read(proof: Proof): Promise<Caller | undefined> {
    const presented = bearerOf(proof);
    if (presented === undefined) return undefined;
    const text = readTokenText(presented);
    if (text.is === "something-else") return undefined;
    if (text.is === "broken") throw broken(text.type);
    if (text.type === "agent-enrolment") throw enrolmentRefused();
    const kept = await this.#find(text.hash);
    if (typeof kept === "string") throw refused(text.type, kept);
    this.#uses.note(kept.record.id);
    return callerOf(kept);
  }

  async renew(caller: Caller): Promise<Caller | undefined> {
    const hash = this.#hashOf.get(caller.credential.id);
    const kept = hash === undefined ? "unknown" : await this.#find(hash);
    return typeof kept === "string" ? undefined : callerOf(kept);
  }

  /** Somebody revoked it in this process: it counts at once. */
  forget(credentialId: string): void {
    const hash = this.#hashOf.get(credentialId);
    if (hash !== undefined) this.#byHash.delete(hash);
  }

  async #find(hash: string): Promise<Kept | string> {
    const nowMs = this.#clock.monotonicMs();
    const known = this.#byHash.get(hash);
    if (known !== undefined && nowMs - known.readAtMs < Math.min(freshMs, known.record.expiresInMs)) return known;
    this.#byHash.delete(hash);
    const record = await this.#store.find(hash);
    if (record === undefined) return "is not known here";
    if (record.state !== "active") return `is ${record.state}`;
    const maker = await this.#makerOf(record.personId);
    if (maker === undefined) return "has no maker any more: whoever made it has left";
    const kept = { hash, record, maker, readAtMs: nowMs };
    this.#keep(kept);
    return kept;
  }

  #keep(kept: Kept): void {
    this.#byHash.set(kept.hash, kept);
    this.#hashOf.delete(kept.record.id);
    this.#hashOf.set(kept.record.id, kept.hash);
    for (const map of [this.#byHash, this.#hashOf]) {
      const [oldest] = map.keys();
      if (map.size > keptMax && oldest !== undefined) map.delete(oldest);
    }
  }
}

/** What a token does is done in its maker's name: so four eyes cannot be two tokens of the same person. */
function callerOf({ record, maker }: Kept): Caller {
  return {
    principal: { name: maker.name, type: record.type === "assistant-token" ? "assistant" : "machine" },
    personId: record.personId,
    credential: { type: record.type, id: record.id },
    bindings: record.bindings ?? maker.bindings,
    within: record.bindings === undefined ? undefined : maker.bindings,
    provenAtMs: 0,
  };
}

function broken(type: TokenType | undefined): Problem {
  const what =
    type === undefined
      ? `This looks like a token of Setpoint and has a prefix that none has (known: ${Object.values(tokenPrefixes).join(", ")})`
      : `This is meant to be ${tokenWords[type]}, and its checksum is wrong: a letter is missing or changed`;
  return new Problem("UNAUTHENTICATED", `${what}. Copy it once more, or make a new one with: setpoint token create`);
}

function refused(type: TokenType, why: string): Problem {
  return new Problem(
    "UNAUTHENTICATED",
    `This is ${tokenWords[type]}, and it ${why}. Make a new one with: setpoint token create`,
  );
}

function enrolmentRefused(): Problem {
  return new Problem(
    "UNAUTHENTICATED",
    `This is ${tokenWords["agent-enrolment"]}: it lets one agent join its workspace and can call nothing else. Use ${tokenWords["service-token"]} or ${tokenWords["personal-token"]} here: setpoint token create`,
  );
}
