/** What of the language itself everybody in the process shares. */
const shared: readonly object[] = [
  Object.prototype,
  Array.prototype,
  Function.prototype,
  String.prototype,
  Number.prototype,
  Boolean.prototype,
  Promise.prototype,
  Map.prototype,
  Error.prototype,
  Object,
];

/** Tells whether anything was added to, or taken from, what every object inherits. */
export function watchPrototypes(): () => string | undefined {
  const before = shared.map((each) => Reflect.ownKeys(each).map(String).toSorted().join());
  return () => {
    const changed = shared.findIndex((each, at) => Reflect.ownKeys(each).map(String).toSorted().join() !== before[at]);
    if (changed < 0) return undefined;
    const now = Reflect.ownKeys(shared[changed] ?? {}).map(String);
    return `A prototype was polluted: ${now.filter((key) => !before[changed]?.split(",").includes(key)).join(", ")}`;
  };
}

/** What is in use after everything unreachable was thrown away; undefined where that cannot be asked for. */
export function heapBytes(): number | undefined {
  const collect = (globalThis as { readonly gc?: () => void }).gc;
  if (collect === undefined) return undefined;
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}

export interface HeapSample {
  readonly requests: number;
  readonly bytes: number;
}

/**
 * Bytes that stay behind per 1,000 requests, by a straight line through the second half: in the first half caches fill and
 * code is compiled, which ends by itself.
 */
export function growthPerThousand(samples: readonly HeapSample[]): number {
  const half = samples.slice(Math.floor(samples.length / 2));
  const count = half.length;
  if (count < 2) return 0;
  const mean = (of: (sample: HeapSample) => number) => half.reduce((sum, sample) => sum + of(sample), 0) / count;
  const [meanRequests, meanBytes] = [mean(({ requests }) => requests), mean(({ bytes }) => bytes)];
  const over = half.reduce((sum, { requests, bytes }) => sum + (requests - meanRequests) * (bytes - meanBytes), 0);
  const under = half.reduce((sum, { requests }) => sum + (requests - meanRequests) ** 2, 0);
  return under === 0 ? 0 : (over / under) * 1_000;
}
