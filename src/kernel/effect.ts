import type { JournalEntry } from "../ports/operation-store.ts";
import type { ChangeAction, MadeThing, SubjectMemory } from "../ports/records.ts";
import { TerminalError } from "./errors.ts";
import { changeOf, isAsMade } from "./operation-admit.ts";
import {
  admittedOf,
  callTimeoutMs,
  effectContextOf,
  effectOutput,
  givenTo,
  HOLD_RELEASED,
  hasItsHold,
  looking,
  type Outcome,
  parsed,
  type StepScene,
  storeNowMs,
  storyOf,
} from "./operation-scene.ts";
import { isAnotherAccount, make } from "./operation-write.ts";
import type { Effect, Found, IdempotencyKey, Once } from "./pipeline.ts";
import { pausedWords } from "./scope-words.ts";

const SOON_MS = 1_000;

/** One effect: look, and make only what is not there; under a permit that stands on the very inputs that were admitted. */
export async function runEffect(scene: StepScene, step: Effect): Promise<Outcome> {
  const kept = keptOut(scene, step.change === "delete");
  if (kept !== undefined) return kept;
  const given = givenTo(scene, step);
  const key = step.key(storyOf(scene));
  const made = scene.input.memory.made?.find((thing) => thing.key === key);
  const looked = await lookAt(scene, step, given, made !== undefined);
  if (looked === "another account") return { is: "moved" };
  const { found, lookedFromMonotonicMs } = looked;
  const standing = await standsAlready(scene, step, { given, made, key, ...looked });
  if (standing !== undefined) return standing;
  const change = changeOf(scene, step, step.change, step.change === "create" ? "absent" : found);
  return await make(scene, change, {
    work: async (signal) => {
      const { externalId, output } = await step.call(effectContextOf(scene, signal), given, found);
      return { externalId, output: parsed(step.output, output, `the output of step '${step.name}'`) };
    },
    intended:
      step.change === "create"
        ? withMade(scene, { key, state: "intended", externalId: undefined, noted: notedBy(scene, step, undefined) })
        : scene.input.memory,
    after: (answer) => ({
      memory: {
        ...memoryAfter(scene, step, {
          key,
          externalId: answer.externalId,
          adopted: false,
          noted: notedBy(scene, step, answer.output),
        }),
        // A list that was begun before this does not show it: the loop that converges next waits for another one.
        lastWriteAtMs: Math.ceil(storeNowMs(scene)) + 1,
      },
      claims: step.change === "create" ? [{ externalId: answer.externalId, key }] : [],
      releases: step.change === "delete" ? releasedBy(scene, step, answer.externalId) : [],
      outcome: { is: "done", input: given, output: { ...answer, adopted: false } },
    }),
    given,
    lookedFromMonotonicMs,
  });
}

interface Looked {
  readonly found: Found | "absent";
  readonly lookedFromMonotonicMs: number;
}

/**
 * The one thing as it is. What we have on record and is not seen is looked for twice, with a question in between whether the
 * account answers as itself: a server that says "not found" to everything must not make us build anew or forget.
 */
async function lookAt(
  scene: StepScene,
  step: Effect,
  given: unknown,
  recorded: boolean,
): Promise<Looked | "another account"> {
  const { clock } = scene.engine;
  const look = async (): Promise<Looked> => {
    const lookedFromMonotonicMs = clock.monotonicMs();
    const found = await looking(scene, step.name, (context) => step.look(context, given));
    return { found, lookedFromMonotonicMs };
  };
  const first = await look();
  if (first.found !== "absent" || !recorded || scene.input.account === undefined) return first;
  if (await isAnotherAccount(scene, first.lookedFromMonotonicMs)) return "another account";
  return await look();
}

interface At extends Looked {
  readonly given: unknown;
  readonly made: MadeThing | undefined;
  readonly key: string;
}

