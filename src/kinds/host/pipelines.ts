import { z } from "zod";
import { RetryableError, TerminalError } from "../../kernel/errors.ts";
import type { Subject } from "../../kernel/loop.ts";
import { type Found, pipelinesOf, replacementInput, type StepContext, type Story } from "../../kernel/pipeline.ts";
import type { CloudCatalogue, CloudServer, ComputeEngine, ComputeReader, OwnMark } from "../../ports/compute.ts";
import { drainedLabel } from "../cloud/layers.ts";
import { offeredWords } from "../cloud/nearest.ts";
import { bootstrapSteps } from "./bootstrap.ts";
import { coveringFirewalls, firewallSteps } from "./covering-firewalls.ts";
import { balancerSteps } from "./leaving-balancers.ts";
import { serverThing, typeUnknown, wantedBuild, wantedServer } from "./item.ts";
import { type MadeServer, serverShape } from "./made-server.ts";
import type { HostSpec } from "./schema.ts";

const { step, effect, once, sleep, waitFor, converge, definePipeline } = pipelinesOf<
  HostSpec,
  ComputeReader,
  ComputeEngine
>();

const keyOf = ({ subject }: Story<HostSpec>) => serverThing(subject);

/** What can be known before anything is made is refused before anything is made. */
const resolve = step({
  name: "resolve",
  input: z.strictObject({ type: z.string(), image: z.string(), location: z.string() }),
  output: z.object({ monthly: z.string().optional() }),
  given: ({ subject }) => requiredBuild(subject),
  run: async (context, { type, image, location }) => {
    const { reader, signal } = context;
    if (!reader.capabilities.createsServers)
      throw refused("The provider of this account cannot make servers: adopt one");
    const found = await reader.serverType(type, signal);
    if (found === "absent") {
      const there = await offeredIn(context, type, ({ types }) => types);
      throw refused(`The provider has no server type ${type}${there}. Correct spec.type or spec.profile`);
    }
    const offers = found.offers.filter(({ available }) => available).map((offer) => offer.location);
    const offer = found.offers.find((one) => one.location === location || one.locationId === location);
    if (offer === undefined || !offer.available)
      throw refused(
        `The type ${type} is not offered in ${location}. It is in: ${offers.join(", ") || "no location"}. Correct spec.location, or spec.type or spec.profile`,
      );
    if (!(await reader.hasImage(image, found.architecture, signal))) {
      const isForIt = (of: string | undefined) => of === undefined || of === found.architecture;
      const there = await offeredIn(context, image, ({ images }) =>
        images?.filter(({ architecture }) => isForIt(architecture)),
      );
      throw refused(`The provider has no image ${image} for ${found.architecture}${there}. Correct spec.image`);
    }
    context.progress(`${type} in ${location}${offer.monthly === undefined ? "" : `, ${offer.monthly} a month`}`);
    return { monthly: offer.monthly };
  },
});

/** What there is instead, for whoever was refused; without it the refusal stands all the same. */
async function offeredIn(
  { reader, signal }: StepContext<HostSpec, ComputeReader>,
  name: string,
  list: (catalogue: CloudCatalogue) => readonly { readonly name: string }[] | undefined,
): Promise<string> {
  const catalogue = await reader.catalogue?.(signal).catch(() => undefined);
  const all = catalogue === undefined ? undefined : list(catalogue);
  return all === undefined
    ? ""
    : `; ${offeredWords(
        name,
        all.map((one) => one.name),
      )}`;
}

function requiredBuild(subject: Subject<HostSpec>) {
  const build = wantedBuild(subject.spec);
  if (build === undefined) throw refused(typeUnknown(subject));
  return { ...build, image: subject.spec.image };
}

function refused(message: string): TerminalError {
  return new TerminalError("PROVIDER_REFUSED", message);
}

/** The server itself, known by its recorded id, else by its mark; by its name only where the spec says that it may be adopted. */
async function findServer(
  context: StepContext<HostSpec, ComputeReader>,
  byName = context.subject.spec.adopt,
): Promise<CloudServer | undefined> {
  const { reader, marker, signal, subject } = context;
  const recorded = context.made(keyOf(context));
  const known = recorded === undefined ? "absent" : await reader.server(recorded, signal);
  if (known !== "absent") return known;
  const [marked] = await reader.markedServers(marker, signal);
  if (marked !== undefined) return marked;
  const named = byName ? await reader.serverByName(subject.name, signal) : "absent";
  return named === "absent" ? undefined : named;
}

