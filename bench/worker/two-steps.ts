import { z } from "zod";
import { defineKind, type Kind } from "../../src/kernel/kind.ts";
import { defineLoop } from "../../src/kernel/loop.ts";
import { pipelinesOf } from "../../src/kernel/pipeline.ts";

/** A kind with nothing outside, and a pipeline of two steps that touch nothing but the journal. */
export function twoStepKind(): Kind {
  const { step, definePipeline } = pipelinesOf<Record<string, never>>();
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
  const loop = defineLoop<Record<string, never>, object>({
    kind: "Bench",
    everySeconds: 3_600,
    desired: () => ({ known: true, items: [] }),
    observe: (ctx) => ctx.look(async () => []),
    read: async () => "absent",
    same: () => [],
    create: async () => ({ externalId: "" }),
    update: async () => {},
    remove: async () => {},
  });
  return defineKind<Record<string, never>>({
    kind: "Bench",
    plural: "benches",
    schema: z.object({}),
    permission: "project.bench",
    scopes: ["organization"],
    modeRequired: false,
    accounts: () => [],
    links: () => [],
    loop,
    pipelines: [definePipeline({ name: "bench.two", version: 1, summary: "counts to three", steps: [first, second] })],
  });
}
