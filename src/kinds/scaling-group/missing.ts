import { z } from "zod";
import type { InspectContext, Inspection, Seen } from "../../kernel/loop.ts";
import type { JsonObject } from "../../ports/json.ts";
import type { ComputeReader } from "../../ports/compute.ts";
import type { HostSpec } from "../host/schema.ts";

/** Members are asked for one by one, so only few of them, and only those that may have none. */
const asksAtMost = 5;
/** A server takes a while, and who asks before would only say so. */
const notBeforeMs = 60_000;
const newForMs = 600_000;

const reportShape = z.object({ withoutServer: z.array(z.string()) });

/**
 * A group is as declared when its members are declared; whether each of them has come to a server is the Host's to say. Of those
 * that the group declared a while ago and that have none, it says so: who made the group looks there first.
 */
export async function inspectMembers(
  ctx: InspectContext<ComputeReader>,
  seen: readonly Seen<HostSpec>[],
): Promise<Omit<Inspection, "report"> & { readonly report: JsonObject }> {
  const known = new Set(reportShape.safeParse(ctx.before).data?.withoutServer ?? []);
  const written = ctx.writtenAtMs();
  const isNew = (name: string) => {
    const ageMs = ctx.nowMs - (written.get(name) ?? Number.NEGATIVE_INFINITY);
    return ageMs >= notBeforeMs && ageMs <= newForMs;
  };
  const doubtful = seen.filter(({ key }) => known.has(key) || isNew(key));
  const without: string[] = [];
  for (const [index, member] of doubtful.entries()) {
    const isAsked = index < asksAtMost;
    if (isAsked ? !(await hasServer(ctx, member)) : known.has(member.key)) without.push(member.key);
  }
  const report = { withoutServer: without };
  const [first] = without;
  if (first === undefined) return { conditions: [], report };
  const message = `${without.length} of ${seen.length} members have no server (yet): ${without.slice(0, 5).join(", ")}. See: setpoint why host/${first}`;
  return { conditions: [{ type: "MembersMissing", status: "True", reason: "NoServer", message }], report };
}

async function hasServer(
  ctx: InspectContext<ComputeReader>,
  { key, externalId, marker }: Seen<HostSpec>,
): Promise<boolean> {
  if (typeof marker !== "object" || !("installationId" in marker)) return true;
  const mark = { installationId: marker.installationId, resourceUid: externalId };
  const found = await ctx.read(`the server of ${key}`, (signal) => ctx.reader.markedServers(mark, signal));
  return found.length > 0;
}
