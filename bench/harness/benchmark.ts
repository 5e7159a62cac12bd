import type { Limit } from "./document.ts";
import type { Progress } from "./progress.ts";

export interface BenchContext {
  /** A smaller size that ends within 50 s. What it measures, it measures; it extrapolates nothing. */
  readonly quick: boolean;
  readonly progress: Progress;
  /** Undone however the run ends. */
  readonly cleanup: AsyncDisposableStack;
}

export interface Benchmark {
  readonly name: string;
  readonly about: string;
  readonly limits: readonly Limit[];
  run(context: BenchContext): Promise<Readonly<Record<string, number>>>;
}
