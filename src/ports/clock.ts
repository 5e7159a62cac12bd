/** What may end a wait before its time. An `AbortSignal` is one. */
export interface WaitSignal {
  readonly aborted: boolean;
  addEventListener(type: "abort", listener: () => void, options?: { readonly once: true }): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

export interface Clock {
  /** Wall time in epoch milliseconds. It may jump, in both directions. */
  nowMs(): number;
  /** Milliseconds that only grow; only differences mean anything. */
  monotonicMs(): number;
  /** Resolves when the time is up or the signal fires, whichever is first. Never rejects. */
  wait(ms: number, signal?: WaitSignal): Promise<void>;
}
