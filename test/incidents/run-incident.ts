import assert from "node:assert/strict";
import { test } from "node:test";
import type { Effect, Incident, IncidentBench, MakeBench } from "./bench.ts";

/** Runs a script on a kind: as it is, with the guard alone between cause and damage, and without the guard. */
export function runIncident(incident: Incident, makeBench: MakeBench): void {
  const { title, guard } = incident;
  test(`${title}: ${guard} speaks, nothing is deleted, work resumes`, async () => {
    await using bench = await makeBench({});
    await survive(incident, bench);
  });
  if (guard !== "delete-budget") {
    test(`${title}: the same without a delete budget worth the name`, async () => {
      await using bench = await makeBench({ wide: true });
      await survive(incident, bench);
    });
  }
  test(`${title}: without ${guard} the damage happens`, async () => {
    const { counterproof } = incident;
    await using bench = await makeBench({ without: guard, wide: true, ...counterproof?.setting });
    await incident.arrange(bench);
    const before = bench.effects().length;
    await (counterproof?.strike ?? incident.strike)(bench);
    const effects = bench.effects().slice(before);
    const harmed = counterproof?.harmed ?? hasDeletes;
    assert.ok(harmed(effects), `the script would not notice: ${describe(effects)}`);
  });
}

async function survive(incident: Incident, bench: IncidentBench): Promise<void> {
  await incident.arrange(bench);
  assert.ok(bench.converged(), "before the incident everything is as declared");
  const before = { effects: bench.effects().length, verdicts: bench.verdicts().length };

  await incident.strike(bench);
  const effects = bench.effects().slice(before.effects);
  assert.ok(!hasDeletes(effects), `nothing is deleted, and this was done: ${describe(effects)}`);
  const said = bench.verdicts().slice(before.verdicts);
  const spoke = said.filter((verdict) => verdict.guard === incident.guard && verdict.answer !== "pass");
  assert.notEqual(
    spoke.length,
    0,
    `${incident.guard} is in the record, and these are: ${said.map(({ guard }) => guard).join(", ")}`,
  );
  for (const verdict of spoke) assert.notEqual(verdict.reason, "", "a verdict has a reason");

  await incident.recover(bench);
  assert.equal(bench.approvals, incident.approvals, "decisions that a person had to make");
  assert.deepEqual(bench.world(), incident.ends);
  assert.ok(bench.converged(), "after the incident everything is as declared");
  assert.deepEqual(bench.heldChanges(), [], "nothing waits for a person any more");
}

function hasDeletes(effects: readonly Effect[]): boolean {
  return effects.some(({ effect }) => effect === "delete");
}

function describe(effects: readonly Effect[]): string {
  return effects.map(({ effect, account, key }) => `${effect} ${key} at ${account}`).join(", ") || "nothing";
}
