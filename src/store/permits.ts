import type { Actor, OutcomeRecord, PermitAnswer, PermitRefusal, PermitRequest } from "../ports/engine-store.ts";
import { fencedVerdict } from "../kernel/fenced.ts";
import type { Database } from "./database.ts";
import { lockShards, lockSubjects } from "./sql/lease.ts";
import { recordOutcome } from "./sql/outcome.ts";
import { permit } from "./sql/permit.ts";
import { call } from "./statement.ts";

/** Permits of a batch of subjects in one transaction and one round trip. */
export async function permitBatch(
  database: Database,
  batch: readonly PermitRequest[],
): Promise<readonly PermitAnswer[]> {
  const rows = JSON.stringify(batch.map(permitRow));
  const [, , answers] = await database.transact(tenantsOf(batch), [...locksOf(batch), call(permit, rows)]);
  const byIndex = new Map(answers.map((row) => [row.index, row]));
  return batch.map((request, index): PermitAnswer => {
    const row = byIndex.get(index);
    if (row === undefined) throw new RangeError(`The permit of subject ${request.subject.id} was not answered`);
    const { answer } = row;
    if (answer === "granted" || answer === "again") return { granted: true };
    return { granted: false, refusal: answer, detail: describe(answer, request, row.detail ?? "") };
  });
}

/** Outcomes of a batch of subjects; false for those that lost their lease or whose permit is not theirs any more. */
export async function recordOutcomeBatch(
  database: Database,
  batch: readonly OutcomeRecord[],
): Promise<readonly boolean[]> {
  const rows = JSON.stringify(batch.map(outcomeRow));
  const [, , kept] = await database.transact(tenantsOf(batch), [...locksOf(batch), call(recordOutcome, rows)]);
  const answers = batch.map(() => false);
  for (const { index } of kept) answers[index] = true;
  return answers;
}

type Fenced = Pick<PermitRequest, "actor" | "subject">;

function tenantsOf(batch: readonly Fenced[]) {
  return { organizations: [...new Set(batch.map(({ subject }) => subject.organizationId))] };
}

function locksOf(batch: readonly Fenced[]) {
  const subjectIds = batch.map(({ subject }) => subject.id);
  return [lockLeases(batch), call(lockSubjects, subjectIds)] as const;
}

/** The leases a batch rests on, kept from being taken until it has committed. */
export function lockLeases(batch: readonly { readonly actor: Actor }[]) {
  const [workers, schedulers] = [true, false].map((working) =>
    batch.filter(({ actor }) => (actor.operationId !== undefined) === working).map(({ actor }) => actor.shard),
  );
  return call(lockShards, schedulers ?? [], workers ?? []);
}

/** Who acts, as the statements ask for it. */
export function actorRow({ holder, shard, epoch, operationId }: Actor) {
  return { holder, shard, epoch, operation_id: operationId };
}

function permitRow({ actor, subject, inputs, ...rest }: PermitRequest, index: number) {
  return {
    index,
    subject_id: subject.id,
    ...actorRow(actor),
    permit_id: rest.permitId,
    input_version: inputs.check === "version" ? inputs.inputVersion : undefined,
    policy_version: inputs.check === "sources" ? inputs.policyVersion : undefined,
    sources: inputs.check === "sources" ? inputs.sources : undefined,
    deletes: rest.deletes,
    for_ms: Math.round(rest.forMs),
    changes: rest.changes,
    memory: rest.memory,
    grant_ids: [...new Set(rest.grantIds)],
    fenced: fencedVerdict({ actor, changes: rest.changes }),
  };
}

function outcomeRow({ actor, subject, ...rest }: OutcomeRecord, index: number) {
  const claims = new Map(rest.claims.map(({ externalId, key }) => [externalId, key]));
  return {
    index,
    subject_id: subject.id,
    ...actorRow(actor),
    permit_id: rest.permitId,
    outcomes: rest.outcomes,
    memory: rest.memory,
    claims: Array.from(claims, ([external_id, key]) => ({ external_id, key })),
    // What is released and claimed in one call stays claimed.
    releases: rest.releases.filter((externalId) => !claims.has(externalId)),
  };
}

function describe(refusal: PermitRefusal, { actor, subject }: PermitRequest, found: string): string {
  const what = `${subject.kind}/${subject.name}`;
  switch (refusal) {
    case "gone":
      return `subject ${subject.id} (${what}) is gone`;
    case "lease":
      return `${actor.holder} no longer leases shard ${actor.shard} at epoch ${actor.epoch}`;
    case "inputs":
      return `an input of ${what} changed since the plan was made`;
    case "paused":
      return `${what} is paused in ${found}`;
    case "held":
      return `operation ${found} holds ${what}`;
    case "busy":
      return `permit ${found} for ${what} is still alive`;
    case "grant":
      return `a grant for ${what} was used, has expired or is not its own`;
  }
}
