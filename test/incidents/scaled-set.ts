import { z } from "zod";
import { type Backend, keyValueSet } from "../../examples/key-value-set.ts";
import { defineKind, defineLoop, type Desired, type Kind, plausible, type Wanted } from "../../src/index.ts";

export type Loads = ReadonlyMap<string, number | undefined> | undefined;

const schema = z.strictObject({ max: z.int().min(1), loadPerMember: z.number().positive() });
type ScaledSetSpec = z.output<typeof schema>;

/** The example kind, with as many members as their load asks for: what an autoscaler would declare. */
export function scaledSet(
  backend: Backend,
  readings: () => Loads,
  believe: (loads: Loads) => ReadonlyMap<string, number> | "missing" = plausible,
): Kind<ScaledSetSpec> {
  const { loop, permission, scopes } = keyValueSet(backend);
  if (loop === undefined) throw new Error("The example kind has a loop");
  const desired = (spec: ScaledSetSpec): Desired<{ readonly value: string }> => {
    const loads = believe(readings());
    if (loads === "missing")
      return { known: false, reason: "the members' readings are missing, or zero on all at once" };
    const total = [...loads.values()].reduce((sum, load) => sum + load, 0);
    const count = Math.min(spec.max, Math.max(1, Math.ceil(total / spec.loadPerMember)));
    return { known: true, items: Array.from({ length: count }, (_, index) => member(index + 1)) };
  };
  const scaled = defineLoop<ScaledSetSpec, object>({
    ...(loop as unknown as Parameters<typeof defineLoop<ScaledSetSpec, object>>[0]),
    kind: "ScaledSet",
    desired: (_ctx, set) => desired(set.spec),
  });
  return defineKind<ScaledSetSpec>({
    kind: "ScaledSet",
    plural: "scaledsets",
    schema,
    permission,
    scopes,
    modeRequired: false,
    accounts: () => backend.accounts,
    links: () => [],
    loop: scaled,
  });
}

function member(number: number): Wanted<{ readonly value: string }> {
  return { key: `member-${number}`, item: { value: "running" } };
}

/** What an autoscaler does that takes silence for idleness. */
export function believeEverything(loads: Loads): ReadonlyMap<string, number> {
  return new Map([...(loads ?? [])].map(([name, load]) => [name, load ?? 0]));
}
