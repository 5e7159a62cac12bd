import { constants } from "node:os";

/**
 * Runs work with a stack of things to undo, and undoes them however it ends: by itself, by an error, by Ctrl-C or by
 * a request to stop. A second signal does not cut the cleaning short, because what it leaves behind is a server.
 */
export async function withCleanup<Result>(work: (cleanup: AsyncDisposableStack) => Promise<Result>): Promise<Result> {
  const cleanup = new AsyncDisposableStack();
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  let stopping: Promise<void> | undefined;
  const stop = (signal: NodeJS.Signals) => {
    stopping ??= cleanup
      .disposeAsync()
      .catch(reportCleanup)
      .finally(() => process.exit(128 + constants.signals[signal]));
  };
  for (const signal of signals) process.on(signal, stop);
  try {
    return await work(cleanup);
  } catch (thrown) {
    // Work that was cut off by the cleaning fails in ways that say nothing; the signal is the reason.
    if (stopping !== undefined) await stopping;
    throw thrown;
  } finally {
    await (stopping ?? cleanup.disposeAsync());
    for (const signal of signals) process.off(signal, stop);
  }
}

function reportCleanup(thrown: unknown): void {
  process.stderr.write(`Cleaning up failed: ${thrown instanceof Error ? thrown.message : String(thrown)}\n`);
}
