import type { InspectContext, Inspection, Seen, Subject } from "../../kernel/loop.ts";
import { normalName } from "../dns-record/domain-name.ts";
import { foldSeenValue } from "../dns-record/record-value.ts";
import type { DnsAnswer, DnsQueries } from "../../ports/dns-queries.ts";
import type { DnsReader } from "../../ports/dns.ts";
import type { Json } from "../../ports/json.ts";
import { type AskedServer, serversOf } from "./propagation-servers.ts";
import {
  type PropagationReport,
  propagationReportSchema,
  type ServerReport,
  type SetReport,
} from "./propagation-report.ts";
import type { RecordSet } from "./record-set.ts";
import type { DnsZoneSpec } from "./schema.ts";

/** Record sets that are asked for in one look, at every server: what changed lately first. A zone of any size costs no more. */
const mostSets = 10;
const lately = 60 * 60_000;
/** Another few of the rest with each look. */
const everyMs = 300_000;
const atOnce = 8;
const longestAnswer = 300;
/** While servers differ from one another it is looked at again so soon. */
const againInMs = 30_000;

type Context = InspectContext<DnsReader>;

/** How the zone is served by every server of it and seen through resolvers. Asks, and never writes. */
export async function inspectPropagation(
  ctx: Context,
  subject: Subject<DnsZoneSpec>,
  seen: readonly Seen<RecordSet>[],
): Promise<Inspection | undefined> {
  const { propagation } = subject.spec;
  const { queries } = ctx.reader;
  if (propagation === undefined || queries === undefined) return { conditions: [], report: null };
  const zone = normalName(subject.spec.zone);
  const before = propagationReportSchema.safeParse(ctx.before).data ?? { servers: [], sets: [] };
  const asked = await serversOf(ctx, queries, { zone, propagation, seen });
  const servers = await askServers(ctx, queries, { zone, asked, before });
  const awake = asked.filter(({ server }) => servers.find((one) => one.server === server)?.state !== "silent");
  const chosen = chooseSets(ctx, seen, before);
  const sets = await askSets(ctx, queries, { chosen, awake, before });
  const report = { servers, sets };
  const conditions = conditionsOf(report);
  const splits = conditions.some(({ type }) => type === "Split");
  return { conditions, report: report as unknown as Json, againInMs: splits ? againInMs : undefined };
}

interface Chosen {
  readonly key: string;
  readonly item: RecordSet;
  /** Shown also while every server has it: it was changed lately. */
  readonly shown: boolean;
}

/** What was not everywhere the last time, what was written within the hour, and some others in turn. */
function chooseSets(ctx: Context, seen: readonly Seen<RecordSet>[], before: PropagationReport): readonly Chosen[] {
  // What is delegated away is not the servers' own to answer for.
  const able = seen.filter(({ item }) => item.type !== "NS" && item.values.length > 0);
  const byKey = new Map(able.map((one) => [one.key, one]));
  const written = [...ctx.writtenAtMs()]
    .filter(([, atMs]) => ctx.nowMs - atMs < lately)
    .sort((left, right) => right[1] - left[1] || (left[0] < right[0] ? -1 : 1))
    .map(([key]) => key);
  const open = before.sets.filter((set) => set.answers.some(({ state }) => state === "old")).map(({ key }) => key);
  const first = [...new Set([...written, ...open])].filter((key) => byKey.has(key)).slice(0, mostSets);
  const start = able.length === 0 ? 0 : (Math.floor(ctx.nowMs / everyMs) * mostSets) % able.length;
  const others = [...able.slice(start, start + mostSets), ...able.slice(0, mostSets)].map(({ key }) => key);
  const recent = new Set(written);
  return [...new Set([...first, ...others])].slice(0, mostSets).flatMap((key) => {
    const item = byKey.get(key)?.item;
    return item === undefined ? [] : [{ key, item, shown: recent.has(key) }];
  });
}

async function askServers(
  ctx: Context,
  queries: DnsQueries,
  about: { readonly zone: string; readonly asked: readonly AskedServer[]; readonly before: PropagationReport },
): Promise<readonly ServerReport[]> {
  const { zone, asked, before } = about;
  const own = await ctx.read(`serial of ${zone}`, (signal) =>
    ctx.reader.recordSet({ zone, name: zone, type: "SOA" }, signal),
  );
  const answers = await inTurns(asked, ({ address, role }) =>
    queries.ask({ server: address, name: zone, type: "SOA", recursive: role === "resolver" }, ctx.signal),
  );
  const serials = answers.map((answer) => (answer.answered ? serialOf(answer.values[0]) : undefined));
  const newest = [typeof own === "string" ? undefined : serialOf(own.values[0]), ...serials]
    .filter((serial) => serial !== undefined)
    .reduce<number | undefined>(
      (most, serial) => (most === undefined || isNewer(serial, most) ? serial : most),
      undefined,
    );
  return asked.map(({ server, role }, index): ServerReport => {
    const serial = serials[index];
    const answer = answers[index];
    const known = before.servers.find((one) => one.server === server);
    const state = serial === undefined ? "silent" : serial === newest ? "current" : "old";
    const said = serial === undefined ? silence(answer) : String(serial);
    const same = known?.state === state && known.answer === said;
    return { server, role, state, answer: said, sinceMs: same ? known.sinceMs : ctx.nowMs };
  });
}

