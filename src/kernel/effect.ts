import type { JournalEntry } from "../ports/operation-store.ts";
import type { ChangeAction, MadeThing, SubjectMemory } from "../ports/records.ts";
import { TerminalError } from "./errors.ts";
import { changeOf } from "./operation-admit.ts";
import {
  admittedOf,
  callTimeoutMs,
  effectContextOf,
  effectOutput,
  givenTo,
  looking,
  type Outcome,
  parsed,
  type StepScene,
  storeNowMs,
  storyOf,
} from "./operation-scene.ts";
import { make } from "./operation-write.ts";
import type { Effect, Found, IdempotencyKey, Once } from "./pipeline.ts";

const SOON_MS = 1_000;

/** One effect: look, and make only what is not there; under a permit that stands on the very inputs that were admitted. */
export async function runEffect(scene: StepScene, step: Effect): Promise<Outcome> {
  const kept = keptOut(scene, step.change === "delete");
  if (kept !== undefined) return kept;
  const given = givenTo(scene, step);
  const key = step.key(storyOf(scene));
  const found = await looking(scene, step.name, (context) => step.look(context, given));
  const made = scene.input.memory.made?.find((thing) => thing.key === key);
  const standing = await standsAlready(scene, step, { given, found, made, key });
  if (standing !== undefined) return standing;
  const change = changeOf(scene, step, step.change, step.change === "create" ? "absent" : found);
  return await make(scene, change, {
    work: async (signal) => {
      const { externalId, output } = await step.call(effectContextOf(scene, signal), given);
      return { externalId, output: parsed(step.output, output, `the output of step '${step.name}'`) };
    },
    intended:
      step.change === "create"
        ? withMade(scene, { key, state: "intended", externalId: undefined })
        : scene.input.memory,
    after: (answer) => ({
      memory: memoryAfter(scene, step, { key, externalId: answer.externalId, adopted: false }),
      claims: step.change === "create" ? [{ externalId: answer.externalId, key }] : [],
      releases: step.change === "delete" ? releasedBy(scene, step, answer.externalId) : [],
      outcome: { is: "done", input: given, output: { ...answer, adopted: false } },
    }),
    given,
  });
}

interface At {
  readonly given: unknown;
  readonly found: Found | "absent";
  readonly made: MadeThing | undefined;
  readonly key: string;
}

/** Whether nothing is left to do: it was made before, it goes without saying, or it may not be touched. */
async function standsAlready(scene: StepScene, step: Effect, at: At): Promise<Outcome | undefined> {
  const { given, found, made, key } = at;
  const done = (thing: Found, adopted: boolean): Outcome => {
    const output = parsed(step.output, thing.output, `the output of step '${step.name}'`);
    return { is: "done", input: given, output: { externalId: thing.externalId, adopted, output } };
  };
  if (step.change === "update") return found === "absent" ? undefined : done(found, false);
  if (step.change === "create") {
    if (found === "absent") return undefined;
    // An earlier attempt of this operation made it, and its answer was lost: it is ours.
    const mine = made?.operationId === scene.operation.id;
    if (mine && made.state === "made") return done(found, made.adopted === true);
    if (mine) return await adopt(scene, step, { key, found, adopted: false, outcome: done(found, false) });
    if (made?.externalId === found.externalId) return done(found, true);
    if (step.adopts(storyOf(scene)))
      return await adopt(scene, step, { key, found, adopted: true, outcome: done(found, true) });
    throw new TerminalError("ALREADY_EXISTS", `${key} is there already, and nobody here made or adopted it`);
  }
  if (found === "absent") {
    const gone: Found = { externalId: made?.externalId ?? key, output: undefined };
    const outcome: Outcome = { is: "done", input: given, output: { ...gone, adopted: true } };
    return await adopt(scene, step, { key, found: gone, adopted: true, outcome });
  }
  if (made?.externalId !== found.externalId)
    throw new TerminalError("PRECONDITION_FAILED", `${key} is not ours: nobody here made or adopted what is there now`);
  if (found.lockedBy !== undefined)
    throw new TerminalError(
      "PROVIDER_REFUSED",
      `${key} is protected against deletion: provider lock (${found.lockedBy})`,
    );
  return undefined;
}

/** Records what is true outside already: under a permit, and without a call. */
async function adopt(
  scene: StepScene,
  step: Effect,
  thing: { readonly key: string; readonly found: Found; readonly adopted: boolean; readonly outcome: Outcome },
): Promise<Outcome> {
  const { key, found, adopted, outcome } = thing;
  const removed = step.change === "delete";
  return await make(scene, changeOf(scene, step, removed ? "forget" : "adopt", found), {
    work: undefined,
    intended: scene.input.memory,
    after: () => ({
      memory: memoryAfter(scene, step, { key, externalId: found.externalId, adopted }),
      claims: removed ? [] : [{ externalId: found.externalId, key }],
      releases: removed ? releasedBy(scene, step, found.externalId) : [],
      outcome,
    }),
  });
}

