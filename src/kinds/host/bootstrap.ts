import { z } from "zod";
import { RetryableError, TerminalError } from "../../kernel/errors.ts";
import { digestOf } from "../../kernel/hash.ts";
import {
  type Effect,
  pipelinesOf,
  type PlainStep,
  type Step,
  type StepOutput,
  type Story,
} from "../../kernel/pipeline.ts";
import type { CloudServer, ComputeReader } from "../../ports/compute.ts";
import type { ScriptRun, ShellReader, ShellTarget, ShellWriter } from "../../ports/shell.ts";
import { serverThing } from "./item.ts";
import { type MadeServer, serverShape } from "./made-server.ts";
import type { HostSpec } from "./schema.ts";

/**
 * What is done by SSH on a new server: its host key is learned or known, and then nothing is done under another one. `pins`: not
 * in this operation alone, but as long as the server is there.
 */
export function bootstrapSteps(
  server: StepOutput<MadeServer>,
  { pins }: { readonly pins: boolean } = { pins: false },
): readonly Step[] {
  const address = addressOf(server);
  const answers = answersAt(address);
  const hostKey = pins ? pinnedKeyAt(address) : hostKeyAt(address);
  const scene: Scene = { address, hostKey };
  const runs = runsAt(scene);
  return [address, answers, hostKey, runs, bootstrapAt(scene, runs), bootstrappedAt(scene, runs), reachableAt(scene)];
}

const cloud = pipelinesOf<HostSpec, ComputeReader>();
const shell = pipelinesOf<HostSpec, ShellReader, ShellWriter>();

type HostStory = Story<HostSpec>;
type Ssh = NonNullable<HostSpec["bootstrap"]>["ssh"];
type Output<Value> = PlainStep & StepOutput<Value>;

interface Address {
  readonly id: string;
  readonly host: string;
  readonly port: number;
}
interface HostKey {
  readonly fingerprint: string;
}
interface Runs {
  /** The run that comes next, or goes on already. */
  readonly run: number;
  /** A run before ended well: there is nothing left to do. */
  readonly bootstrapped: boolean;
}
interface Scene {
  readonly address: StepOutput<Address>;
  readonly hostKey: StepOutput<HostKey>;
}

const addressShape: z.ZodType<Address> = z.object({ id: z.string(), host: z.string(), port: z.int() });
const hostKeyShape: z.ZodType<HostKey> = z.object({ fingerprint: z.string() });
const runsShape: z.ZodType<Runs> = z.object({ run: z.int(), bootstrapped: z.boolean() });

/** A server that is declared off is not signed in to. */
function sshOf({ subject: { spec } }: HostStory): Ssh | undefined {
  return spec.power === "on" ? spec.bootstrap?.ssh : undefined;
}
const isWanted = (story: HostStory) => sshOf(story) !== undefined;

/** The key that signs in is the credential of an account of its own. */
function keyAccount(story: HostStory) {
  const ssh = sshOf(story);
  return ssh === undefined ? undefined : { account: ssh.account, provider: "ssh" };
}

function targetOf(story: HostStory, scene: Scene): ShellTarget | undefined {
  const ssh = sshOf(story);
  const address = story.output(scene.address);
  const hostKey = story.output(scene.hostKey)?.fingerprint;
  if (ssh === undefined || address === undefined || hostKey === undefined) return undefined;
  return { host: address.host, port: address.port, user: ssh.user, hostKey };
}

/** Waiting is for what may still come; what never will is told at once. */
async function orWhyNot(ask: () => Promise<true | string>): Promise<true | string> {
  try {
    return await ask();
  } catch (thrown) {
    if (thrown instanceof RetryableError) return thrown.message;
    throw thrown;
  }
}

function addressOf(server: StepOutput<MadeServer>): Output<Address> {
  return cloud.step<MadeServer, Address>({
    name: "address",
    when: isWanted,
    input: serverShape,
    output: addressShape,
    given: (story) => story.output(server),
    run: async (context, { id }) => {
      const found = await context.reader.server(id, context.signal);
      const host = found === "absent" ? undefined : reachedAt(found);
      if (host !== undefined) return { id, host, port: sshOf(context)?.port ?? 22 };
      throw new TerminalError(
        "PROVIDER_REFUSED",
        `The server ${id} has no address that it could be reached at by SSH: declare spec.publicAddresses or a network, or leave spec.bootstrap out`,
      );
    },
  });
}

