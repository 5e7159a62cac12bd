import type { CredentialType } from "../../ports/access.ts";
import type { Caller } from "../access/caller.ts";
import { Problem } from "../problem.ts";

/** What of a request can prove who sent it. */
export interface Proof {
  readonly authorization: string | undefined;
  readonly cookie: string | undefined;
  readonly method: string;
  /** `Origin`, `Sec-Fetch-Site` and `Host`: a browser sends cookies for requests that other sites made. */
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** One way to prove who one is. Undefined: this proof is not of its kind; a wrong proof of its kind throws. */
export interface ProofReader {
  /** The credentials it reads; whoever it answers with carries one of them. */
  readonly types: readonly CredentialType[];
  read(proof: Proof): Promise<Caller | undefined>;
  /** The caller with the rights of now. Undefined: revoked, expired or ended since. */
  renew(caller: Caller): Promise<Caller | undefined>;
  /** A credential was ended in this process: whatever is remembered of it no longer counts. */
  forget?(credentialId: string): void;
}

/** Who sent a request. The first reader that knows the kind of proof decides. */
export class Authenticator {
  readonly #readers: readonly ProofReader[];

  constructor(readers: readonly ProofReader[]) {
    this.#readers = readers;
  }

  async authenticate(proof: Proof): Promise<Caller> {
    for (const reader of this.#readers) {
      const caller = await reader.read(proof);
      if (caller !== undefined) return caller;
    }
    const what = proof.authorization === undefined ? "This needs you to sign in" : "This token is not known here";
    throw new Problem(
      "UNAUTHENTICATED",
      `${what}: sign in with "setpoint auth login", or send "Authorization: Bearer …" with a token of yours`,
    );
  }

  /**
   * Who a caller is by now: for answers that go on, such as a watch, which ask again every other second. Undefined ends
   * them, because the credential is no longer good; a caller with fewer rights is held to those.
   */
  async renew(caller: Caller): Promise<Caller | undefined> {
    const reader = this.#readers.find(({ types }) => types.includes(caller.credential.type));
    const renewed = await reader?.renew(caller);
    return renewed === undefined ? undefined : { ...renewed, principal: caller.principal };
  }

  /** To be called after a revocation, so that it counts here at once and elsewhere within seconds. */
  forget(credentialId: string): void {
    for (const reader of this.#readers) reader.forget?.(credentialId);
  }
}

/** The token of an `Authorization: Bearer` header. */
export function bearerOf(proof: Proof): string | undefined {
  return /^Bearer ([\x21-\x7e]{1,512})$/i.exec(proof.authorization ?? "")?.[1];
}
