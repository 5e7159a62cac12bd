import { z } from "zod";
import { compare } from "../../kernel/diff.ts";
import { TerminalError } from "../../kernel/errors.ts";
import {
  type ChildChange,
  defineLoop,
  type Desired,
  type DesiredContext,
  type LookContext,
  type MeasureContext,
  type Seen,
  type Subject,
} from "../../kernel/loop.ts";
import type { CloudServer, ComputeReader, ComputeWriter, ServerLoad } from "../../ports/compute.ts";
import type { Json, JsonObject } from "../../ports/json.ts";
import type { DeclaredResource } from "../../ports/records.ts";
import { requireCapability } from "../cloud/seen-marker.ts";
import type { HostSpec } from "../host/schema.ts";
import { decideSize, type KeepWindow, type MetricReading, type ScalingSituation } from "./decision.ts";
import { inspectMembers } from "./missing.ts";
import { keptMember, newMember, newNames, victimsOf } from "./members.ts";
import { inspectTemplate } from "./outdated.ts";
import { dayNumber, type ScalingGroupSpec } from "./schema.ts";

const host = "Host";

/** The members of a group are Hosts that it declares; what is outside of each is the Host's own. */
export const scalingGroupLoop = defineLoop<ScalingGroupSpec, HostSpec, ComputeReader, ComputeWriter>({
  kind: "ScalingGroup",
  everySeconds: 60,
  inputs: [host],
  declares: host,
  docks: ({ spec }) => ({ location: spec.template.location }),
  marks: true,
  // A member is deleted at the generation that was seen, in the transaction that deletes it.
  removesOnlyAsSeen: true,
  // Only what the declaration itself covers goes without a person.
  limits: { deletesPerCycle: { count: 0, percent: 0, atLeast: 0 } },
  measure: measureMembers,
  desired: desiredMembers,
  observe: async (ctx) => {
    const { resources, startedAtMonotonicMs } = ctx.declared(host);
    const items = resources.map((resource) => seenMember(ctx, resource));
    return { completeness: "complete", proof: "read with the group itself", startedAtMonotonicMs, items };
  },
  read: async (ctx, _subject, { key }) => {
    const found = ctx.declared(host).resources.find(({ name }) => name === key);
    return found === undefined ? "absent" : seenMember(ctx, found);
  },
  inspect: async (ctx, subject, seen) => {
    const template = inspectTemplate(subject, seen);
    const servers = await inspectMembers(ctx, seen);
    return {
      conditions: [...servers.conditions, ...template.conditions],
      report: { ...servers.report, ...template.report },
    };
  },
  same: (wanted, seen) => compare(plain(wanted), plain(seen)).differences,
  stable: plain,
  create: oneAtATime,
  update: oneAtATime,
  remove: oneAtATime,
  apply: (ctx, _subject, changes) =>
    ctx.children.change(
      changes.map((change): ChildChange => {
        if (change.action === "delete") {
          const { generation, ...spec } = change.seen.item as SeenMember;
          return { action: "delete", name: change.seen.key, spec: plain(spec), generation };
        }
        const action = change.action === "create" ? "create" : "update";
        return { action, name: change.wanted.key, spec: plain(change.wanted.item) };
      }),
    ),
});

async function oneAtATime(): Promise<never> {
  throw new TerminalError("INTERNAL", "Members of a ScalingGroup are declared together");
}

interface SeenMember extends HostSpec {
  /** Of the declaration that was seen. */
  readonly generation: number;
}

/** Whoever names the group is its own: that is what the name in its spec says. */
function seenMember(
  ctx: LookContext<ComputeReader>,
  { uid, name, spec, generation }: DeclaredResource,
): Seen<HostSpec> {
  const item: SeenMember = { ...(spec as unknown as HostSpec), generation };
  return { key: name, externalId: uid, item, marker: ctx.marker };
}

/** As it is declared: without what is not set, and without what only a look knows. */
function plain(item: HostSpec): JsonObject {
  return JSON.parse(JSON.stringify({ ...item, generation: undefined })) as JsonObject;
}

