import { z } from "zod";
import type { AccountIdentity, AccountRights } from "../ports/provider.ts";
import type { Docking } from "./docking.ts";
import type { Marker, Subject } from "./loop.ts";

/**
 * The contract of long work: an ordered list of named steps. The first one, `admit`, is the engine's own and always there. What a
 * step may do is what its context offers: a plain step can read, an effect can make the one write it declares, and only a
 * one-shot effect has an idempotency key. The words are those of docs/glossary.md.
 */
export interface Pipeline {
  /** Such as `dns-zone.create`. */
  readonly name: string;
  /** Raised when the steps change: an operation finishes on the version it started with. */
  readonly version: number;
  /** What it is for, in one line for people. */
  readonly summary: string;
  /** What whoever starts it may say. */
  readonly input: z.ZodType;
  /** It is for resources that are being deleted; the others are for those that are not. */
  readonly ends: boolean;
  /** It carries out a replacement that a person approved: nothing else starts it, and it is told `replacementInput`. */
  readonly replaces?: boolean;
  /** Whether declaring (or, where it `ends`, deleting) a resource with this spec starts it; without, only people start it. */
  startsWith?(spec: unknown): boolean;
  /** It may be the first to make something at an account of the operator's pool: then one is claimed for it. Without, it waits for that. */
  docks?(spec: unknown): Docking;
  readonly steps: readonly Step[];
}

export interface RetryPolicy {
  /** Failed attempts after which the operation waits for a person. */
  readonly times: number;
  readonly firstSeconds: number;
  readonly atMostSeconds: number;
}

/** An order to do something at most once, made by the engine alone: whoever gets it twice does nothing the second time. */
declare const orderedOnce: unique symbol;
export type IdempotencyKey = string & { readonly [orderedOnce]: true };

/** A step whose output a later one can ask for. */
export interface StepOutput<Output> {
  readonly name: string;
  readonly output: z.ZodType<Output>;
}

/** What is known when a step begins: no reads, no writes. */
export interface Story<Spec = unknown> {
  readonly operationId: string;
  readonly subject: Subject<Spec>;
  /** What whoever started the operation said. */
  readonly input: unknown;
  /** What an earlier step came to; undefined when it was skipped or has not run. */
  output<Output>(step: StepOutput<Output>): Output | undefined;
  /** What a step last came to in this operation, also where somebody has let it be run again since. */
  earlier<Output>(step: StepOutput<Output>): Output | undefined;
  /** The external id on record of what an operation made or adopted under this key, whatever it is called outside by now. */
  made(key: string): string | undefined;
  /** What was noted of it, as long as it is that very thing. */
  noted(key: string): Readonly<Record<string, string>>;
}

/** The account that the resource lives at, asked now. */
export interface AccountQuestions {
  /** What it is known by here; undefined before it was claimed. */
  readonly fingerprint: string | undefined;
  /** Who answers there. */
  identity(): Promise<AccountIdentity>;
  /** Whether the credential may write, found out without writing; undefined where the provider cannot tell. */
  rights(): Promise<AccountRights | undefined>;
}

/** A resource that was declared in the scope of the operation's own or above it, and lives at the same account. */
export interface Neighbour<Spec = unknown> {
  readonly subject: Subject<Spec>;
  /** It is being deleted. */
  readonly leaving: boolean;
  /** Its loop may look, and writes nothing. */
  readonly observes: boolean;
  /** What is on record as its own outside. */
  readonly owned: readonly { readonly key: string; readonly externalId: string }[];
}

export interface StepContext<Spec = unknown, Reader = unknown> extends Story<Spec> {
  readonly reader: Reader;
  /** What is declared around the resource, as it is now. */
  around<NearSpec>(kind: string): Promise<readonly Neighbour<NearSpec>[]>;
  /** Lets the loops of these look at once, by listings begun after this where they say so: what was done here concerns them. */
  wake(kind: string): Promise<void>;
  /** Undefined where the resource lives at none. */
  readonly account: AccountQuestions | undefined;
  /** What an outside thing of this resource carries, where it can. */
  readonly marker: Marker;
  readonly signal: AbortSignal;
  /** A line for whoever watches. It is written with the step's own record. */
  progress(message: string): void;
}
export interface EffectContext<Spec = unknown, Reader = unknown, Writer = unknown> extends StepContext<Spec, Reader> {
  readonly writer: Writer;
}
export interface OnceContext<Spec = unknown, Reader = unknown, Writer = unknown>
  extends EffectContext<Spec, Reader, Writer> {
  readonly idempotencyKey: IdempotencyKey;
}

