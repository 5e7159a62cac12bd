import type { Cast } from "./actors/cast.ts";
import type { Crew } from "./actors/crew.ts";
import { type Operator, unconverged } from "./actors/operator.ts";
import { Violation } from "./referee/witness.ts";

const patienceMs = 30 * 60_000;
const answersEveryMs = 2_000;
const reconcilesEveryMs = 120_000;
/** Longer than the loops' interval with its jitter: every subject is looked at at least once. */
const passMs = 45_000;

/** Faults end. Within bounded time everything is as declared, and from then on nobody writes anything. */
export async function proveLiveness(cast: Cast, crew: Crew, operator: Operator): Promise<void> {
  const { world } = cast;
  cast.faulty = false;
  crew.calm();
  operator.tidyUp();
  const deadlineMs = world.nowMs + patienceMs;
  let reconcileAtMs = world.nowMs + reconcilesEveryMs;
  let problems: readonly string[] = ["not looked at yet"];
  let quietSinceMs = world.nowMs;
  for (;;) {
    const writes = cast.ledger.writes;
    const untilMs = world.nowMs + answersEveryMs;
    await world.run(() => world.nowMs >= untilMs);
    if (world.failure !== undefined) return;
    const asked = operator.approveAll();
    problems = unconverged(cast);
    if (problems.length > 0 || asked > 0 || cast.ledger.writes !== writes) quietSinceMs = world.nowMs;
    if (world.nowMs - quietSinceMs >= passMs) break;
    if (world.nowMs > deadlineMs) return world.fail(stuck(cast, problems));
    if (problems.length > 0 && world.nowMs > reconcileAtMs) {
      // Somebody's word that was still on its way when the calm began may have come since.
      operator.tidyUp();
      reconcileAtMs = world.nowMs + reconcilesEveryMs;
    }
  }
  await provePass(cast);
}

/** One more look at everything: no effect outside, and nothing written but leases and idle counts. */
async function provePass(cast: Cast): Promise<void> {
  const { world, ledger } = cast;
  const before = { writes: ledger.writes, effects: ledger.effects, loads: ledger.loads };
  const untilMs = world.nowMs + passMs;
  await world.run(() => world.nowMs >= untilMs);
  if (ledger.effects > before.effects) world.fail(new Violation("idle", "a pass over a converged world wrote outside"));
  if (ledger.writes > before.writes) {
    world.fail(new Violation("idle", `a pass over a converged world wrote to the store: ${ledger.lastWrite}`));
  }
  const subjects = cast.store.state.tables.subjects.size;
  if (ledger.loads - before.loads < subjects) {
    world.fail(new Violation("liveness", `${subjects} subjects, only ${ledger.loads - before.loads} looks in a pass`));
  }
}

function stuck(cast: Cast, problems: readonly string[]): Violation {
  const states = [...cast.store.state.tables.subjects.values()].map((subject) => {
    const conditions =
      subject.status?.conditions.map(({ type, status, message }) => `${type}=${status} ${message}`) ?? [];
    return `  ${subject.id} ${subject.kind}/${subject.name}: attempts ${subject.memory.attempts}, ${conditions.join("; ")}`;
  });
  return new Violation("liveness", `not converged after calm:\n  ${problems.join("\n  ")}\n${states.join("\n")}`);
}