function reachedAt({ addresses, networks }: CloudServer): string | undefined {
  const single = addresses.map(({ ip }) => ip.replace(/::\/64$/, "::1")).filter((ip) => !ip.includes("/"));
  return single.find((ip) => !ip.includes(":")) ?? single[0] ?? networks[0]?.ip;
}

function answersAt(address: StepOutput<Address>): Step {
  return shell.waitFor({
    name: "answers",
    when: isWanted,
    at: keyAccount,
    everySeconds: 5,
    atMostSeconds: 600,
    until: (context) =>
      orWhyNot(async () => {
        const at = context.output(address);
        if (at === undefined) return "its address is not known yet";
        await context.reader.hostKey(at, context.signal);
        return true;
      }),
  });
}

/**
 * The key to expect, on record before anybody signs in. What the spec says counts; else what this operation has seen before, whoever
 * let it try again since; else what the server shows now, right after it was made.
 */
function hostKeyAt(address: StepOutput<Address>): Output<HostKey> {
  const hostKey: Output<HostKey> = shell.step<Address, HostKey>({
    name: "host-key",
    when: isWanted,
    at: keyAccount,
    input: addressShape,
    output: hostKeyShape,
    given: (story) => story.output(address),
    run: async (context, at) => {
      const known = sshOf(context)?.hostKey ?? context.earlier(hostKey)?.fingerprint;
      if (known !== undefined) return { fingerprint: known };
      const fingerprint = await context.reader.hostKey(at, context.signal);
      context.progress(`learned the host key ${fingerprint} of ${at.host}: from here on no other one will do`);
      return { fingerprint };
    },
  });
  return hostKey;
}

/**
 * The key to expect, on record with the server itself before anybody signs in: whoever comes later, in whatever operation, keeps to
 * it as long as it is this server. What the spec says counts; else what is on record; else what the server shows now.
 */
function pinnedKeyAt(address: StepOutput<Address>): Effect & StepOutput<HostKey> {
  const onRecord = (story: HostStory) => story.noted(serverThing(story.subject))["hostKey"];
  return shell.effect<Address, HostKey>({
    name: "host-key",
    change: "update",
    when: isWanted,
    at: keyAccount,
    input: addressShape,
    output: hostKeyShape,
    given: (story) => story.output(address),
    key: ({ subject }) => `host key of ${serverThing(subject)}`,
    notesOn: ({ subject }) => serverThing(subject),
    notes: (_story, learned) => (learned === undefined ? {} : { hostKey: learned.fingerprint }),
    look: async (context, { id }) => {
      const known = onRecord(context);
      const declared = sshOf(context)?.hostKey ?? known;
      return known === undefined || known !== declared ? "absent" : { externalId: id, output: { fingerprint: known } };
    },
    call: async (context, at) => {
      const declared = sshOf(context)?.hostKey;
      if (declared !== undefined) return { externalId: at.id, output: { fingerprint: declared } };
      const fingerprint = await context.reader.hostKey(at, context.signal);
      context.progress(
        `learned the host key ${fingerprint} of ${at.host}: as long as it is this server, no other one will do`,
      );
      return { externalId: at.id, output: { fingerprint } };
    },
  });
}

/** The first who signs in. What ran before decides what is run now: one that ended badly is run anew only by a person's word. */
function runsAt(scene: Scene): Output<Runs> {
  return shell.step<ShellTarget, Runs>({
    name: "runs",
    when: isWanted,
    at: keyAccount,
    // A server lets people in a little after it begins to answer.
    retry: { times: 6, firstSeconds: 2, atMostSeconds: 30 },
    input: z.object({ host: z.string(), port: z.int(), user: z.string(), hostKey: z.string() }),
    output: runsShape,
    given: (story) => targetOf(story, scene),
    run: async (context, target) => {
      const last = await context.reader.lastRun(target, context.marker.resourceUid, context.signal);
      if (last === "none") return { run: 1, bootstrapped: false };
      const { number, state, exitCode } = last;
      if (state === "running") return { run: number, bootstrapped: false };
      return { run: number + 1, bootstrapped: state === "ended" && exitCode === 0 };
    },
  });
}