/** An outside thing as it is. */
export interface Found<Output = unknown> {
  readonly externalId: string;
  readonly output: Output;
  /** A provider-side lock against deletion, in the provider's words. */
  readonly lockedBy?: string | undefined;
  /** Somebody else's marker is on it, in words that say whose: then it is not ours, whatever our records say. */
  readonly markedBy?: string | undefined;
  /** It carries nobody's marker, although what this step makes carries ours: then only its recorded id can say that it is ours. */
  readonly unmarked?: boolean | undefined;
  /** How many further things go with it when it is deleted. */
  readonly contains?: number | undefined;
}

/** An account by its name, and the provider that it must be of. */
export interface OtherAccount {
  readonly account: string;
  readonly provider: string;
}

interface Named {
  readonly name: string;
  /** Of the shapes of its input and output. */
  readonly version: number;
  /** Left out where this is false, which the journal says. */
  when(story: Story): boolean;
  /** Another account of the organization, whose reader and writer it is given; that of the resource unless it says so. */
  at?(story: Story): OtherAccount | undefined;
  /** A person may leave it undone. */
  readonly safeToSkip: boolean;
  readonly retry: RetryPolicy;
}
interface Shaped extends Named {
  readonly input: z.ZodType;
  readonly output: z.ZodType;
  /** What it is to work with; undefined while a step before it has not said yet. */
  given(story: Story): unknown;
}

/** Reads and computes. */
export interface PlainStep extends Shaped {
  readonly type: "step";
  run(context: StepContext, given: unknown): Promise<unknown>;
}

/** One external write that can be found again: what is there already is not made twice. */
export interface Effect extends Shaped {
  readonly type: "effect";
  readonly change: "create" | "update" | "delete";
  /** The name of the one outside thing; never empty, which would mean all. */
  key(story: Story): string;
  /** Whether a thing that is there and that nobody here made may become ours. Adoption is explicit. */
  adopts(story: Story): boolean;
  /** It takes the subject's own items with it. */
  readonly takesItems: boolean;
  /** What is to be remembered as long as the thing is there, because nobody outside says it later; before a call without its output. */
  notes?(story: Story, output: unknown): Readonly<Record<string, string>>;
  /** The key of the made thing that this is noted of; its own unless it says so. */
  notesOn?(story: Story): string;
  /** The thing as it should be after this step (for a delete: as it is), or "absent". Never writes. */
  look(context: StepContext, given: unknown): Promise<Found | "absent">;
  /** Makes the write. `found` is what the look right before it showed: whatever is deleted is exactly that. */
  call(
    context: EffectContext,
    given: unknown,
    found: Found | "absent",
  ): Promise<{ readonly externalId: string; readonly output: unknown }>;
  /** Takes back what `call` did. What was adopted is left where it is. */
  compensate?(context: EffectContext, made: Found): Promise<void>;
}

/** Send, charge, deploy: an effect that nobody can look for. It is ordered with a key, and repeated with the same one. */
export interface Once extends Shaped {
  readonly type: "once";
  key(story: Story): string;
  call(context: OnceContext, given: unknown): Promise<unknown>;
}

export interface Sleep extends Named {
  readonly type: "sleep";
  forSeconds(story: Story): number;
}

export interface WaitFor extends Named {
  readonly type: "wait";
  readonly everySeconds: number;
  /** After this long the operation waits for a person. */
  readonly atMostSeconds: number;
  /** True, or what is missing. */
  until(context: StepContext): Promise<true | string>;
}

/** The kind's own loop brings the subject's items to what is declared, within the guards, in this operation's name. */
export interface Converge extends Named {
  readonly type: "converge";
}

export type Step = PlainStep | Effect | Once | Sleep | WaitFor | Converge;

/** Whether steps of this type may change something outside. */
export function writesOutside(type: Step["type"]): boolean {
  return type === "effect" || type === "once" || type === "converge";
}

/** What an operation is told that carries out a replacement: what a person has approved, and nothing else. */
export const replacementInput = z.strictObject({
  /** The external id of what is replaced, up to a slash: an item may be a part of the thing. */
  replaces: z.string().min(1),
  /** The declaration that was approved. */
  generation: z.int(),
  /** What the approval was for. */
  digest: z.string(),
});
export type ReplacementInput = z.output<typeof replacementInput>;

export const ADMIT = "admit";
const DEFAULT_RETRY: RetryPolicy = { times: 5, firstSeconds: 1, atMostSeconds: 60 };
const anything = z.unknown();

