import { epochMsOfIso, isoSecond } from "../../runtime/iso-second.ts";
import { type Call, type HetznerRoute, ok } from "./call.ts";
import { type Collection, thingOf } from "./collection.ts";
import { invalidInput } from "./errors.ts";
import type { ServerLoadSetting } from "./project.ts";

const serverSeries: Readonly<Record<string, readonly string[]>> = {
  cpu: ["cpu"],
  disk: ["disk.0.iops.read", "disk.0.iops.write", "disk.0.bandwidth.read", "disk.0.bandwidth.write"],
  network: ["network.0.pps.in", "network.0.pps.out", "network.0.bandwidth.in", "network.0.bandwidth.out"],
};
const balancerSeries: Readonly<Record<string, readonly string[]>> = {
  open_connections: ["open_connections"],
  connections_per_second: ["connections_per_second"],
  requests_per_second: ["requests_per_second"],
  bandwidth: ["bandwidth.in", "bandwidth.out"],
};

/** A number between 0 and 100 that belongs to a thing, a series and a time, whoever asks and how often. */
function sample(id: number, series: string, seconds: number): number {
  let mixed = id;
  for (const letter of series) mixed = Math.imul(mixed ^ letter.charCodeAt(0), 0x01000193);
  mixed = Math.imul(mixed ^ seconds, 0x85ebca6b);
  return ((mixed ^ (mixed >>> 13)) >>> 0) % 101;
}

function route(
  collection: Collection<"servers"> | Collection<"loadBalancers">,
  known: Readonly<Record<string, readonly string[]>>,
): HetznerRoute {
  return {
    method: "GET",
    path: `/${collection.path}/{id}/metrics`,
    answer: (call) => {
      const { id, name } = thingOf(call, collection as Collection<"servers">);
      const types = call.query.getAll("type").flatMap((type) => type.split(","));
      const series = types.flatMap((type) => known[type] ?? []);
      if (types.length === 0 || types.some((type) => known[type] === undefined)) {
        throw invalidInput("type", `must be one or more of ${Object.keys(known).join(", ")}`);
      }
      const [fromMs, untilMs] = [timeOf(call, "start"), timeOf(call, "end")];
      const step = Number(call.query.get("step") ?? Math.max(1, Math.ceil((untilMs - fromMs) / 1_000 / 200)));
      if (!(step >= 1) || untilMs < fromMs) throw invalidInput("step", "must be at least 1");
      const times = Array.from(
        { length: Math.min(500, Math.floor((untilMs - fromMs) / 1_000 / step) + 1) },
        (_, at) => Math.floor(fromMs / 1_000) + at * step,
      );
      const told = collection.path === "servers" ? (call.project.load[name] ?? call.project.load["*"]) : undefined;
      const time_series = Object.fromEntries(series.map((one) => [one, { values: valuesOf(told, one, id, times) }]));
      return ok({ metrics: { start: isoSecond(fromMs), end: isoSecond(untilMs), step, time_series } });
    },
  };
}

function valuesOf(
  told: ServerLoadSetting | undefined,
  series: string,
  id: number,
  times: readonly number[],
): readonly [number, string][] {
  const set = series === "cpu" ? told?.cpu : series.includes("bandwidth") ? told?.network : undefined;
  if (set === null) return [];
  return times.map((at) => [at, String(set ?? sample(id, series, at))]);
}

function timeOf(call: Call, name: string): number {
  const time = epochMsOfIso(call.query.get(name) ?? "");
  if (time === undefined) throw invalidInput(name, "must be a time of ISO 8601");
  return time;
}

export function serverMetricsRoute(servers: Collection<"servers">): HetznerRoute {
  return route(servers, serverSeries);
}

export function balancerMetricsRoute(loadBalancers: Collection<"loadBalancers">): HetznerRoute {
  return route(loadBalancers, balancerSeries);
}
