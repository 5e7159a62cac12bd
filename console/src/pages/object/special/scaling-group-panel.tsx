import { useQuery } from "@tanstack/react-query";
import type { HistoryDocument } from "../../../api/types.ts";
import { Panel } from "../../../components/panel.tsx";
import { duration, useNowMs } from "../../../components/time.tsx";
import type { AboutObject } from "../page.tsx";
import { historyQuery } from "../queries.ts";
import { isSameScope, specOf, useOfKind } from "./around.ts";
import type { HostSpec, ScalingGroupSpec } from "./cloud-specs.ts";
import { Facts, HostList } from "./host-list.tsx";
import { sizesBefore } from "./sizes.ts";

const modes = {
  static: "as many as its spec says",
  manual: "people add and remove members",
  metric: "by the load of its members",
} as const;

/** What a metric is called, and what it is counted in. */
const loads: Readonly<Record<string, readonly [name: string, unit: string]>> = {
  cpuPercent: ["Processor load", "\u00A0%"],
  networkMegabits: ["Network, both ways", "\u00A0Mbit/s"],
};

function boundsWords({ upAbove, downBelow }: { upAbove: number; downBelow: number }, unit: string): string {
  return `grows above ${upAbove}${unit}, shrinks below ${downBelow}${unit}`;
}

/** How large a group is between its bounds, what decides that, how it got there, and who is in it. */
export function ScalingGroupPanel({ organization, path, resource }: AboutObject) {
  const spec = specOf<ScalingGroupSpec>(resource);
  const hosts = useOfKind(organization, "Host").items ?? [];
  const history = useQuery(historyQuery(organization, path)).data?.items ?? [];
  const members = hosts.filter(
    (host) => specOf<HostSpec>(host).group === resource.metadata.name && isSameScope(host.metadata, resource.metadata),
  );
  const staying = members.filter(({ metadata }) => metadata.deletion === undefined);
  const { min, max, desired, mode = "static", metrics = {} } = spec;
  return (
    <Panel title="Size and members" aside={modes[mode]}>
      <Scale min={min} max={max} size={staying.length} desired={desired} />
      <SizeOverTime history={history} size={staying.length} min={min} max={max} />
      <div className="mt-4">
        <Facts
          facts={[
            ...Object.entries(metrics).flatMap(([name, bounds]) =>
              bounds === undefined
                ? []
                : [[loads[name]?.[0] ?? name, boundsWords(bounds, loads[name]?.[1] ?? "")] as const],
            ),
            ["Adds at a time", spec.stepUp ?? 1],
            ["Takes at a time", spec.maxStepDown ?? "the larger of 1 and a tenth"],
            ["Rests after a change", duration((spec.cooldownSeconds ?? 300) * 1_000)],
            ["Goes first", spec.victims ?? "newest"],
            ["Drained for", duration((spec.drainSeconds ?? 30) * 1_000)],
            [
              "Does not shrink on",
              (spec.keepWindows ?? [])
                .map(({ days, from, to }) => `${days.join(", ")} ${from} to ${to} UTC`)
                .join("; ") || "no day",
            ],
          ]}
        />
      </div>
      <h3 className="mt-4 mb-1 text-xs font-semibold text-soft">Members</h3>
      {resource.status.conditions
        .filter(({ type }) => type === "Report/MembersOutdated")
        .map(({ message }) => (
          <p key={message} className="mb-2 rounded-md bg-warn-wash px-3 py-2 text-sm break-words">
            {message}
          </p>
        ))}
      <HostList
        organization={organization}
        items={members}
        about={({ metadata }) => (metadata.deletion === undefined ? undefined : "on its way out")}
        nobody="No member is declared yet."
      />
    </Panel>
  );
}

function Scale({ min, max, size, desired }: { min: number; max: number; size: number; desired: number | undefined }) {
  const most = Math.max(max, size, 1);
  const at = (value: number) => `${(value / most) * 100}%`;
  const words = `${size} member${size === 1 ? "" : "s"}, at least ${min}, at most ${max}${desired === undefined ? "" : `, ${desired} desired`}`;
  return (
    <div>
      <p className="mb-1 text-sm font-medium">{words}</p>
      <div role="img" aria-label={words} className="relative h-5 rounded bg-sunken">
        <span style={{ left: at(min), width: at(max - min) }} className="absolute inset-y-0 rounded bg-accent-wash" />
        <span style={{ width: at(size) }} className="absolute inset-y-1.5 left-0 rounded bg-accent" />
        {desired === undefined ? undefined : (
          <span style={{ left: at(desired) }} className="absolute inset-y-0 w-0.5 -translate-x-1/2 bg-ink" />
        )}
      </div>
    </div>
  );
}

function SizeOverTime({
  history,
  size,
  min,
  max,
}: {
  history: readonly HistoryDocument[];
  size: number;
  min: number;
  max: number;
}) {
  const nowMs = useNowMs();
  const sizes = sizesBefore(history, size);
  if (sizes.length < 2) return undefined;
  const [width, height] = [600, 80];
  const fromMs = (sizes[1]?.atMs ?? nowMs) - 1;
  const most = Math.max(max, ...sizes.map((one) => one.size), 1);
  const x = (atMs: number) => Math.max(0, ((atMs - fromMs) / Math.max(1, nowMs - fromMs)) * width);
  const y = (value: number) => height - 4 - (value / most) * (height - 8);
  const line = sizes.map((one, index) =>
    index === 0 ? `M0 ${y(one.size)}` : `H${x(one.atMs).toFixed(1)}V${y(one.size).toFixed(1)}`,
  );
  const words = `from ${sizes[0]?.size ?? 0} to ${size} members within ${duration(nowMs - fromMs)}, in ${sizes.length - 1} step${sizes.length === 2 ? "" : "s"}`;
  return (
    <figure className="mt-3">
      <svg
        role="img"
        aria-label={`Size over time: ${words}`}
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
        className="h-20 w-full rounded bg-sunken"
      >
        {[min, max].map((bound) => (
          <path
            key={bound}
            d={`M0 ${y(bound)}H${width}`}
            className="stroke-strong-line"
            strokeDasharray="4 4"
            vectorEffect="non-scaling-stroke"
          />
        ))}
        <path
          d={`${line.join("")}H${width}`}
          fill="none"
          strokeWidth="2"
          className="stroke-accent"
          vectorEffect="non-scaling-stroke"
        />
      </svg>
      <figcaption className="mt-1 text-xs text-soft">Size over time, between its bounds: {words}</figcaption>
    </figure>
  );
}
