import { hash, timingSafeEqual } from "node:crypto";
import type { Action, Binding, CredentialType } from "../../ports/access.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Caller } from "../access/caller.ts";
import { bearerOf, type Proof, type ProofReader } from "./authenticator.ts";
import { hasTokenPrefix } from "./token-text.ts";

const everything: readonly Action[] = ["read", "create", "update", "delete", "execute"];

/** Whoever operates this machine, and what they may do. */
export const machineOperator: { readonly name: string; readonly bindings: readonly Binding[] } = Object.freeze({
  name: "operator",
  bindings: [
    {
      organizationId: undefined,
      scope: "platform",
      role: "operator of this machine",
      rules: [{ key: "*", actions: everything }],
    },
  ],
});

/**
 * The token in the data directory. Whoever can read that file owns the machine Setpoint runs on, so it stands for the
 * person there and may do everything; the audit trail names it as what was used.
 */
export class OperatorFile implements ProofReader {
  readonly types: readonly CredentialType[] = ["operator-file"];
  readonly #hash: Buffer;
  /** No secret: whoever presents a machine's token learns nothing from not being compared with this one. */
  readonly #hasTokenPrefix: boolean;
  readonly #clock: Clock;

  constructor(token: string, clock: Clock) {
    this.#hash = hashed(token);
    this.#hasTokenPrefix = hasTokenPrefix(token);
    this.#clock = clock;
  }

  /** It lasts as long as this process: another token in the file is read by the next start. */
  async renew(caller: Caller): Promise<Caller> {
    return caller;
  }

  async read(proof: Proof): Promise<Caller | undefined> {
    const presented = bearerOf(proof);
    if (presented === undefined || hasTokenPrefix(presented) !== this.#hasTokenPrefix) return undefined;
    // Hashes first, so that the comparison takes the same time whatever was sent, its length included.
    if (!timingSafeEqual(hashed(presented), this.#hash)) return undefined;
    return {
      principal: { name: machineOperator.name, type: "person" },
      personId: undefined,
      credential: { type: "operator-file", id: "operator.token" },
      bindings: machineOperator.bindings,
      within: undefined,
      provenAtMs: this.#clock.nowMs(),
    };
  }
}

function hashed(text: string): Buffer {
  return hash("sha256", text, "buffer");
}