/** Whether nothing is left to do: it was made before, it goes without saying, or it may not be touched. */
async function standsAlready(scene: StepScene, step: Effect, at: At): Promise<Outcome | undefined> {
  const { given, found, made, key } = at;
  const from = { lookedFromMonotonicMs: at.lookedFromMonotonicMs };
  const done = (thing: Found, adopted: boolean): Outcome => {
    const output = parsed(step.output, thing.output, `the output of step '${step.name}'`);
    return { is: "done", input: given, output: { externalId: thing.externalId, adopted, output } };
  };
  if (found !== "absent" && found.markedBy !== undefined)
    throw new TerminalError("PRECONDITION_FAILED", `${key} is not ours: it carries the marker of ${found.markedBy}`);
  if (step.change === "update") return found === "absent" ? undefined : done(found, false);
  if (step.change === "create") {
    if (found === "absent") return undefined;
    if (made?.operationId === scene.operation.id && made.state === "made") return done(found, made.adopted === true);
    if (made?.externalId === found.externalId) return done(found, true);
    // An attempt of this operation or of one before it made it, and its answer was lost: nothing was there then.
    if (isAsMade(made, found))
      return await adopt(scene, step, { key, found, adopted: false, outcome: done(found, false), ...from });
    if (step.adopts(storyOf(scene)))
      return await adopt(scene, step, { key, found, adopted: true, outcome: done(found, true), ...from });
    throw new TerminalError("ALREADY_EXISTS", `${key} is there already, and nobody here made or adopted it`);
  }
  if (found === "absent") {
    const gone: Found = { externalId: made?.externalId ?? key, output: undefined };
    const outcome: Outcome = { is: "done", input: given, output: { ...gone, adopted: true } };
    return await adopt(scene, step, { key, found: gone, adopted: true, outcome, ...from });
  }
  if (!isAsMade(made, found))
    throw new TerminalError("PRECONDITION_FAILED", `${key} is not ours: nobody here made or adopted what is there now`);
  requireUnlocked(key, found);
  return undefined;
}

/** The provider's own lock is heeded at the last look, whatever the admission saw. */
function requireUnlocked(key: string, { lockedBy }: Found): void {
  if (lockedBy === undefined) return;
  throw new TerminalError("PROVIDER_REFUSED", `${key} is protected against deletion: provider lock (${lockedBy})`);
}