/** What another installation has marked is nobody's to adopt, and what has no mark is ours only by its recorded id. */
function ownerOf({ mark }: CloudServer, { installationId }: OwnMark): Pick<Found, "markedBy" | "unmarked"> {
  if (mark === "none") return { unmarked: true };
  if ("foreign" in mark) return { markedBy: mark.foreign };
  return mark.installationId === installationId ? {} : { markedBy: `the installation ${mark.installationId}` };
}

/** `mayBegin`: where another server has to be gone first, this one is only looked for once it is. */
const serverStep = (options: { mayBegin(story: Story<HostSpec>): boolean; adopts(spec: HostSpec): boolean }) =>
  effect<{ readonly name: string }, MadeServer>({
    name: "server",
    change: "create",
    takesItems: true,
    retry: { times: 8, firstSeconds: 2, atMostSeconds: 120 },
    input: z.strictObject({ name: z.string() }),
    output: serverShape,
    given: (story) => (options.mayBegin(story) ? { name: story.subject.name } : undefined),
    key: keyOf,
    adopts: ({ subject }) => options.adopts(subject.spec),
    notes: ({ subject }) => ({ image: subject.spec.image }),
    look: async (context) => {
      const found = await findServer(context, options.adopts(context.subject.spec));
      return found === undefined
        ? "absent"
        : { externalId: found.id, output: { id: found.id }, ...ownerOf(found, context.marker) };
    },
    call: async (context) => {
      const { subject, writer, marker: mark, signal } = context;
      const { spec } = subject;
      const { name, labels } = wantedServer(subject);
      // Asked right before the order: whoever is declared later than this finds a host that was there before.
      const closed = (await coveringFirewalls(context)).length > 0;
      const ensured = await writer.ensureServer(
        {
          name,
          labels,
          mark,
          closed,
          ...requiredBuild(subject),
          // Addresses that the spec names are given when the loop attaches the network.
          networks: spec.networks.filter(({ ip }) => ip === undefined).map((network) => network.name),
          firewalls: spec.firewalls.map((firewall) => firewall.name),
          sshKeys: spec.sshKeys,
          userData: spec.userData,
          publicAddresses: spec.publicAddresses,
        },
        signal,
      );
      const { id } = ensured.server;
      context.progress(ensured.found ? `server ${id} was there already` : `server ${id} is being made`);
      return { externalId: id, output: ensured.work === undefined ? { id } : { id, work: ensured.work } };
    },
    compensate: ({ writer, marker: mark, signal }, made) =>
      writer.ensureServerGone({ id: made.externalId, mark }, signal),
  });

const server = serverStep({ mayBegin: () => true, adopts: ({ adopt }) => adopt });

/** What was adopted, or lost its labels, is marked before the loop has it: what is ours must be seen to be ours. */
const marked = effect({
  name: "mark",
  change: "update",
  input: serverShape,
  output: z.object({ id: z.string() }),
  given: (story) => story.output(server),
  key: (story) => `mark of ${keyOf(story)}`,
  look: async ({ reader, marker, signal }, { id }) => {
    const found = await reader.server(id, signal);
    if (found === "absent") return "absent";
    const { mark } = found;
    const ours = typeof mark === "object" && "resourceUid" in mark && mark.resourceUid === marker.resourceUid;
    return ours ? { externalId: id, output: { id } } : "absent";
  },
  call: async ({ subject, writer, marker: mark, signal }, { id }) => {
    const { name, labels } = wantedServer(subject);
    await writer.describeServer(id, { name, labels, mark }, signal);
    return { externalId: id, output: { id } };
  },
});

const made = waitFor({
  name: "made",
  everySeconds: 5,
  atMostSeconds: 900,
  until: async (context) => {
    const { reader, signal } = context;
    const output = context.output(server);
    if (output === undefined) return "the server is not made yet";
    const work = output.work === undefined ? "done" : await reader.work(output.work, signal);
    if (typeof work === "object") return `the provider could not make it: ${work.failed}`;
    if (work === "running") return "the provider is making it";
    const found = await reader.server(output.id, signal);
    if (found === "absent") return "the provider does not show the server";
    return found.power !== "changing" || "the server is starting";
  },
});

