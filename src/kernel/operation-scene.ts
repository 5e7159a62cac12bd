import { z } from "zod";
import type { Actor } from "../ports/engine-store.ts";
import type {
  JournalEntry,
  OperationRecord,
  OperationRef,
  OperationStore,
  OperationWithJournal,
} from "../ports/operation-store.ts";
import type { AccountRecord, CycleInput, HeldGroup, Undone, Verdict } from "../ports/records.ts";
import type { Claim, Engine } from "./claim.ts";
import { type EngineError, RetryableError, TerminalError } from "./errors.ts";
import { heldGroupsDigest } from "./held-change.ts";
import { standingEntries } from "./journal.ts";
import type { Kind } from "./kind.ts";
import type { Subject } from "./loop.ts";
import { parsedSubject } from "./parsed-subject.ts";
import type { PlannedChange } from "./plan.ts";
import { effectivePolicy } from "./policy.ts";
import {
  type AccountQuestions,
  ADMIT,
  type EffectContext,
  type Neighbour,
  type Pipeline,
  type Step,
  type StepContext,
  type Story,
} from "./pipeline.ts";
import { withTimeLimit } from "./time-limit.ts";

/** What an operation needs from the world: what a cycle needs, and its own journal. */
export interface OperationEngine extends Engine {
  readonly operations: OperationStore;
}

/** What an operation is given by whoever runs it. */
export interface OperationClaim extends OperationRef {
  readonly actor: Actor & { readonly operationId: string };
  /** Deletes rest only on looks begun after this monotonic time; undefined after an orderly hand-over. */
  readonly quietSinceMonotonicMs: number | undefined;
  leaseRemainingMs(): number;
  /** Ends the attempt: deadline, lost lease or shutdown. */
  readonly signal: AbortSignal;
  /** Asks it to pause after the step it is at, because somebody else will go on. */
  readonly handOver?: AbortSignal | undefined;
}

/** What one step rests on. */
export interface StepScene {
  readonly engine: OperationEngine;
  readonly claim: OperationClaim;
  readonly operation: OperationRecord;
  readonly journal: readonly JournalEntry[];
  readonly kind: Kind;
  readonly pipeline: Pipeline;
  readonly input: CycleInput;
  /** The account that the step at hand works with, where that is not the one the resource lives at. */
  readonly at?: AccountRecord | undefined;
  readonly subject: Subject<unknown>;
  /** Store time minus monotonic time. */
  readonly storeAheadMs: number;
  readonly overQuota: OperationWithJournal["overQuota"];
  /** Lines of progress that the step's record takes along. */
  readonly notes: string[];
}

/** What one step came to, before it is recorded. */
export type Outcome =
  | { readonly is: "done"; readonly input?: unknown; readonly output?: unknown }
  | { readonly is: "skipped"; readonly message: string }
  /** A wait that begins now. */
  | { readonly is: "begun"; readonly dueInMs: number; readonly message: string }
  /** Not a failure: come back then. What progressed begins to count its failed attempts anew. */
  | { readonly is: "waiting"; readonly dueInMs: number; readonly message: string; readonly progressed?: boolean }
  | { readonly is: "held"; readonly message: string }
  /** Not admitted, and nothing was done. */
  | {
      readonly is: "not-run";
      readonly message: string;
      readonly judgedBy: Pick<Undone, "generation" | "policyVersion">;
    }
  /** An input moved: what was admitted no longer counts. */
  | { readonly is: "moved" }
  | { readonly is: "attention"; readonly code: string; readonly message: string }
  /** The hold or the resource is gone: there is nothing left to act on. */
  | { readonly is: "released"; readonly message: string }
  /** The lease is gone: whoever has it now goes on. */
  | { readonly is: "lost" }
  | { readonly is: "failed"; readonly error: EngineError; readonly input?: unknown };

/** A kind without an account has no provider to say how long one of its calls may take. */
const CALL_TIMEOUT_MS = 10_000;

export function callTimeoutMs(scene: StepScene): number {
  const account = accountOf(scene);
  return account === undefined ? CALL_TIMEOUT_MS : scene.engine.accounts.provider(account).callTimeoutMs;
}

/** The account whose reader and writer a step is given, and whose calls it uses up. */
export function accountOf({ at, input }: Pick<StepScene, "at" | "input">): AccountRecord | undefined {
  return at ?? input.account;
}

