export interface Clock {
  /** Wall time in epoch milliseconds. It may jump, in both directions. */
  nowMs(): number;
  /** Milliseconds that only grow; only differences mean anything. */
  monotonicMs(): number;
  /** Resolves when the time is up or the signal fires, whichever is first. Never rejects. */
  wait(ms: number, signal?: AbortSignal): Promise<void>;
}