/** The last look: whatever took its time before it, the server is there and runs as declared. */
const active = step({
  name: "active",
  input: serverShape,
  output: z.object({ id: z.string() }),
  given: (story) => story.output(server),
  run: async (context, { id }) => {
    const { reader, signal, subject } = context;
    const found = await reader.server(id, signal);
    if (found === "absent")
      throw refused(
        `The server ${id} of Host/${subject.name} went while it was made ready: setpoint ops release ID --reason TEXT, and setpoint ops start host/${subject.name} host.create`,
      );
    if (subject.spec.bootstrap === undefined)
      context.progress(
        `the provider says that it is ${found.power}; without spec.bootstrap.ssh nothing is connected to`,
      );
    if (found.power === subject.spec.power) return { id };
    const message = `The server ${id} is ${found.power}, and declared ${subject.spec.power}`;
    throw new RetryableError("DEPENDENCY_NOT_READY", message, { ambiguous: false });
  },
});

const createPipeline = {
  name: "host.create",
  startsWith: () => true,
  docks: ({ location }: HostSpec) => ({ location }),
};
const createSteps = [resolve, server, marked, made, converge({ name: "settled" })];
export const hostCreateFirst = definePipeline({
  ...createPipeline,
  version: 1,
  summary: "makes the server or adopts it, with its networks and firewalls, and brings it to what is declared",
  steps: createSteps,
});
const createSummary =
  "makes the server or adopts it, with its networks and firewalls, brings it to what is declared, and makes it ready by SSH";
export const hostCreateSecond = definePipeline({
  ...createPipeline,
  version: 2,
  summary: createSummary,
  steps: [...createSteps, ...bootstrapSteps(server), active],
});
/** A host key that was learned is kept to beyond the operation that learned it. */
export const hostCreateThird = definePipeline({
  ...createPipeline,
  version: 3,
  summary: createSummary,
  steps: [...createSteps, ...bootstrapSteps(server, { pins: true }), active],
});
/** It ends with the rules of its firewalls on it, and does not stay closed for one that is gone. */
export const hostCreate = definePipeline({
  ...createPipeline,
  version: 4,
  summary: createSummary,
  steps: [...createSteps, ...firewallSteps(server), ...bootstrapSteps(server, { pins: true }), active],
});

/** A server that lost its labels is marked again first: nothing is removed that is not surely ours. */
const markedAgainAs = (name: string) =>
  effect({
    name,
    change: "update",
    input: z.strictObject({ name: z.string() }),
    output: z.unknown(),
    given: ({ subject }) => ({ name: subject.name }),
    key: (story) => `mark of ${keyOf(story)}`,
    look: async (context) => {
      const id = context.made(keyOf(context));
      const found = id === undefined ? "absent" : await context.reader.server(id, context.signal);
      const bare = found !== "absent" && found.mark === "none";
      return bare ? "absent" : { externalId: id ?? "none", output: undefined };
    },
    call: async (context) => {
      const { writer, marker: mark, signal, subject } = context;
      const id = context.made(keyOf(context)) ?? "";
      const { name, labels } = wantedServer(subject);
      await writer.describeServer(id, { name, labels, mark }, signal);
      return { externalId: id, output: undefined };
    },
  });

const markedAgain = markedAgainAs("mark");

/** Out of every load balancer that finds it by labels; its firewalls find it still. Those that name the host keep it from going. */
const drained = effect({
  name: "drain",
  change: "update",
  when: ({ subject }) => subject.spec.drainSeconds > 0,
  input: z.strictObject({ name: z.string() }),
  output: z.object({ out: z.boolean() }),
  given: ({ subject }) => ({ name: subject.name }),
  key: (story) => `drain of ${keyOf(story)}`,
  look: async (context) => {
    const { reader, signal } = context;
    const id = context.made(keyOf(context));
    const found = id === undefined ? "absent" : await reader.server(id, signal);
    if (found === "absent" || !reader.capabilities.loadBalancers)
      return { externalId: id ?? "none", output: { out: false } };
    return found.labels[drainedLabel] === undefined ? "absent" : { externalId: found.id, output: { out: true } };
  },
  call: async (context) => {
    const { writer, marker: mark, signal, subject } = context;
    const id = context.made(keyOf(context)) ?? "";
    const { name, labels } = wantedServer(subject);
    await writer.describeServer(id, { name, labels: { ...labels, [drainedLabel]: "true" }, mark }, signal);
    context.progress(`out of the load balancers for ${subject.spec.drainSeconds} s before it goes`);
    return { externalId: id, output: { out: true } };
  },
});

