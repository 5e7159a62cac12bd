import { type Pipeline, pipelinesOf, type Story } from "setpoint";
import { z } from "zod";
import { type Backend, keyValueSet } from "./key-value-set.ts";

const schema = z.strictObject({
  items: z.record(z.string(), z.string()),
  published: z.boolean().optional().describe("An index of the set is kept beside it, for as long as the set is there."),
});
type PublishedSpec = z.output<typeof schema>;

/** What the steps of a pipeline need of wherever the items are kept. */
export interface Shelf {
  get(key: string): Promise<string | undefined>;
  put(key: string, value: string): Promise<void>;
  remove(key: string): Promise<void>;
}

const { step, effect, converge, definePipeline } = pipelinesOf<PublishedSpec>();
const countShape = z.object({ keys: z.number() });
const indexShape = z.object({ text: z.string() });

/** The index is one key more on the same shelf. */
function indexOf({ subject }: Story<PublishedSpec>): string {
  return `index of ${subject.name}`;
}

/** The set first, then its index: whoever reads the index finds everything that it names. */
function publish(shelf: Shelf): Pipeline {
  const count = step({
    name: "count",
    input: z.object({ keys: z.array(z.string()) }),
    output: countShape,
    given: ({ subject }) => ({ keys: Object.keys(subject.spec.items) }),
    run: async (context, { keys }) => {
      context.progress(`${keys.length} keys`);
      return { keys: keys.length };
    },
  });
  const index = effect({
    name: "index",
    change: "create",
    input: countShape,
    output: indexShape,
    given: (story) => story.output(count),
    key: indexOf,
    look: async (context) => {
      const text = await shelf.get(indexOf(context));
      return text === undefined ? "absent" : { externalId: indexOf(context), output: { text } };
    },
    call: async (context, { keys }) => {
      const text = `${keys} keys`;
      await shelf.put(indexOf(context), text);
      return { externalId: indexOf(context), output: { text } };
    },
    compensate: (context) => shelf.remove(indexOf(context)),
  });
  return definePipeline({
    name: "key-value-set.publish",
    version: 1,
    summary: "brings the items to what is declared, then puts an index beside them",
    startsWith: (spec) => spec.published === true,
    steps: [converge({ name: "items" }), count, index],
  });
}

function withdraw(shelf: Shelf): Pipeline {
  const index = effect({
    name: "index",
    change: "delete",
    input: z.object({}),
    output: z.unknown(),
    given: () => ({}),
    key: indexOf,
    look: async (context) => {
      const text = await shelf.get(indexOf(context));
      return text === undefined ? "absent" : { externalId: indexOf(context), output: undefined };
    },
    call: async (context) => {
      await shelf.remove(indexOf(context));
      return { externalId: indexOf(context), output: undefined };
    },
  });
  return definePipeline({
    name: "key-value-set.withdraw",
    version: 1,
    summary: "takes the index away before the set goes",
    ends: true,
    startsWith: (spec) => spec.published === true,
    steps: [index],
  });
}

/** The kind of the tutorial with long work: a set that is `published` has an index, made and taken away by operations. */
export function publishedKeyValueSet(backend: Backend & Shelf) {
  return { ...keyValueSet(backend), schema, pipelines: [publish(backend), withdraw(backend)] };
}
