import { AssertionError } from "node:assert";
import { registerHooks } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { Client } from "pg";
import type { HuntResult } from "./hunt.ts";
import { repository } from "./source-copy.ts";

/**
 * A process of its own for one source root: history after history told to PostgreSQL and to the in-memory twin until
 * they disagree, or until an intent takes more than one transaction. The last line it prints is the result.
 */
const { values } = parseArgs({ options: { src: { type: "string" }, seeds: { type: "string" } } });
const seeds = JSON.parse(values.seeds ?? "[]") as readonly number[];
const STEPS = 150;

// The store of the patched copy stands in for our own. The twin and what it is made of stay as they are.
const own = `${pathToFileURL(join(repository, "src/store")).href}/`;
const patched = `${pathToFileURL(join(values.src ?? join(repository, "src"), "store")).href}/`;
registerHooks({
  resolve(specifier, context, nextResolve) {
    const found = nextResolve(specifier, context);
    return found.url.startsWith(own) ? nextResolve(patched + found.url.slice(own.length), context) : found;
  },
});
const { openReplay } = await import("../store/support/differential.ts");
const { startStoreServer } = await import("../store/support/stores.ts");

/** What people and programs say is one transaction with everything that follows from it. */
const intents = new Set(
  "declare requestDeletion reconcileNow approve reject pause endPause setPolicy startOperation steerOperation".split(
    " ",
  ),
);

async function hunt(): Promise<HuntResult> {
  await using server = await startStoreServer();
  const url = await server.createDatabase();
  await using counter = await transactionCounter(url);
  await using replay = openReplay(url, async ({ method }) => {
    const transactions = await counter.since();
    if (intents.has(method) && transactions > 1) {
      throw new AssertionError({ message: `one transaction: ${method} took ${transactions}` });
    }
  });
  let runs = 0;
  for (const seed of seeds) {
    runs += 1;
    await counter.since();
    const message = await replay.run(seed, STEPS).then(() => undefined, differenceOf);
    if (message !== undefined) return { runs, hit: { seed, rule: ruleOf(message), message } };
  }
  return { runs };
}

/** Counts the transactions that wrote anything since it was last asked. */
async function transactionCounter(url: string): Promise<AsyncDisposable & { since(): Promise<number> }> {
  const client = new Client(url);
  await client.connect();
  // Its own housekeeping would be counted too.
  await client.query("alter system set autovacuum = off");
  await client.query("select pg_reload_conf()");
  let last = 0n;
  return {
    async since() {
      const { rows } = await client.query<{ next: string }>("select pg_snapshot_xmax(pg_current_snapshot()) as next");
      const next = BigInt(rows[0]?.next ?? 0);
      const count = Number(next - last);
      last = next;
      return count;
    },
    [Symbol.asyncDispose]: () => client.end(),
  };
}

/** A statement that PostgreSQL refuses as such is a mutant that does not run, which nobody could take for a mistake. */
function differenceOf(thrown: unknown): string {
  if (!(thrown instanceof AssertionError)) throw thrown;
  const { actual, expected, message } = thrown;
  if (isFailure(actual) && !isFailure(expected))
    throw new Error(`PostgreSQL failed where the twin answered: ${message}`);
  return message;
}

function isFailure(answer: unknown): boolean {
  return typeof answer === "object" && answer !== null && "error" in answer && answer.error === "an error";
}

/** The method whose answers differ, told last, or that what is stored does. */
function ruleOf(message: string): string {
  if (message.startsWith("one transaction")) return "one transaction";
  const steps = message.split("\n").flatMap((line) => /^(?:seed \d+, step \d+: )?\d{13} (\w+) /.exec(line)?.[1] ?? []);
  return steps.length === 0 ? "what is stored" : `answer of ${steps.at(-1)}`;
}

console.log(JSON.stringify(await hunt()));
process.exit(0);