/** What it still has to answer, it answers meanwhile. */
const drainTime = sleep({
  name: "drained",
  when: (story) => story.output(drained)?.out === true,
  forSeconds: ({ subject }) => subject.spec.drainSeconds,
});

const removal = effect({
  name: "server",
  change: "delete",
  takesItems: true,
  input: z.strictObject({ name: z.string() }),
  output: z.unknown(),
  given: ({ subject }) => ({ name: subject.name }),
  key: keyOf,
  look: async (context) => {
    const id = context.made(keyOf(context));
    const found = id === undefined ? "absent" : await context.reader.server(id, context.signal);
    return found === "absent" ? "absent" : { externalId: found.id, output: undefined, lockedBy: found.lockedBy };
  },
  call: async (context) => {
    const { writer, marker: mark, signal } = context;
    const id = context.made(keyOf(context)) ?? "";
    await writer.ensureServerGone({ id, mark }, signal);
    return { externalId: id, output: undefined };
  },
});

const gone = waitFor({
  name: "gone",
  everySeconds: 5,
  atMostSeconds: 900,
  until: async ({ reader, marker, signal }) =>
    (await reader.markedServers(marker, signal)).length === 0 || "the provider still shows the server",
});

const deletePipeline = { name: "host.delete", ends: true, startsWith: () => true };
export const hostDeleteFirst = definePipeline({
  ...deletePipeline,
  version: 1,
  summary: "removes the server, and sees that it is gone",
  steps: [markedAgain, removal, gone],
});
const deleteSummary = "takes the server out of the load balancers, removes it, and sees that it is gone";
export const hostDeleteSecond = definePipeline({
  ...deletePipeline,
  version: 2,
  summary: deleteSummary,
  steps: [markedAgain, drained, drainTime, removal, gone],
});
/** The time to drain begins when it is out of them. */
export const hostDelete = definePipeline({
  ...deletePipeline,
  version: 3,
  summary: deleteSummary,
  steps: [markedAgain, drained, ...balancerSteps(drained), drainTime, removal, gone],
});

const replacedServer = (story: Story<HostSpec>) => replacementInput.parse(story.input).replaces;

/** The very server that was approved to go. Whoever lets this be run again does not lose the one that was made since. */
const replaced = effect({
  name: "old-server",
  change: "delete",
  takesItems: true,
  when: (story) => [undefined, replacedServer(story)].includes(story.made(keyOf(story))),
  input: z.strictObject({ id: z.string() }),
  output: z.unknown(),
  given: (story) => ({ id: replacedServer(story) }),
  key: keyOf,
  look: async ({ reader, signal }, { id }) => {
    const found = await reader.server(id, signal);
    return found === "absent" ? "absent" : { externalId: id, output: undefined, lockedBy: found.lockedBy };
  },
  call: async ({ writer, marker: mark, signal }, { id }) => {
    await writer.ensureServerGone({ id, mark }, signal);
    return { externalId: id, output: undefined };
  },
});

const replacedGone = waitFor({
  name: "gone",
  everySeconds: 5,
  atMostSeconds: 900,
  until: async (context) => {
    const marked = await context.reader.markedServers(context.marker, context.signal);
    return marked.every(({ id }) => id !== replacedServer(context)) || "the provider still shows the old server";
  },
});

/** What stands in the place of the old one is made, and never found: nobody approved that a stranger takes it. */
const newServer = serverStep({
  mayBegin: (story) => story.made(keyOf(story)) !== replacedServer(story),
  adopts: () => false,
});

