import { AsyncLocalStorage } from "node:async_hooks";
import type { Claim, CycleReport } from "../kernel/claim.ts";
import type { SpanContext, Tracer } from "../ports/tracer.ts";
import type { RunCycle } from "../scheduler/options.ts";

/**
 * Cycles as spans, and which of them a call belongs to. A cycle that found nothing to do and called nobody is counted and not
 * told: there are thousands a second. A listing that many cycles share belongs to the one that began it.
 */
export class CycleSpans {
  readonly #tracer: Tracer;
  readonly #running = new AsyncLocalStorage<RunningCycle>();

  constructor(tracer: Tracer) {
    this.#tracer = tracer;
  }

  /** The cycle in which this is asked; undefined outside of any, and when it ended without having called anybody. */
  current(): SpanContext | undefined {
    const cycle = this.#running.getStore();
    if (cycle === undefined) return undefined;
    if (!cycle.hasEnded) cycle.context ??= this.#tracer.newContext();
    return cycle.context;
  }

  /** The same cycles, each of them told when it has ended. */
  around(run: RunCycle): RunCycle {
    return (engine, claim) => {
      const beganMs = engine.clock.monotonicMs();
      const cycle: RunningCycle = { context: undefined, hasEnded: false };
      const tookMs = () => engine.clock.monotonicMs() - beganMs;
      return this.#running.run(cycle, async () => {
        try {
          const report = await run(engine, claim);
          this.#tell(cycle, { claim, report, tookMs: tookMs() });
          return report;
        } catch (thrown) {
          this.#tell(cycle, { claim, report: undefined, tookMs: tookMs() });
          throw thrown;
        } finally {
          cycle.hasEnded = true;
        }
      });
    };
  }

  #tell({ context }: RunningCycle, { claim, report, tookMs }: EndedCycle): void {
    if (context === undefined && report?.idle === true) return;
    const span = this.#tracer.start(report === undefined ? "cycle" : `cycle ${report.kind}`, {
      kind: "internal",
      context,
      beganMsAgo: tookMs,
      attributes: { "setpoint.trigger": claim.trigger, ...(report === undefined ? {} : attributesOf(report)) },
    });
    const result = report?.result ?? "thrown";
    if (result === "failed" || result === "stalled" || result === "thrown") span.fail(result);
    span.end();
  }
}

interface RunningCycle {
  /** Made when the first call asks for it. */
  context: SpanContext | undefined;
  hasEnded: boolean;
}

interface EndedCycle {
  readonly claim: Claim;
  /** Undefined: it has thrown. */
  readonly report: CycleReport | undefined;
  readonly tookMs: number;
}

function attributesOf({ kind, result, written, held }: CycleReport) {
  return { "setpoint.kind": kind, "setpoint.result": result, "setpoint.written": written, "setpoint.held": held };
}