function desiredMembers(ctx: DesiredContext, { name, spec }: Subject<ScalingGroupSpec>): Desired<HostSpec> {
  const parts = ctx.parts(host);
  const members = ctx.inputs<HostSpec>(host);
  const size = parts.filter(({ leaving }) => !leaving).length;
  const names = { used: parts.map((part) => part.name), taken: ctx.stopped };
  const decision = decideSize(situationOf(ctx, spec, size));
  const victims = new Set(victimsOf(name, spec.victims, members, size - decision.size));
  const kept = members
    .filter((member) => !victims.has(member.name))
    .map((member) => ({ key: member.name, item: keptMember(name, spec, member.spec) }));
  const added = newNames(name, names, Math.max(0, decision.size - size)).map((key) => ({
    key,
    item: newMember(name, spec),
  }));
  return {
    known: true,
    items: [...kept, ...added],
    zero: decision.size === 0,
    covered: decision.covered ? [...victims] : [],
    ...(decision.missing === undefined ? {} : { stale: [{ key: "size", reason: decision.missing }] }),
  };
}

function situationOf(ctx: DesiredContext, spec: ScalingGroupSpec, size: number): ScalingSituation {
  const { mode, min, max, desired, stepUp, maxStepDown, cooldownSeconds } = spec;
  return {
    mode,
    min,
    max,
    desired,
    size,
    metrics: readingsOf(ctx, spec),
    stepUp,
    maxStepDown,
    cooldownMs: cooldownSeconds * 1_000,
    lastChangeAtMs: ctx.lastWriteAtMs,
    nowMs: ctx.nowMs,
    keep: spec.keepWindows.map(windowOf),
  };
}

function windowOf({ days, from, to }: ScalingGroupSpec["keepWindows"][number]): KeepWindow {
  const minuteOf = (time: string) => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
  return { days: days.map(dayNumber), fromMinute: minuteOf(from), toMinute: minuteOf(to) };
}

type MetricName = keyof ScalingGroupSpec["metrics"] & keyof ServerLoad;
const metricNames: readonly MetricName[] = ["cpuPercent", "networkMegabits"];

/** By metric and member; null where a member did not say. */
const measuredShape = z.record(z.string(), z.record(z.string(), z.number().nullable()));

function readingsOf({ measured }: DesiredContext, { metrics }: ScalingGroupSpec): readonly MetricReading[] {
  const values = measured.known ? measuredShape.parse(measured.value) : undefined;
  return metricNames.flatMap((name) => {
    const bounds = metrics[name];
    if (bounds === undefined) return [];
    const read = Object.entries(values?.[name] ?? {}).map(([member, value]) => [member, value ?? undefined] as const);
    return [{ name, ...bounds, values: values === undefined ? undefined : new Map(read) }];
  });
}

/** Half a list of servers would be half of a load, so it has to be whole. A member that cannot be asked has no value. */
async function measureMembers(ctx: MeasureContext<ComputeReader>, { spec }: Subject<ScalingGroupSpec>): Promise<Json> {
  if (spec.mode !== "metric") return {};
  requireCapability(ctx.reader.capabilities, "serverMetrics", "scaling by metrics (spec.mode)");
  const servers = await ctx.inventory<CloudServer>("servers");
  if (servers.completeness !== "complete")
    throw new TerminalError("DEPENDENCY_NOT_READY", `The servers were not all listed: ${servers.proof}`);
  const ids = new Map(
    servers.entries.map(({ mark, id }) => [
      typeof mark === "object" && "resourceUid" in mark ? mark.resourceUid : "",
      id,
    ]),
  );
  const untilMs = ctx.nowMs;
  const loads: [string, ServerLoad | undefined][] = [];
  for (const { name, uid } of ctx.parts(host)) {
    const id = ids.get(uid);
    const window = { fromMs: untilMs - spec.windowSeconds * 1_000, untilMs };
    const read = (signal: AbortSignal) =>
      ctx.reader.serverLoad?.(id ?? "", window, signal) ?? Promise.resolve(undefined);
    loads.push([name, id === undefined ? undefined : await ctx.read(`load of ${name}`, read).catch(() => undefined)]);
  }
  return Object.fromEntries(
    metricNames.map((metric) => [
      metric,
      Object.fromEntries(loads.map(([name, load]) => [name, load?.[metric] ?? null])),
    ]),
  );
}