/** Records what is true outside already: under a permit, and without a call. */
async function adopt(
  scene: StepScene,
  step: Effect,
  thing: {
    readonly key: string;
    readonly found: Found;
    readonly adopted: boolean;
    readonly outcome: Outcome;
    readonly lookedFromMonotonicMs: number;
  },
): Promise<Outcome> {
  const { key, found, adopted, outcome, lookedFromMonotonicMs } = thing;
  const removed = step.change === "delete";
  return await make(scene, changeOf(scene, step, removed ? "forget" : "adopt", found), {
    work: undefined,
    intended: scene.input.memory,
    after: () => ({
      memory: memoryAfter(scene, step, {
        key,
        externalId: found.externalId,
        adopted,
        noted: intendedNotes(scene, key),
      }),
      claims: removed ? [] : [{ externalId: found.externalId, key }],
      releases: removed ? releasedBy(scene, step, found.externalId) : [],
      outcome,
    }),
    lookedFromMonotonicMs,
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
export async function undoEffect(scene: StepScene, step: Effect, entry: JournalEntry | undefined): Promise<Outcome> {
  const creates = step.change === "create";
  const kept = keptOut(scene, creates);
  if (kept !== undefined) return kept;
  const story = storyOf(scene);
  const key = step.key(story);
  const thing = ownThing(scene, key);
  const said = entry === undefined ? undefined : parsed(effectOutput, entry.output, `the output of '${step.name}'`);
  const adopted = thing?.adopted ?? said?.adopted ?? false;
  const externalId = thing?.externalId ?? said?.externalId;
  const gone: Found = { externalId: externalId ?? key, output: said?.output };
  const given = entry?.input ?? step.given(story);
  // What an operation before this one made was only found: it stays, and stays on record.
  if (creates && thing === undefined && scene.input.memory.made?.some((one) => one.key === key) === true)
    return { is: "done", input: given };
  const looked: Looked | "another account" = creates
    ? await lookAt(scene, step, given, true)
    : { found: gone, lookedFromMonotonicMs: scene.engine.clock.monotonicMs() };
  if (looked === "another account") return { is: "moved" };
  const { found, lookedFromMonotonicMs } = looked;
  const isSame = found !== "absent" && isAsMade({ externalId }, found);
  // What is no longer on record was taken back or given up before, by a move that the journal never heard of.
  const onRecord = !creates || thing !== undefined;
  const made = isSame && found.markedBy === undefined && !adopted && onRecord ? found : undefined;
  if (creates && made !== undefined) requireUnlocked(key, made);
  // What was only adopted stays, and its items with it.
  const taken = adopted ? { ...step, takesItems: false } : step;
  const action: ChangeAction = made === undefined ? "forget" : creates ? "delete" : "update";
  return await make(scene, changeOf(scene, step, action, made ?? gone), {
    work:
      made === undefined
        ? undefined
        : async (signal) => {
            await step.compensate?.(effectContextOf(scene, signal), { ...made, output: said?.output ?? made.output });
            return made;
          },
    intended: scene.input.memory,
    after: () => ({
      memory: creates ? takenAway(scene, taken, key) : scene.input.memory,
      claims: [],
      releases: creates ? releasedBy(scene, taken, (made ?? gone).externalId) : [],
      outcome: { is: "done", input: given },
    }),
    lookedFromMonotonicMs,
  });
}

function ownThing({ input, operation }: StepScene, key: string): MadeThing | undefined {
  return input.memory.made?.find((thing) => thing.key === key && thing.operationId === operation.id);
}

/** Why nothing may be written at the moment, though the operation is at the step that would. */
function keptOut(scene: StepScene, deletes: boolean): Outcome | undefined {
  const { input, claim } = scene;
  if (!hasItsHold(scene)) return { is: "released", message: HOLD_RELEASED };
  const pause = input.pauses.find(({ level }) => level !== "deletes" || deletes);
  if (pause !== undefined) return { is: "waiting", dueInMs: SOON_MS, message: pausedWords(pause) };
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

function notedBy(scene: StepScene, step: Effect, output: unknown): MadeThing["noted"] {
  return step.notes?.(storyOf(scene), output);
}

/** With what an update found out about a thing that was made before it. */
function withNotes(scene: StepScene, step: Effect, noted: MadeThing["noted"]): SubjectMemory {
  const { memory } = scene.input;
  const key = step.notesOn?.(storyOf(scene));
  if (key === undefined || noted === undefined) return memory;
  const add = (thing: MadeThing) => (thing.key === key ? { ...thing, noted: { ...thing.noted, ...noted } } : thing);
  return { ...memory, made: memory.made?.map(add) };
}

/** What an attempt wrote down whose answer was lost: the spec may be another one by now. */
function intendedNotes({ input }: StepScene, key: string): MadeThing["noted"] {
  return input.memory.made?.find((thing) => thing.key === key && thing.state === "intended")?.noted;
}

function memoryAfter(
  scene: StepScene,
  step: Effect,
  thing: Pick<MadeThing, "key" | "noted"> & { readonly externalId: string; readonly adopted: boolean },
): SubjectMemory {
  if (step.change === "update") return withNotes(scene, step, thing.noted);
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
  const { noted, ...rest } = thing;
  const kept = noted === undefined ? {} : { noted };
  const made: MadeThing = { ...rest, ...kept, operationId: scene.operation.id, atMs: storeNowMs(scene) };
  const others = (scene.input.memory.made ?? []).filter(({ key }) => key !== thing.key);
  return { ...scene.input.memory, made: [...others, made].sort((left, right) => (left.key < right.key ? -1 : 1)) };
}