/** The scene as one step sees it: at the account that it names. */
export async function sceneAt(scene: StepScene, step: Step): Promise<StepScene> {
  const other = step.at?.(storyOf(scene));
  if (other === undefined) return scene;
  const { engine, operation } = scene;
  const { organizationId } = operation;
  const at = await engine.operations.findAccount({ organizationId, name: other.account });
  if (at?.provider === other.provider) return { ...scene, at };
  const what = at === undefined ? "there is none of that name" : `it is one of provider ${at.provider}`;
  throw new TerminalError(
    "ACCOUNT_UNKNOWN",
    `Step '${step.name}' needs the account '${other.account}' of provider ${other.provider}, and ${what}: setpoint account add ${other.account} --provider ${other.provider}, or name another one in the spec`,
  );
}

export function storeNowMs({ engine, storeAheadMs }: Pick<StepScene, "engine" | "storeAheadMs">): number {
  return Math.ceil(engine.clock.monotonicMs() + storeAheadMs);
}

/** The operation as whoever makes cycles and claims accounts knows an actor. */
export function cycleClaim({ claim, operation }: StepScene): Claim {
  return { ...claim, subjectId: operation.subjectId, trigger: "person" };
}

export function storyOf({ operation, subject, pipeline, journal, input: { memory } }: StepScene): Story {
  const standing = standingEntries(pipeline, journal, "forward");
  return {
    operationId: operation.id,
    subject,
    input: operation.input,
    output: ({ name, output }) => {
      const entry = standing.get(name);
      return entry?.result === "done"
        ? parsed(output, valueOf(pipeline, entry), `the output of step '${name}'`)
        : undefined;
    },
    earlier: ({ name, output }) => {
      const entry = journal.findLast(
        ({ step, result, direction }) => step === name && result === "done" && direction === "forward",
      );
      return entry && parsed(output, valueOf(pipeline, entry), `the output of step '${name}'`);
    },
    made: (key) => memory.made?.find((thing) => thing.key === key)?.externalId,
    noted: (key) => memory.made?.find((thing) => thing.key === key)?.noted ?? {},
  };
}

/** What an effect's entry keeps beside its output, which is not there where it has none: a journal is JSON. */
export const effectOutput = z
  .object({ externalId: z.string(), adopted: z.boolean(), output: z.unknown().optional() })
  .transform(({ output, ...rest }) => ({ ...rest, output }));

function valueOf(pipeline: Pipeline, entry: JournalEntry): unknown {
  const step = pipeline.steps.find(({ name }) => name === entry.step);
  return step?.type === "effect" ? effectOutput.parse(entry.output).output : entry.output;
}

export function contextOf(scene: StepScene, signal: AbortSignal): StepContext {
  const { engine, input, notes } = scene;
  const account = accountOf(scene);
  const around = { organizationId: scene.operation.organizationId, subjectId: scene.operation.subjectId };
  return {
    ...storyOf(scene),
    around: async <NearSpec>(kind: string) => (await neighbours(scene, kind)) as readonly Neighbour<NearSpec>[],
    wake: (kind) => engine.operations.wakeAround({ ...around, kind }),
    reader: account === undefined ? undefined : engine.accounts.world(account).reader,
    account: account === undefined ? undefined : questionsTo(engine, account, signal),
    marker: { installationId: input.installation.id, resourceUid: scene.subject.uid },
    signal,
    progress: (message) => void notes.push(message),
  };
}

async function neighbours({ engine, operation }: StepScene, name: string): Promise<readonly Neighbour[]> {
  const { organizationId, subjectId } = operation;
  const kind = engine.kinds.get(name);
  if (kind === undefined) throw new TerminalError("INTERNAL", `There is no kind ${name} to look around for`);
  const ids = await engine.operations.subjectsAround({ organizationId, subjectId, kind: name });
  const inputs = await Promise.all(ids.map((id) => engine.store.load(id, organizationId)));
  return inputs.flatMap((input) => {
    if (input === undefined) return [];
    const { mode } = effectivePolicy(input.policies, kind.loop?.limits);
    return {
      subject: parsedSubject(kind, input),
      leaving: input.resource.deletion !== undefined,
      observes: mode === "observe",
      owned: input.memory.owned.flatMap(({ key, externalId }) => (externalId === undefined ? [] : { key, externalId })),
    };
  });
}

function questionsTo(
  { accounts, clock }: OperationEngine,
  account: AccountRecord,
  signal: AbortSignal,
): AccountQuestions {
  return {
    fingerprint: account.fingerprint,
    identity: () => accounts.identity(account, { notBeforeMonotonicMs: clock.monotonicMs(), signal }),
    rights: () => accounts.rights(account, { notBeforeMonotonicMs: clock.monotonicMs(), forPerson: true, signal }),
  };
}

