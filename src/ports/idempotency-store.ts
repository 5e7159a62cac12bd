import type { Json } from "./json.ts";

/** Whose key it is: a key means nothing for another caller or another tenant. */
export interface IdempotencyScope {
  /** Undefined where the request names no organization. */
  readonly organizationId: string | undefined;
  readonly principal: string;
  readonly key: string;
}

export interface StoredAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined where the answer held a secret: that was shown once. */
  readonly body: Json | undefined;
}

export type BegunRequest =
  | { readonly result: "begun" }
  /** The same key came with another request. */
  | { readonly result: "other-request" }
  | { readonly result: "in-flight" }
  | { readonly result: "answered"; readonly answer: StoredAnswer };

/** Remembers answers, so that a request that is sent twice happens once. */
export interface IdempotencyStore {
  begin(request: {
    readonly scope: IdempotencyScope;
    readonly fingerprint: string;
    /** After this long without an answer somebody else may try: whoever began it has died. */
    readonly forMs: number;
    /** How long an answer counts. */
    readonly keepMs: number;
  }): Promise<BegunRequest>;
  finish(request: { readonly scope: IdempotencyScope; readonly answer: StoredAnswer }): Promise<void>;
  /** Nothing happened: the key may be used again. */
  forget(scope: IdempotencyScope): Promise<void>;
}
