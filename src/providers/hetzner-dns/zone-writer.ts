import { EngineError, RetryableError, TerminalError } from "../../kernel/errors.ts";
import type { DnsChange, DnsZoneWriter } from "../../ports/dns.ts";
import { act } from "../hetzner-cloud/actions.ts";
import type { HetznerClient } from "../hetzner-cloud/client.ts";
import { hetznerDnsCapabilities } from "./capabilities.ts";
import { absoluteValue, type HetznerSet, nameInZone, zonePath } from "./record-set.ts";
import { findSet } from "./zone-listing.ts";

/** What is written with every change, as the mark of the zone, is not asked for again within this time. */
const soForMs = 60_000;

export function zoneWriter(client: HetznerClient): DnsZoneWriter {
  const known = new Map<string, { readonly wanted: string; readonly untilMs: number }>();
  return Object.freeze({
    createZone: async (zone: string, _nameservers: readonly string[], signal: AbortSignal) => {
      // The name servers are Hetzner's own; where the spec wants others, the next step writes them.
      const body = { name: zonePath(zone), mode: "primary" };
      await act(client, { method: "POST", path: ["zones"], body, what: `the making of zone ${zone}` }, signal);
    },
    deleteZone: (zone: string, signal: AbortSignal) => {
      known.clear();
      const call = { method: "DELETE" as const, path: ["zones", zonePath(zone)], what: `the deletion of zone ${zone}` };
      return act(client, call, signal, ["not_found"]);
    },
    signZone: (zone: string) =>
      Promise.reject(
        new TerminalError("PROVIDER_REFUSED", `Hetzner Cloud cannot sign the zone ${zone}: leave out spec.dnssec`),
      ),
    change: async (zone: string, changes: readonly DnsChange[], signal: AbortSignal) => {
      for (const change of changes) requireSomething(zone, change);
      // In this order: a CNAME is refused beside what the same call removes after it.
      const ordered = changes.toSorted(
        (left, right) => Number(right.action === "delete") - Number(left.action === "delete"),
      );
      let written = false;
      for (const change of ordered) {
        const about = aboutOf(zone, change);
        const wanted = JSON.stringify(change);
        const last = change.seen === undefined ? known.get(about) : undefined;
        if (last?.wanted === wanted && last.untilMs > client.clock.monotonicMs()) continue;
        known.delete(about);
        written =
          (await changeOne(client, zone, change, signal).catch((thrown: unknown) => raise(thrown, written))) || written;
        if (change.seen === undefined) known.set(about, { wanted, untilMs: client.clock.monotonicMs() + soForMs });
      }
    },
  } satisfies DnsZoneWriter);
}

/** Each record set is a call for itself: where an earlier one of them was made, nobody may take the whole for undone. */
function raise(thrown: unknown, written: boolean): never {
  if (!written || !(thrown instanceof EngineError)) throw thrown;
  const message = `${thrown.message}. What was asked for before it was done`;
  throw new RetryableError("PROVIDER_UNAVAILABLE", message, { ambiguous: true, cause: thrown });
}

/** Whether anything was written. */
async function changeOne(
  client: HetznerClient,
  zone: string,
  change: DnsChange,
  signal: AbortSignal,
): Promise<boolean> {
  const { name, type } = change.action === "delete" ? change : change.recordSet;
  const place = { zone, name: nameInZone(zone, name), type };
  const now = await findSet(client, place, signal);
  const path = ["zones", zonePath(zone), "rrsets"];
  const one = [...path, place.name, type];
  const what = `the change of ${name} ${type} in zone ${zone}`;
  if (change.action === "delete") {
    if (now === "absent") return false;
    requireAsSeen(zone, what, change, now);
    await act(client, { method: "DELETE", path: one, what }, signal, ["not_found"]);
    return true;
  }
  const { values } = change.recordSet;
  const ttl = Math.max(change.recordSet.ttlSeconds, hetznerDnsCapabilities.leastTtlSeconds);
  const sameValues = now !== "absent" && isSame(valuesOf(zone, now), values);
  if (sameValues && now.ttl === ttl) return false;
  requireAsSeen(zone, what, change, now);
  const records = values.map((value) => ({ value }));
  if (now === "absent") {
    const body = { name: place.name, type, ttl, records };
    await act(client, { method: "POST", path, body, what }, signal).catch((thrown: unknown) =>
      madeMeanwhile(what, thrown),
    );
    return true;
  }
  if (!sameValues)
    await act(client, { method: "POST", path: [...one, "actions", "set_records"], body: { records }, what }, signal);
  if (now.ttl !== ttl)
    await act(client, { method: "POST", path: [...one, "actions", "change_ttl"], body: { ttl }, what }, signal);
  return true;
}

/** The server cannot check it, so it is read right before the call. */
function requireAsSeen(zone: string, what: string, { seen }: DnsChange, now: HetznerSet | "absent"): void {
  if (seen === undefined) return;
  const same =
    now === "absent" || seen === "absent" ? now === "absent" && seen === "absent" : isSame(valuesOf(zone, now), seen);
  if (!same) throw notAsSeen(what);
}

function madeMeanwhile(what: string, thrown: unknown): never {
  throw thrown instanceof EngineError && thrown.code === "ALREADY_EXISTS" ? notAsSeen(what) : thrown;
}

function notAsSeen(what: string): RetryableError {
  return new RetryableError(
    "PRECONDITION_FAILED",
    `Hetzner Cloud: ${what}: what it has is not what was last seen. Nothing was changed; the next look shows what it is`,
    { ambiguous: false },
  );
}

function valuesOf(zone: string, set: HetznerSet): readonly string[] {
  return set.records.map(({ value }) => absoluteValue(zone, set.type, value));
}

function isSame(left: readonly string[], right: readonly string[]): boolean {
  const known = new Set(left);
  return left.length === right.length && right.every((value) => known.has(value));
}

function requireSomething(zone: string, change: DnsChange): void {
  const { name, type } = change.action === "delete" ? change : change.recordSet;
  if (name !== "" && type !== "" && (change.action === "delete" || change.recordSet.values.length > 0)) return;
  throw new TerminalError(
    "WILDCARD_REFUSED",
    `Hetzner Cloud: a change in zone ${zone} names nothing, or would write an empty record set`,
  );
}

function aboutOf(zone: string, change: DnsChange): string {
  const { name, type } = change.action === "delete" ? change : change.recordSet;
  return `${zone} ${name} ${type}`;
}