export function effectContextOf(scene: StepScene, signal: AbortSignal): EffectContext {
  const account = accountOf(scene);
  const writer = account === undefined ? undefined : scene.engine.accounts.world(account).writer;
  return { ...contextOf(scene, signal), writer };
}

/**
 * Asked right before the outside is: whoever was suspended finds by its clocks that its lease is gone, before any timer or
 * message has told it so.
 */
export function requireLease({ claim, operation }: StepScene, what: string): void {
  if (claim.leaseRemainingMs() > 0) return;
  const message = `${operation.pipeline}: ${what} was not begun, because the lease has run out`;
  throw new RetryableError("TIMED_OUT", message, { ambiguous: false });
}

/** One read of the outside: counted, limited and timed. */
export async function looking<Seen>(
  scene: StepScene,
  what: string,
  look: (context: StepContext) => Promise<Seen>,
): Promise<Seen> {
  const { engine, claim, operation } = scene;
  const account = accountOf(scene);
  if (account !== undefined) await engine.accounts.takeCall(account, true);
  requireLease(scene, what);
  const limit = { ms: callTimeoutMs(scene), signal: claim.signal, what: `${operation.pipeline}: ${what}` };
  try {
    return await engine.accounts.timed(account, () =>
      withTimeLimit(engine.clock, limit, (signal) => look(contextOf(scene, signal))),
    );
  } catch (thrown) {
    if (account !== undefined) await engine.accounts.noteThrottle(account, thrown);
    throw thrown;
  }
}

/** Steps whose thing is on record as this operation's own: made, or meant to be made and never heard of again. */
export function stepsOnRecord(scene: StepScene): ReadonlySet<string> {
  const keys = new Set(
    (scene.input.memory.made ?? []).flatMap(({ key, operationId }) =>
      operationId === scene.operation.id ? [key] : [],
    ),
  );
  const story = storyOf(scene);
  const creates = scene.pipeline.steps.filter((step) => step.type === "effect" && step.change === "create");
  return new Set(creates.flatMap((step) => ("key" in step && keys.has(step.key(story)) ? [step.name] : [])));
}

/** What enters and leaves a step has the shape it declares: a journal of another shape is never guessed at. */
export function parsed<Value>(schema: z.ZodType<Value>, value: unknown, what: string): Value {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const problems = result.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`).join("; ");
  throw new TerminalError("INTERNAL", `${what} does not have its declared shape: ${problems}`);
}

/** What the input of a step is now. */
export function givenTo(scene: StepScene, step: Extract<Step, { given(story: Story): unknown }>): unknown {
  const given = step.given(storyOf(scene));
  if (given !== undefined) return parsed(step.input, given, `the input of step '${step.name}'`);
  throw new TerminalError("DEPENDENCY_NOT_READY", `Step '${step.name}' needs what a step before it has not come to`);
}

const admission = z.object({
  inputVersion: z.number(),
  policyVersion: z.number(),
  generation: z.number(),
  /** What the guards were asked about, as `admittedAs` names it. */
  keys: z.array(z.string()),
});
export type Admitted = z.output<typeof admission>;

/** What the standing admission was decided from. */
export function admittedOf({ pipeline, journal, operation }: StepScene): Admitted | undefined {
  const entry = standingEntries(pipeline, journal, operation.direction).get(ADMIT);
  return entry === undefined ? undefined : parsed(admission, entry.output, "the admission");
}

/** Without its hold an operation has no say about its subject any more: whoever released it took the work over. */
export function hasItsHold({ input, operation }: StepScene): boolean {
  return input.hold?.operationId === operation.id;
}
export const HOLD_RELEASED = "its hold was released: nothing more is done in its name";

/** A change as an admission names it. */
export function admittedAs({ action, key }: Pick<PlannedChange, "action" | "key">): string {
  return `${action} ${key}`;
}

/** Records what waits for a person, as the loop would, and drops what does not any more. */
export async function settleHeld(
  { engine, claim, input }: StepScene,
  held: readonly HeldGroup[],
  verdicts: readonly Verdict[],
): Promise<boolean> {
  const digest = held.length === 0 ? undefined : heldGroupsDigest(held);
  if (digest === input.heldDigest) return true;
  const { kept } = await engine.store.settle({
    actor: claim.actor,
    subject: input.subject,
    inputVersion: input.inputVersion,
    policyVersion: input.policyVersion,
    dueSeen: { atMs: input.dueAtMs },
    held: { digest: digest ?? "", groups: held },
    verdicts,
    gone: false,
    forgetSources: [],
    nowOwned: undefined,
  });
  return kept;
}