async function askSets(
  ctx: Context,
  queries: DnsQueries,
  about: {
    readonly chosen: readonly Chosen[];
    readonly awake: readonly AskedServer[];
    readonly before: PropagationReport;
  },
): Promise<readonly SetReport[]> {
  const pairs = about.chosen.flatMap((set) => about.awake.map((server) => ({ set, server })));
  const answers = await inTurns(pairs, ({ set: { item }, server: { address, role } }) =>
    queries.ask({ server: address, name: item.name, type: item.type, recursive: role === "resolver" }, ctx.signal),
  );
  return about.chosen.flatMap(({ key, item, shown }): readonly SetReport[] => {
    const known = about.before.sets.find((set) => set.key === key);
    const row = pairs.flatMap(({ set, server }, index): SetReport["answers"] => {
      if (set.key !== key) return [];
      const { state, said } = judged(item, server, answers[index]);
      const last = known?.answers.find((one) => one.server === server.server);
      const same = last?.state === state && last.answer === said;
      return [{ server: server.server, state, answer: said, sinceMs: same ? last.sinceMs : ctx.nowMs }];
    });
    return shown || row.some(({ state }) => state === "old")
      ? [{ key, wanted: shortened(item.values), answers: row }]
      : [];
  });
}

function judged(item: RecordSet, { role }: AskedServer, answer: DnsAnswer | undefined) {
  if (answer === undefined || !answer.answered) return { state: "silent" as const, said: silence(answer) };
  const values = [...new Set(answer.values.map((value) => foldSeenValue(item.type, value)))].sort();
  const same = values.join("\n") === item.values.join("\n");
  const elsewhere = role === "authoritative" && !answer.authoritative;
  if (!same && elsewhere) return { state: "silent" as const, said: "it refers to another server" };
  return { state: same ? ("current" as const) : ("old" as const), said: shortened(values) };
}

function conditionsOf({ servers, sets }: PropagationReport): Inspection["conditions"] {
  const old = new Set([
    ...servers.filter(({ state }) => state === "old").map(({ server }) => server),
    ...sets.flatMap(({ answers }) => answers.filter(({ state }) => state === "old").map(({ server }) => server)),
  ]);
  const silent = servers.filter(({ state }) => state === "silent");
  const behind = servers.filter(({ server }) => old.has(server));
  const keys = sets.filter(({ answers }) => answers.some(({ state }) => state === "old")).map(({ key }) => key);
  const only = behind.every(({ role }) => role === "resolver") ? "ResolversOld" : "ServersOld";
  const seen = keys.length === 0 ? "" : `; seen with ${keys.join(", ")}`;
  return [
    ...(behind.length === 0
      ? []
      : [
          said(
            "Split",
            only,
            `${behind.map(wordsOf).join(", ")} of ${servers.length} servers still have an older zone${seen}`,
          ),
        ]),
    ...(silent.length === 0 ? [] : [said("Silent", "NoAnswer", silent.map(wordsOf).join("; "))]),
  ];
}

function wordsOf({ server, state, answer }: ServerReport): string {
  return state === "silent" ? `${server}: ${answer}` : `${server} (serial ${answer})`;
}

function said(type: string, reason: string, message: string): Inspection["conditions"][number] {
  return { type, status: "True", reason, message };
}

function shortened(values: readonly string[]): string {
  return values.join(", ").slice(0, longestAnswer) || "nothing";
}

function silence(answer: DnsAnswer | undefined): string {
  return answer === undefined || answer.answered ? "it has no such zone" : answer.message;
}

function serialOf(soa: string | undefined): number | undefined {
  const serial = Number(soa?.split(/\s+/)[2]);
  return Number.isInteger(serial) ? serial : undefined;
}

/** Serials go round (RFC 1982 3.2). */
function isNewer(left: number, right: number): boolean {
  return left !== right && (left - right) >>> 0 < 0x8000_0000;
}

/** A few questions at a time, in order. */
async function inTurns<Entry, Answer>(
  entries: readonly Entry[],
  work: (entry: Entry) => Promise<Answer>,
): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  for (let start = 0; start < entries.length; start += atOnce)
    answers.push(...(await Promise.all(entries.slice(start, start + atOnce).map(work))));
  return answers;
}