interface Common<Spec> {
  readonly name: string;
  readonly version?: number;
  when?(story: Story<Spec>): boolean;
  at?(story: Story<Spec>): OtherAccount | undefined;
  readonly safeToSkip?: boolean;
  readonly retry?: Partial<RetryPolicy>;
}
interface Shapes<Spec, Input, Output> extends Common<Spec> {
  readonly input: z.ZodType<Input>;
  readonly output: z.ZodType<Output>;
  given(story: Story<Spec>): Input | undefined;
}

/** The words a pipeline of one kind is written in. */
export function pipelinesOf<Spec, Reader = unknown, Writer = unknown>() {
  type Read = StepContext<Spec, Reader>;
  type Write = EffectContext<Spec, Reader, Writer>;
  return {
    step: <Input, Output>(
      step: Shapes<Spec, Input, Output> & { run(context: Read, given: Input): Promise<Output> },
    ): PlainStep & StepOutput<Output> => named("step", step),

    effect: <Input, Output>(
      step: Shapes<Spec, Input, Output> & {
        readonly change: Effect["change"];
        key(story: Story<Spec>): string;
        adopts?(story: Story<Spec>): boolean;
        readonly takesItems?: boolean;
        notes?(story: Story<Spec>, output: Output | undefined): Readonly<Record<string, string>>;
        notesOn?(story: Story<Spec>): string;
        look(context: Read, given: Input): Promise<Found<Output> | "absent">;
        call(
          context: Write,
          given: Input,
          found: Found<Output> | "absent",
        ): Promise<{ readonly externalId: string; readonly output: Output }>;
        compensate?(context: Write, made: Found<Output>): Promise<void>;
      },
    ): Effect & StepOutput<Output> => named("effect", { adopts: () => false, takesItems: false, ...step }),

    once: <Input, Output>(
      step: Shapes<Spec, Input, Output> & {
        key(story: Story<Spec>): string;
        call(context: OnceContext<Spec, Reader, Writer>, given: Input): Promise<Output>;
      },
    ): Once & StepOutput<Output> => named("once", step),

    sleep: (step: Common<Spec> & { forSeconds(story: Story<Spec>): number }): Sleep => named("sleep", step),

    waitFor: (
      step: Common<Spec> & {
        readonly everySeconds: number;
        readonly atMostSeconds: number;
        until(context: Read): Promise<true | string>;
      },
    ): WaitFor => named("wait", step),

    converge: (step: Common<Spec>): Converge => named("converge", step),

    definePipeline: (pipeline: {
      readonly name: string;
      readonly version: number;
      readonly summary: string;
      readonly input?: z.ZodType;
      readonly ends?: boolean;
      readonly replaces?: boolean;
      startsWith?(spec: Spec): boolean;
      docks?(spec: Spec): Docking;
      readonly steps: readonly Step[];
    }): Pipeline => definePipeline(pipeline),
  };
}

/** The one place where the types of a step's own input and output are forgotten: its schemas check them from here on. */
function named<Made>(type: Step["type"], step: Common<never>): Made {
  const retry = { ...DEFAULT_RETRY, ...step.retry };
  return Object.freeze({
    type,
    version: 1,
    when: () => true,
    safeToSkip: false,
    input: anything,
    output: anything,
    ...step,
    retry,
  }) as unknown as Made;
}

function definePipeline(
  pipeline: Omit<Pipeline, "input" | "ends"> & Partial<Pick<Pipeline, "input" | "ends">>,
): Pipeline {
  const { name, steps } = pipeline;
  const names = steps.map((step) => step.name);
  const twice = names.find((step, index) => step === "" || step === ADMIT || names.indexOf(step) !== index);
  if (twice !== undefined)
    throw new Error(
      `Pipeline ${name}: the step name '${twice}' is empty, taken or '${ADMIT}', which is the engine's own`,
    );
  if (steps.length === 0) throw new Error(`Pipeline ${name} has no steps: it would do nothing`);
  const input = pipeline.replaces === true ? replacementInput : z.strictObject({});
  return Object.freeze({ input, ends: false, ...pipeline });
}

/** The one that goes with declaring a resource of this spec, or with deleting it, if there is one. */
export function startingPipeline(
  pipelines: readonly Pipeline[] | undefined,
  spec: unknown,
  ends: boolean,
): Pipeline | undefined {
  return [...new Set((pipelines ?? []).map(({ name }) => name))]
    .flatMap((name) => newestPipeline(pipelines, name) ?? [])
    .find((one) => one.ends === ends && one.startsWith?.(spec) === true);
}

/** The one a new operation runs: the newest of its name. */
export function newestPipeline(pipelines: readonly Pipeline[] | undefined, name: string): Pipeline | undefined {
  return (pipelines ?? [])
    .filter((pipeline) => pipeline.name === name)
    .sort((left, right) => right.version - left.version)[0];
}
