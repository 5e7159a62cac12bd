import { z } from "zod";
import type { Kind } from "../../src/kernel/kind.ts";
import type { Found, Pipeline, StepContext } from "../../src/kernel/pipeline.ts";
import { type BoxWriter, boxesOf, type Entry, type SimReader } from "./outside/sim-api.ts";
import type { Production } from "./production.ts";
import { parsedAs, type SetSpec, setLoop } from "./sim-kind.ts";

/** Whoever wants to know which steps a process really runs. */
export type StepRan = (operationId: string, step: string) => void;

/** The steps of each pipeline, for whoever replays a journal without the engine's own code. */
export const boxSteps: Readonly<Record<string, readonly string[]>> = {
  "box.create": ["admit", "measure", "box", "rest", "items", "letter", "seen"],
  "box.delete": ["admit", "box"],
};

/** A set that comes in a box: operations make the box and take it away, the loop looks after what is in it. */
export function boxKind(production: Production, ran: StepRan): Kind<SetSpec> {
  return {
    kind: "SimBox",
    plural: "simboxes",
    schema: parsedAs<SetSpec>(),
    permission: "sim.box",
    scopes: ["organization", "project"],
    modeRequired: false,
    accounts: (spec) => spec.accounts,
    links: () => [],
    loop: setLoop("SimBox", production),
    pipelines: [createPipeline(production, ran), deletePipeline(production, ran)],
  };
}

type Context = StepContext<SetSpec, SimReader>;

/** By name and then by id, so that what is decided on was read by its id right before. */
async function look({ reader, subject }: Context): Promise<Found<{ readonly id: string }> | "absent"> {
  const named = await reader.find(boxesOf(subject.spec.group), "box");
  const entry = named && (await reader.get(named.id));
  return entry === undefined ? "absent" : foundAs(entry, subject.uid);
}

function foundAs({ id, marker, lock }: Entry, uid: string): Found<{ readonly id: string }> {
  const ours = typeof marker === "object" && "resourceUid" in marker && marker.resourceUid === uid;
  const foreign = typeof marker === "object" && !ours ? "somebody else" : undefined;
  return {
    externalId: id,
    output: { id },
    ...(lock === undefined ? {} : { lockedBy: lock }),
    ...(foreign === undefined ? {} : { markedBy: foreign }),
    unmarked: typeof marker !== "object",
  };
}

const boxShape = z.object({ id: z.string() });
const groupShape = z.object({ group: z.string() });

function createPipeline({ pipelinesOf, TerminalError }: Production, ran: StepRan): Pipeline {
  const { step, effect, once, sleep, waitFor, converge, definePipeline } = pipelinesOf<SetSpec, SimReader, BoxWriter>();
  const measure = step({
    name: "measure",
    input: groupShape,
    output: z.object({ size: z.number() }),
    given: ({ subject }) => ({ group: subject.spec.group }),
    run: async ({ operationId, subject }) => {
      ran(operationId, "measure");
      return { size: Object.keys(subject.spec.items).length };
    },
  });
  const box = effect({
    name: "box",
    change: "create",
    input: groupShape,
    output: boxShape,
    given: ({ subject }) => ({ group: subject.spec.group }),
    key: () => "box",
    look,
    call: async ({ operationId, subject, writer, marker }, { group }) => {
      ran(operationId, "box");
      const content = { value: "box", size: 1 };
      const made = await writer.create(subject, { group: boxesOf(group), key: "box", content, marker });
      if ("id" in made) return { externalId: made.id, output: { id: made.id } };
      const { externalId, markedBy } = foundAs(made.taken, subject.uid);
      if (markedBy === undefined && typeof made.taken.marker === "object")
        return { externalId, output: { id: externalId } };
      throw new TerminalError("ALREADY_EXISTS", "the box exists and is not ours");
    },
    compensate: ({ subject, writer }, { externalId }) => writer.remove(subject, externalId),
  });
  const letter = once({
    name: "letter",
    input: boxShape,
    output: z.object({ sent: z.boolean() }),
    given: (story) => story.output(box),
    key: () => "letter",
    call: async ({ operationId, subject, writer, idempotencyKey: orderedBy }) => {
      ran(operationId, "letter");
      await writer.send(subject, { group: subject.spec.group, orderedBy, operationId });
      return { sent: true };
    },
  });
  const seen = waitFor({
    name: "seen",
    safeToSkip: true,
    everySeconds: 2,
    atMostSeconds: 20,
    until: async (context) => ((await look(context)) === "absent" ? "the box is not seen" : true),
  });
  return definePipeline({
    name: "box.create",
    version: 1,
    summary: "makes a box, fills it and tells",
    startsWith: () => true,
    steps: [measure, box, sleep({ name: "rest", forSeconds: () => 1 }), converge({ name: "items" }), letter, seen],
  });
}

function deletePipeline({ pipelinesOf }: Production, ran: StepRan): Pipeline {
  const { effect, definePipeline } = pipelinesOf<SetSpec, SimReader, BoxWriter>();
  const box = effect({
    name: "box",
    change: "delete",
    input: groupShape,
    output: z.unknown(),
    given: ({ subject }) => ({ group: subject.spec.group }),
    key: () => "box",
    look,
    call: async ({ operationId, subject, writer }, _given, found) => {
      ran(operationId, "box");
      if (found === "absent") return { externalId: "box", output: undefined };
      await writer.remove(subject, found.externalId);
      return { externalId: found.externalId, output: undefined };
    },
  });
  const about = { name: "box.delete", version: 1, summary: "takes a box away", ends: true };
  return definePipeline({ ...about, startsWith: () => true, steps: [box] });
}
