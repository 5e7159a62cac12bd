/** What authors of kinds import to try a kind without a database. */
export { Bench, type BenchAccount, type BenchOptions, person, type Span } from "./bench.ts";
export { type ComputeConformance, computeConformance, type ConformanceCheck } from "./compute-conformance.ts";
export { BenchProcess, type ProcessOptions } from "./process.ts";
export type { HeldChange } from "./records.ts";
export { VirtualClock, VirtualTime } from "./virtual-time.ts";
export { MemoryStore } from "../sim/memory-store.ts";
