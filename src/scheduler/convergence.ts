import type { CycleReport } from "../kernel/claim.ts";

/** Above this many open questions the newest are not timed: the metric may lose samples, the process may not grow. */
const OPEN_MAX = 100_000;

/** Times from the first reason a subject had to change until nothing was left to do. Only subjects that are under way are here. */
export class Convergence {
  readonly #sinceMs = new Map<number, number>();

  /** A person, an event or a first look wants something of the subject. */
  begin(id: number, sinceMs: number): void {
    if (this.#sinceMs.has(id) || this.#sinceMs.size >= OPEN_MAX) return;
    this.#sinceMs.set(id, sinceMs);
  }

  /** Milliseconds it took, when this report ends it. */
  end(report: CycleReport, nowMs: number): number | undefined {
    const sinceMs = this.#sinceMs.get(report.subjectId);
    if (sinceMs === undefined || report.dueAgain) return undefined;
    if (report.result === "observing") this.#sinceMs.delete(report.subjectId);
    if (!isConverged(report)) return undefined;
    this.#sinceMs.delete(report.subjectId);
    return nowMs - sinceMs;
  }

  forget(id: number): void {
    this.#sinceMs.delete(id);
  }
}

function isConverged(report: CycleReport): boolean {
  if (report.result === "converged" || report.result === "gone") return true;
  const { create, delete: remove, replace, update } = report.sizes;
  return report.result === "changed" && report.held === 0 && report.written >= create + update + replace + remove;
}
