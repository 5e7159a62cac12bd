import { z } from "zod";
import { RetryableError } from "../../src/kernel/errors.ts";
import { defineKind, type Kind } from "../../src/kernel/kind.ts";
import { defineLoop } from "../../src/kernel/loop.ts";
import { type IdempotencyKey, type Pipeline, pipelinesOf } from "../../src/kernel/pipeline.ts";

/** The outside: boxes with a lid, the values in them, and letters that were sent. It counts what was done to it. */
export class Boxes {
  readonly boxes = new Map<string, { lid: boolean; readonly values: Map<string, string> }>();
  readonly letters = new Map<string, string>();
  /** Every write that changed something, in order. */
  readonly effects: string[] = [];
  ready = true;
  /** How many of the next looks see no box, though it is there. */
  hiddenLooks = 0;
  /** Boxes that the outside itself keeps from being removed. */
  readonly locked = new Set<string>();
  /** Boxes that carry nobody's marker, as somebody else's would. */
  readonly bare = new Set<string>();
  /** What the next writes answer instead of being done. */
  readonly failures: Error[] = [];

  box(name: string) {
    return this.boxes.get(name);
  }
  look(name: string) {
    if (this.hiddenLooks === 0) return this.box(name);
    this.hiddenLooks -= 1;
    return undefined;
  }
  #fail(): void {
    const failure = this.failures.shift();
    if (failure !== undefined) throw failure;
  }
  create(name: string): void {
    this.#fail();
    if (this.boxes.has(name)) throw new RetryableError("ALREADY_EXISTS", `${name} exists`, { ambiguous: false });
    this.boxes.set(name, { lid: false, values: new Map() });
    this.effects.push(`create ${name}`);
  }
  remove(name: string): void {
    this.#fail();
    if (this.boxes.delete(name)) this.effects.push(`remove ${name}`);
  }
  setLid(name: string, lid: boolean): void {
    this.#fail();
    const box = this.boxes.get(name);
    if (box === undefined) throw new RetryableError("NOT_FOUND", `${name} is not there`, { ambiguous: false });
    if (box.lid !== lid) this.effects.push(`lid of ${name} ${lid ? "on" : "off"}`);
    box.lid = lid;
  }
  put(name: string, key: string, value: string): void {
    this.#fail();
    if (this.boxes.get(name)?.values.get(key) !== value) this.effects.push(`put ${name} ${key}`);
    this.boxes.get(name)?.values.set(key, value);
  }
  send(text: string, key: IdempotencyKey): void {
    this.#fail();
    if (!this.letters.has(key)) this.effects.push(`send ${text}`);
    this.letters.set(key, text);
  }
}

/** One call to the outside or to the store; whoever crashes the process there throws. */
export type Point = <T>(label: string, handle: () => T) => Promise<T>;

const boxSchema = z.strictObject({ values: z.record(z.string(), z.string()), adopt: z.boolean().default(false) });
export type BoxSpec = z.output<typeof boxSchema>;

/** A kind with everything a pipeline can do in it. */
export function boxKind(outside: Boxes, point: Point = async (_, handle) => handle(), drySeconds = 5): Kind<BoxSpec> {
  return defineKind<BoxSpec>({
    kind: "Box",
    plural: "boxes",
    schema: boxSchema,
    permission: "project.box",
    scopes: ["organization"],
    modeRequired: false,
    accounts: () => [],
    links: () => [],
    loop: boxLoop(outside, point),
    pipelines: [createPipeline(outside, point, drySeconds), deletePipeline(outside, point), twoStepPipeline],
  });
}

function boxLoop(outside: Boxes, point: Point) {
  return defineLoop<BoxSpec, { readonly value: string }>({
    kind: "Box",
    everySeconds: 60,
    desired: (_ctx, box) => ({
      known: true,
      items: Object.entries(box.spec.values).map(([key, value]) => ({ key, item: { value } })),
    }),
    observe: (ctx, box) =>
      ctx.look(() =>
        point("look at values", () =>
          [...(outside.box(box.name)?.values ?? [])].map(([key, value]) => ({
            key,
            externalId: `${box.name}/${key}`,
            item: { value },
          })),
        ),
      ),
    read: (_ctx, box, { key }) =>
      point("read value", () => {
        const value = outside.box(box.name)?.values.get(key);
        return value === undefined ? "absent" : { key, externalId: `${box.name}/${key}`, item: { value } };
      }),
    same: (wanted, seen) =>
      wanted.value === seen.value ? [] : [{ field: "/value", wanted: wanted.value, seen: seen.value }],
    create: async (_ctx, box, { key, item }) => {
      await point("put value", () => outside.put(box.name, key, item.value));
      return { externalId: `${box.name}/${key}` };
    },
    update: (_ctx, box, { key, item }) => point("put value", () => outside.put(box.name, key, item.value)),
    remove: (_ctx, box, { key }) => point("drop value", () => void outside.box(box.name)?.values.delete(key)),
  });
}

