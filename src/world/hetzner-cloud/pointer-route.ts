import { z } from "zod";
import { startAction } from "./actions.ts";
import { bodyOf } from "./body.ts";
import type { HetznerRoute } from "./call.ts";
import { actionRoute, type Collection, tableOf } from "./collection.ts";
import { invalidInput } from "./errors.ts";
import { covers, withPointer } from "./public-addresses.ts";

const pointerSchema = z.object({ ip: z.string().min(1), dns_ptr: z.string().nullable() });

/** The name that an address of its own resolves to: the same for floating and for primary ones. */
export function pointerRoute<N extends "floatingIps" | "primaryIps">(collection: Collection<N>): HetznerRoute {
  return actionRoute(collection, "change_dns_ptr", (call, held) => {
    const { ip, dns_ptr } = bodyOf(call, pointerSchema);
    if (!covers(held.ip, ip)) throw invalidInput("ip", `is not part of this ${collection.title}`);
    const pointers = withPointer(held.pointers, ip, dns_ptr ?? undefined);
    return startAction(call, {
      command: "change_dns_ptr",
      resources: [{ id: held.id, type: collection.one }],
      now: () => tableOf(call, collection).put({ ...held, pointers }),
    });
  });
}