/** The run to start and to wait for; undefined where there is none. */
function runOf(story: HostStory, scene: Scene, runs: StepOutput<Runs>) {
  const target = targetOf(story, scene);
  const script = sshOf(story)?.script;
  const planned = story.output(runs);
  if (target === undefined || script === undefined || planned === undefined) return undefined;
  return { target, script, run: planned.run };
}

function hasWork(story: HostStory, runs: StepOutput<Runs>): boolean {
  return sshOf(story)?.script !== undefined && story.output(runs)?.bootstrapped !== true;
}

interface Order {
  readonly run: number;
  /** What is run is on record by its digest alone. */
  readonly script: string;
  readonly hostKey: string;
}

/** The script is started, and goes on without us. Its number is on the server, so that it is started once, whoever orders it again. */
function bootstrapAt(scene: Scene, runs: StepOutput<Runs>): Step {
  return shell.effect<Order, { readonly run: number }>({
    name: "bootstrap",
    change: "update",
    when: (story) => hasWork(story, runs),
    at: keyAccount,
    retry: { times: 8, firstSeconds: 2, atMostSeconds: 60 },
    input: z.object({ run: z.int(), script: z.string(), hostKey: z.string() }),
    output: z.object({ run: z.int() }),
    given: (story) => {
      const order = runOf(story, scene, runs);
      return order && { run: order.run, script: digestOf(order.script), hostKey: order.target.hostKey };
    },
    key: ({ subject }) => `bootstrap of server ${subject.name}`,
    look: async (context, { run }) => {
      const { target } = required(runOf(context, scene, runs));
      const last = await context.reader.lastRun(target, context.marker.resourceUid, context.signal);
      return last === "none" || last.number < run ? "absent" : { externalId: `run ${run}`, output: { run } };
    },
    call: async (context, { run }) => {
      const { target, script } = required(runOf(context, scene, runs));
      await context.writer.startRun(target, { owner: context.marker.resourceUid, number: run, script }, context.signal);
      context.progress(`run ${run} of the script was started on ${target.host}`);
      return { externalId: `run ${run}`, output: { run } };
    },
  });
}

function required<Value>(value: Value | undefined): Value {
  if (value !== undefined) return value;
  throw new TerminalError("DEPENDENCY_NOT_READY", "What is to be run on the server is not known yet");
}

function bootstrappedAt(scene: Scene, runs: StepOutput<Runs>): Step {
  return shell.waitFor({
    name: "bootstrapped",
    when: (story) => hasWork(story, runs),
    at: keyAccount,
    everySeconds: 5,
    atMostSeconds: 3_600,
    until: (context) =>
      orWhyNot(async () => {
        const { target, run } = required(runOf(context, scene, runs));
        const last = await context.reader.lastRun(target, context.marker.resourceUid, context.signal);
        if (last === "none" || last.number < run) return "the script is starting";
        if (last.state === "ended" && last.exitCode === 0) return true;
        if (last.state === "running") return "the script runs";
        throw endedBadly(context, last);
      }),
  });
}

const saidAtMost = 400;

function endedBadly(
  { operationId, subject }: HostStory,
  { number, state, exitCode, output }: ScriptRun,
): TerminalError {
  const how =
    state === "lost"
      ? "began and is gone, and nothing says how it ended: the server may have been restarted"
      : `ended with exit code ${exitCode}`;
  const said = output === "" ? "It printed nothing." : `It printed last: ${output.slice(-saidAtMost)}`;
  return new TerminalError(
    "PROVIDER_REFUSED",
    `Run ${number} of the script on the server of Host/${subject.name} ${how}. ${said}\nCorrect spec.bootstrap.ssh.script or the server, and run it anew: setpoint ops retry ${operationId} --step runs --reason TEXT. Or take the server back: setpoint ops cancel ${operationId} --reason TEXT`,
  );
}

/** After all that was done to it, it still lets us in. */
function reachableAt(scene: Scene): Step {
  return shell.waitFor({
    name: "reachable",
    when: isWanted,
    at: keyAccount,
    everySeconds: 5,
    atMostSeconds: 600,
    until: (context) =>
      orWhyNot(async () => {
        await context.reader.signIn(required(targetOf(context, scene)), context.signal);
        return true;
      }),
  });
}