function sizeStep(point: Point) {
  const { step } = pipelinesOf<BoxSpec>();
  return step({
    name: "size",
    input: z.object({ keys: z.array(z.string()) }),
    output: z.object({ count: z.number() }),
    given: ({ subject }) => ({ keys: Object.keys(subject.spec.values) }),
    run: async (context, { keys }) => {
      context.progress(`${keys.length} values`);
      return await point("count", () => ({ count: keys.length }));
    },
  });
}

function boxEffect(outside: Boxes, point: Point) {
  const { effect } = pipelinesOf<BoxSpec>();
  return effect({
    name: "box",
    change: "create",
    takesItems: true,
    input: z.object({ name: z.string() }),
    output: z.object({ lid: z.boolean() }),
    given: ({ subject }) => ({ name: subject.name }),
    key: ({ subject }) => `box ${subject.name}`,
    adopts: ({ subject }) => subject.spec.adopt,
    look: (_context, { name }) =>
      point("look at box", () => {
        const found = outside.look(name);
        if (found === undefined) return "absent";
        const lock = outside.locked.has(name) ? { lockedBy: "the owner's lock" } : {};
        return { externalId: `box-${name}`, output: { lid: found.lid }, unmarked: outside.bare.has(name), ...lock };
      }),
    call: async (_context, { name }) => {
      await point("create box", () => outside.create(name));
      return { externalId: `box-${name}`, output: { lid: false } };
    },
    compensate: (context) => point("remove box", () => outside.remove(context.subject.name)),
  });
}

function createPipeline(outside: Boxes, point: Point, drySeconds: number): Pipeline {
  const [size, box] = [sizeStep(point), boxEffect(outside, point)];
  const { effect, once, sleep, waitFor, converge, definePipeline } = pipelinesOf<BoxSpec>();
  const lid = effect({
    name: "lid",
    change: "update",
    safeToSkip: true,
    retry: { times: 3 },
    input: z.object({ name: z.string() }),
    output: z.object({ on: z.boolean() }),
    given: (story) => (story.output(box) === undefined ? undefined : { name: story.subject.name }),
    key: ({ subject }) => `lid of ${subject.name}`,
    look: (_context, { name }) =>
      point("look at lid", () =>
        outside.box(name)?.lid === true ? { externalId: `lid-${name}`, output: { on: true } } : "absent",
      ),
    call: async (_context, { name }) => {
      await point("put lid on", () => outside.setLid(name, true));
      return { externalId: `lid-${name}`, output: { on: true } };
    },
    compensate: (context) => point("take lid off", () => outside.setLid(context.subject.name, false)),
  });
  const ready = waitFor({
    name: "ready",
    everySeconds: 2,
    atMostSeconds: 60,
    until: () => point("ready?", () => (outside.ready ? true : "the glue is wet")),
  });
  const letter = once({
    name: "letter",
    input: z.object({ count: z.number() }),
    output: z.object({ sent: z.boolean() }),
    given: (story) => story.output(size),
    key: ({ subject }) => `letter about ${subject.name}`,
    call: async (context, { count }) => {
      const { idempotencyKey } = context;
      await point("send", () => outside.send(`${context.subject.name} has ${count}`, idempotencyKey));
      return { sent: true };
    },
  });
  return definePipeline({
    name: "box.create",
    version: 1,
    summary: "makes a box, fills it, and tells",
    steps: [
      size,
      box,
      sleep({ name: "dry", forSeconds: () => drySeconds }),
      lid,
      converge({ name: "values" }),
      ready,
      letter,
    ],
  });
}

function deletePipeline(outside: Boxes, point: Point): Pipeline {
  const { effect, definePipeline } = pipelinesOf<BoxSpec>();
  return definePipeline({
    name: "box.delete",
    version: 1,
    summary: "takes a box away with what is in it",
    ends: true,
    startsWith: () => true,
    steps: [
      effect({
        name: "box",
        change: "delete",
        takesItems: true,
        input: z.object({ name: z.string() }),
        output: z.unknown(),
        given: ({ subject }) => ({ name: subject.name }),
        key: ({ subject }) => `box ${subject.name}`,
        look: (_context, { name }) =>
          point("look at box", () => {
            const found = outside.look(name);
            const unmarked = outside.bare.has(name);
            return found === undefined
              ? "absent"
              : { externalId: `box-${name}`, output: undefined, contains: found.values.size, unmarked };
          }),
        call: async (_context, { name }) => {
          await point("remove box", () => outside.remove(name));
          return { externalId: `box-${name}`, output: undefined };
        },
      }),
    ],
  });
}

/** Two steps that touch nothing outside. */
const twoStepPipeline = (() => {
  const { step, definePipeline } = pipelinesOf<BoxSpec>();
  const shape = z.object({ value: z.number() });
  const first = step({
    name: "first",
    input: shape,
    output: shape,
    given: () => ({ value: 1 }),
    run: async (_, { value }) => ({ value: value + 1 }),
  });
  const second = step({
    name: "second",
    input: shape,
    output: shape,
    given: (story) => story.output(first),
    run: async (_, { value }) => ({ value: value + 1 }),
  });
  return definePipeline({ name: "box.count", version: 1, summary: "counts to three", steps: [first, second] });
})();
