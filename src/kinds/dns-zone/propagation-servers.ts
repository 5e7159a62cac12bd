import type { InspectContext, Seen } from "../../kernel/loop.ts";
import { normalName } from "../dns-record/domain-name.ts";
import type { DnsQueries } from "../../ports/dns-queries.ts";
import type { DnsReader } from "../../ports/dns.ts";
import { type RecordSet, recordSetKey } from "./record-set.ts";
import type { DnsZoneSpec } from "./schema.ts";

/** RFC 1035 messages held no more name servers than these; nobody has more. */
const mostServers = 13;

export interface AskedServer {
  /** What people call it. */
  readonly server: string;
  readonly address: string;
  readonly role: "authoritative" | "resolver";
}

/** Every server of the zone, by its NS records unless the spec says where they are, and the resolvers of the spec. */
export async function serversOf(
  ctx: InspectContext<DnsReader>,
  queries: DnsQueries,
  about: {
    readonly zone: string;
    readonly propagation: NonNullable<DnsZoneSpec["propagation"]>;
    readonly seen: readonly Seen<RecordSet>[];
  },
): Promise<readonly AskedServer[]> {
  const { zone, propagation, seen } = about;
  const { servers, resolvers } = propagation;
  const asked: AskedServer[] = (servers ?? []).map((server) => ({ server, address: server, role: "authoritative" }));
  if (servers === undefined) {
    const found = await ctx.read(`name servers of ${zone}`, (signal) =>
      ctx.reader.recordSet({ zone, name: zone, type: "NS" }, signal),
    );
    const names = typeof found === "string" ? [] : found.values.map((name) => normalName(name)).sort();
    for (const server of names.slice(0, mostServers))
      asked.push({ server, address: await addressOf(server, queries, seen, ctx.signal), role: "authoritative" });
  }
  return [...asked, ...resolvers.map((server) => ({ server, address: server, role: "resolver" as const }))];
}

/** Inside the zone it is known already, and asking for it would go round in a circle. One address speaks for its server. */
async function addressOf(
  server: string,
  queries: DnsQueries,
  seen: readonly Seen<RecordSet>[],
  signal: AbortSignal,
): Promise<string> {
  for (const type of ["A", "AAAA"]) {
    const key = recordSetKey({ name: server, type });
    const own = seen.find((one) => one.key === key)?.item.values[0];
    if (own !== undefined) return own;
  }
  const [first] = await queries.addresses(server, signal).catch(() => []);
  return first ?? server;
}
