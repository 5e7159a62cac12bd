import type { WorldRequest } from "./exchange.ts";

export type Access = "read-write" | "read";

export interface Token {
  readonly token: string;
  readonly account: string;
  readonly access: Access;
}

/** The token of an account of a world: made of its name, since it opens nothing that is worth a secret. */
export function worldToken(account: string, access: Access = "read-write"): string {
  return `${access === "read" ? "ro" : "rw"}${account}`.padEnd(64, "0");
}

/** The accounts of a cloud, and which token opens which. */
export class AccountBook<A> {
  readonly #make: (name: string) => A;
  #accounts = new Map<string, A>();
  #tokens = new Map<string, Token>();

  constructor(make: (name: string) => A) {
    this.#make = make;
  }

  names(): readonly string[] {
    return [...this.#accounts.keys()];
  }

  all(): readonly A[] {
    return [...this.#accounts.values()];
  }

  find(name: string): A | undefined {
    return this.#accounts.get(name);
  }

  get(name: string): A {
    const account = this.#accounts.get(name);
    if (account === undefined) throw new Error(`There is no account "${name}" in this world.`);
    return account;
  }

  /** An account with a token that may write and one that may not. */
  add(name: string): void {
    this.#accounts.set(name, this.#make(name));
    for (const access of ["read-write", "read"] as const) {
      this.addToken({ token: worldToken(name, access), account: name, access });
    }
  }

  tokens(): readonly Token[] {
    return [...this.#tokens.values()];
  }

  addToken(token: Token): void {
    this.get(token.account);
    this.#tokens.set(token.token, token);
  }

  revokeToken(token: string): boolean {
    return this.#tokens.delete(token);
  }

  /** Whose request it is: by a bearer token, or by one given as a password. */
  tokenOf({ headers }: WorldRequest): Token | undefined {
    const [, scheme = "", given = ""] = /^(Bearer|Basic) (\S+)$/i.exec(headers["authorization"] ?? "") ?? [];
    if (scheme.toLowerCase() === "bearer") return this.#tokens.get(given);
    const [, password = ""] = Buffer.from(given, "base64").toString("utf8").split(/:(.*)/s);
    return this.#tokens.get(password);
  }

  load(accounts: ReadonlyMap<string, A>, tokens: readonly Token[]): void {
    this.#accounts = new Map(accounts);
    this.#tokens = new Map(tokens.map((token) => [token.token, token]));
  }
}