/** A one-shot effect: ordered by a key that is the same at every attempt, so that only the first one counts. */
export async function runOnce(scene: StepScene, step: Once): Promise<Outcome> {
  const kept = keptOut(scene, false);
  if (kept !== undefined) return kept;
  const given = givenTo(scene, step);
  const idempotencyKey = `${scene.operation.id}/${step.name}` as IdempotencyKey;
  return await make(scene, changeOf(scene, step, "update", "absent"), {
    work: async (signal) => {
      const output = await step.call({ ...effectContextOf(scene, signal), idempotencyKey }, given);
      return { externalId: idempotencyKey, output: parsed(step.output, output, `the output of step '${step.name}'`) };
    },
    intended: scene.input.memory,
    after: ({ output }) => ({
      memory: scene.input.memory,
      claims: [],
      releases: [],
      outcome: { is: "done", input: given, output },
    }),
    given,
  });
}

/** Takes back what a step did. What is gone already, and what was only adopted, is forgotten. */
export async function undoEffect(scene: StepScene, step: Effect, entry: JournalEntry): Promise<Outcome> {
  const creates = step.change === "create";
  const kept = keptOut(scene, creates);
  if (kept !== undefined) return kept;
  if (step.compensate === undefined) return { is: "skipped", message: "cannot be taken back" };
  const { adopted, ...made } = parsed(effectOutput, entry.output, `the output of step '${step.name}'`);
  const key = step.key(storyOf(scene));
  const found = creates ? await looking(scene, step.name, (context) => step.look(context, entry.input)) : made;
  const isThere = found !== "absent" && found.externalId === made.externalId && !adopted;
  // What was only adopted stays, and its items with it.
  const taken = adopted ? { ...step, takesItems: false } : step;
  const action: ChangeAction = !isThere ? "forget" : creates ? "delete" : "update";
  return await make(scene, changeOf(scene, step, action, found === "absent" ? made : found), {
    work: isThere
      ? async (signal) => {
          await step.compensate?.(effectContextOf(scene, signal), made);
          return made;
        }
      : undefined,
    intended: scene.input.memory,
    after: () => ({
      memory: creates ? takenAway(scene, taken, key) : scene.input.memory,
      claims: [],
      releases: creates ? releasedBy(scene, taken, made.externalId) : [],
      outcome: { is: "done", input: entry.input },
    }),
  });
}

/** Why nothing may be written at the moment, though the operation is at the step that would. */
function keptOut(scene: StepScene, deletes: boolean): Outcome | undefined {
  const { input, operation, claim } = scene;
  if (input.hold?.operationId !== operation.id)
    return { is: "released", message: "its hold was released: nothing more is done in its name" };
  // Until that permit has ended, the memory read here may be written over by its outcome.
  if (input.busy === true)
    return { is: "waiting", dueInMs: SOON_MS, message: "another permit for this subject is alive" };
  if (claim.leaseRemainingMs() < callTimeoutMs(scene))
    return { is: "waiting", dueInMs: SOON_MS, message: "the lease could end before the call would" };
  const admitted = admittedOf(scene);
  const same =
    admitted !== undefined &&
    admitted.policyVersion === input.policyVersion &&
    admitted.generation === input.resource.generation &&
    (!deletes || admitted.inputVersion === input.inputVersion);
  return same ? undefined : { is: "moved" };
}

function memoryAfter(
  scene: StepScene,
  step: Effect,
  thing: { readonly key: string; readonly externalId: string; readonly adopted: boolean },
): SubjectMemory {
  if (step.change === "update") return scene.input.memory;
  // What failed for good before it was there may succeed now.
  if (step.change === "create") return { ...withMade(scene, { ...thing, state: "made" }), stops: undefined };
  return takenAway(scene, step, thing.key);
}

/** The thing is gone, and with it the subject's own items where they were in it. */
function takenAway({ input: { memory } }: StepScene, step: Effect, key: string): SubjectMemory {
  const left = { ...memory, made: (memory.made ?? []).filter((thing) => thing.key !== key) };
  return step.takesItems ? { ...left, owned: [], findings: [], fights: [] } : left;
}

function releasedBy({ input }: StepScene, step: Effect, externalId: string): readonly string[] {
  const items = step.takesItems ? input.memory.owned.flatMap((item) => item.externalId ?? []) : [];
  return [externalId, ...items];
}

function withMade(scene: StepScene, thing: Omit<MadeThing, "operationId" | "atMs">): SubjectMemory {
  const made: MadeThing = { ...thing, operationId: scene.operation.id, atMs: storeNowMs(scene) };
  const others = (scene.input.memory.made ?? []).filter(({ key }) => key !== thing.key);
  return { ...scene.input.memory, made: [...others, made].sort((left, right) => (left.key < right.key ? -1 : 1)) };
}
