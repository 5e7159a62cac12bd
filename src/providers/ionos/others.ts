import { z } from "zod";
import type { CloudOther } from "../../ports/compute.ts";
import type { InsideFamily } from "./datacenters.ts";
import { idOf, nameAndMark } from "./names.ts";

const otherShape = z.object({ id: z.string(), properties: z.object({ name: z.string().nullish() }) });

/** Families that no kind changes: they are in the inventory, so that nothing in the contract goes unseen. */
export function others(segment: string, type: string): InsideFamily<z.output<typeof otherShape>, CloudOther> {
  return {
    segment,
    depth: 1,
    pageSize: 1_000,
    shape: otherShape,
    entry: ({ id, properties }, datacenter, labels) => ({
      id: idOf(datacenter.id, id),
      ...nameAndMark(properties.name ?? id),
      labels: labels.get(id) ?? {},
      type,
    }),
  };
}
