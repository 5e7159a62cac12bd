import { answerCalls } from "../harness/child.ts";
import { HttpCaller } from "../harness/http-caller.ts";
import { atRate, machineMs } from "../harness/pacing.ts";
import { organization, zoneManifest } from "./geometry.ts";

/** Whoever calls the API, in a process of its own. */
const [, , origin = "", token = ""] = process.argv;
const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
const caller = new HttpCaller({ origin, connections: 64, headers });
const base = `/v1/organizations/${organization}/dnszones`;

async function create(name: string): Promise<void> {
  const { status, text } = await caller.ask("POST", base, JSON.stringify(zoneManifest(name)));
  if (status !== 201) throw new Error(`A create was answered ${status}: ${text.slice(0, 500)}`);
}

async function list(query: string): Promise<{ readonly items: number; readonly next: string | undefined }> {
  const { status, text } = await caller.ask("GET", `${base}?${query}`);
  if (status !== 200) throw new Error(`A list was answered ${status}: ${text.slice(0, 500)}`);
  const page = JSON.parse(text) as { items: readonly unknown[]; nextPageToken?: string };
  return { items: page.items.length, next: page.nextPageToken };
}

const calls = {
  ready(): void {},
  /** So many at a time, as fast as they are answered: milliseconds for all. */
  async createAll(options: {
    readonly count: number;
    readonly atOnce: number;
    readonly name: string;
  }): Promise<number> {
    let next = 0;
    const startedMs = performance.now();
    const work = async () => {
      for (let index = next++; index < options.count; index = next++) await create(`${options.name}-${index}`);
    };
    await Promise.all(Array.from({ length: options.atOnce }, work));
    return performance.now() - startedMs;
  },
  /** At a fixed rate, whatever the answers do: milliseconds of each, from when it was due to be sent. */
  async createAtRate(options: { readonly count: number; readonly perSecond: number; readonly name: string }) {
    const tookMs = new Float64Array(options.count);
    const startedMs = machineMs();
    await atRate({ perSecond: options.perSecond, count: options.count }, async (index) => {
      await create(`${options.name}-${index}`);
      tookMs[index] = machineMs() - (startedMs + (index * 1_000) / options.perSecond);
    });
    return tookMs;
  },
  /** Pages of 100, one after the other, each query followed for a few pages: milliseconds of each page, and how full it was. */
  async list(options: { readonly queries: readonly string[]; readonly pages: number }) {
    const tookMs: number[] = [];
    let items = 0;
    for (const query of options.queries) {
      let next: string | undefined;
      for (let page = 0; page < options.pages; page++) {
        const startedMs = machineMs();
        const answer = await list(next === undefined ? query : `${query}&pageToken=${next}`);
        tookMs.push(machineMs() - startedMs);
        items += answer.items;
        next = answer.next;
        if (next === undefined) break;
      }
    }
    return { tookMs: Float64Array.from(tookMs), items };
  },
};
export type LoadCalls = typeof calls;

answerCalls(calls, () => caller.close());