const replacePipeline = {
  name: "host.replace",
  replaces: true,
  summary:
    "sees that the new server can be had, takes the old one out of the load balancers, removes it, and makes the new one as declared",
};
const replaceSteps = {
  draining: [resolve, markedAgainAs("old-mark"), drained],
  removing: [drainTime, replaced, replacedGone],
  making: [newServer, marked, made, converge({ name: "settled" })],
  ending: [...bootstrapSteps(newServer, { pins: true }), active],
};
export const hostReplaceFirst = definePipeline({
  ...replacePipeline,
  version: 1,
  steps: [...replaceSteps.draining, ...replaceSteps.removing, ...replaceSteps.making, ...replaceSteps.ending],
});
/** With what `host.delete` and `host.create` do about load balancers and firewalls by now. */
export const hostReplace = definePipeline({
  ...replacePipeline,
  version: 2,
  steps: [
    ...replaceSteps.draining,
    ...balancerSteps(drained),
    ...replaceSteps.removing,
    ...replaceSteps.making,
    ...firewallSteps(newServer),
    ...replaceSteps.ending,
  ],
});

const powerInput = z.strictObject({ power: z.enum(["on", "off", "reset"]) });
const powerOf = (story: Story<HostSpec>) => powerInput.parse(story.input).power;

const switched = effect({
  name: "switch",
  change: "update",
  when: (story) => powerOf(story) !== "reset",
  input: z.strictObject({ power: z.enum(["on", "off"]) }),
  output: z.unknown(),
  given: (story) => {
    const power = powerOf(story);
    if (power !== "reset" && power !== story.subject.spec.power)
      throw refused(
        `Host/${story.subject.name} is declared ${story.subject.spec.power}: change spec.power, and its loop switches it`,
      );
    return power === "reset" ? undefined : { power };
  },
  key: (story) => `power of ${keyOf(story)}`,
  look: async (context, { power }) => {
    const found = await findServer(context);
    return found?.power === power ? { externalId: found.id, output: undefined } : "absent";
  },
  call: async (context, { power }) => {
    const id = await requireServer(context);
    await context.writer.setPower(id, power, context.signal);
    return { externalId: id, output: undefined };
  },
});

/** Version 1 ordered a reset by a key that no provider knows: one whose answer was lost was ordered again. */
const resetByKey = once({
  name: "reset",
  when: (story) => powerOf(story) === "reset",
  input: z.strictObject({}),
  output: z.object({ id: z.string() }),
  given: () => ({}),
  key: (story) => `reset of ${keyOf(story)}`,
  call: async (context) => {
    const id = await requireServer(context);
    await context.writer.resetServer(id, context.signal);
    return { id };
  },
});

async function requireServer(context: StepContext<HostSpec, ComputeReader>): Promise<string> {
  const found = await findServer(context);
  if (found !== undefined) return found.id;
  throw refused(
    `Host/${context.subject.name} has no server: setpoint ops start host/${context.subject.name} host.create`,
  );
}

/** The last reset before ours: a newer one is ours, whether its answer was heard or not. */
const lastReset = step({
  name: "last-reset",
  when: (story) => powerOf(story) === "reset",
  input: z.strictObject({}),
  output: z.object({ id: z.string(), last: z.string() }),
  given: () => ({}),
  run: async (context) => {
    const id = await requireServer(context);
    return { id, last: (await context.reader.lastReset?.(id, context.signal)) ?? "none" };
  },
});

const reset = effect({
  name: "reset",
  change: "update",
  when: (story) => powerOf(story) === "reset",
  input: z.object({ id: z.string(), last: z.string() }),
  output: z.object({ id: z.string() }),
  given: (story) => story.output(lastReset),
  key: (story) => `reset of ${keyOf(story)}`,
  look: async ({ reader, signal }, { id, last }) => {
    const newest = await reader.lastReset?.(id, signal);
    return newest === undefined || newest === last ? "absent" : { externalId: newest, output: { id } };
  },
  call: async ({ writer, signal }, { id }) => {
    await writer.resetServer(id, signal);
    return { externalId: id, output: { id } };
  },
});

const powerPipeline = {
  name: "host.power",
  summary: "switches the server on or off as declared, or resets it",
  input: powerInput,
};
export const hostPowerFirst = definePipeline({ ...powerPipeline, version: 1, steps: [switched, resetByKey] });
export const hostPower = definePipeline({ ...powerPipeline, version: 2, steps: [switched, lastReset, reset] });
