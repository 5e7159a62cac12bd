import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { EngineError, type ErrorCode, RetryableError } from "../../../src/kernel/errors.ts";
import type { Completeness } from "../../../src/ports/provider.ts";
import { worldToken } from "../../../src/world/account-book.ts";
import { type AimedFault, CloudOverHttp, type CloudSide, cloudSides } from "../../support/cloud-over-http.ts";

/** What differs in words between the clouds. */
type Words = Readonly<Record<CloudSide["cloud"], RegExp>>;
const both = (words: RegExp): Words => ({ "hetzner-cloud": words, ionos: words });

interface OrderCase {
  readonly title: string;
  readonly fault: (side: CloudSide) => AimedFault;
  readonly code: ErrorCode;
  /** Whether the client says that it may have happened; undefined: trying again cannot help. */
  readonly ambiguous: boolean | undefined | Readonly<Record<CloudSide["cloud"], boolean>>;
  readonly afterMs?: number;
  readonly words: Words;
  /** Whether the server is there although the client was not told so. */
  readonly isMade: boolean;
}

const lost = (["before", "after"] as const).flatMap((when): OrderCase[] => {
  const rest = { ambiguous: true, isMade: when === "after" };
  const words = both(/did not answer the creation of server web-1/);
  const broken = { kind: "error" as const, when, status: 500, code: "broken", message: "the rack is on fire" };
  return [
    {
      title: `no answer, ${when} the effect`,
      fault: () => ({ kind: "timeout", when }),
      code: "TIMED_OUT",
      words: both(/did not answer the creation of server web-1: no answer within 2000 ms/),
      ...rest,
    },
    {
      title: `a cut, ${when} the effect`,
      fault: () => ({ kind: "cut", when }),
      code: "PROVIDER_UNAVAILABLE",
      words,
      ...rest,
    },
    {
      title: `500, ${when} the effect`,
      fault: () => broken,
      code: "PROVIDER_UNAVAILABLE",
      words: both(/answered 500 to the creation of server web-1: broken: the rack is on fire/),
      ...rest,
    },
  ];
});

const orders: readonly OrderCase[] = [
  ...lost,
  {
    title: "an answer that comes too late",
    fault: () => ({ kind: "latency", ms: 120_000 }),
    code: "TIMED_OUT",
    ambiguous: true,
    words: both(/no answer within 2000 ms/),
    isMade: true,
  },
  {
    title: "429",
    fault: () => ({ kind: "rate-limit", retryAfterSeconds: 30 }),
    code: "RATE_LIMITED",
    ambiguous: false,
    afterMs: 30_000,
    words: { "hetzner-cloud": /429 .*rate_limit_exceeded: limit of requests/, ionos: /429 .*rate limit exceeded/ },
    isMade: false,
  },
  {
    title: "a suspended account",
    fault: () => ({ kind: "suspended-account" }),
    code: "CREDENTIAL_REFUSED",
    ambiguous: undefined,
    words: {
      "hetzner-cloud": /403 .*forbidden: your account is suspended/,
      ionos: /403 .*326: The contract is locked/,
    },
    isMade: false,
  },
  {
    title: "a token that has expired",
    fault: () => ({ kind: "expired-token" }),
    code: "CREDENTIAL_REFUSED",
    ambiguous: undefined,
    words: { "hetzner-cloud": /401 .*unauthorized: unable to authenticate/, ionos: /401 .*315: Unauthorized/ },
    isMade: false,
  },
  ...(["no-capacity", "region-outage"] as const).map(
    (kind): OrderCase => ({
      title: kind === "no-capacity" ? "no capacity" : "a region that is out",
      fault: ({ region }) => ({ kind, location: region }),
      code: "PROVIDER_UNAVAILABLE",
      // One of them says it by a status that may also come after the effect.
      ambiguous: { "hetzner-cloud": false, ionos: true },
      afterMs: 60_000,
      words: { "hetzner-cloud": /412 .*resource_unavailable/, ionos: /503 .*currently not available/ },
      isMade: false,
    }),
  ),
];

interface ListCase {
  readonly title: string;
  readonly fault: AimedFault;
  readonly completeness: Completeness;
  readonly proof: Words;
  /** How much of everything is listed. */
  readonly share?: number;
  readonly code?: ErrorCode;
}

const failed = (title: string, fault: AimedFault, code: ErrorCode, proof: RegExp): ListCase => ({
  title,
  fault,
  completeness: "failed",
  proof: both(proof),
  share: 0,
  code,
});

const lists: readonly ListCase[] = [
  failed("no answer", { kind: "timeout" }, "TIMED_OUT", /page 1 failed: .*no answer within 2000 ms/),
  failed("an answer too late", { kind: "latency", ms: 120_000 }, "TIMED_OUT", /no answer within 2000 ms/),
  failed("a cut", { kind: "cut" }, "PROVIDER_UNAVAILABLE", /page 1 failed: .* did not answer/),
  failed("503", { kind: "error", message: "in an hour" }, "PROVIDER_UNAVAILABLE", /page 1 failed: .*503.*: in an hour/),
  failed("404", { kind: "error", status: 404, message: "gone" }, "NOT_FOUND", /page 1 failed: .*404.*: gone/),
  failed("429", { kind: "rate-limit", retryAfterSeconds: 9 }, "RATE_LIMITED", /page 1 failed: .*429/),
  failed("a suspended account", { kind: "suspended-account" }, "CREDENTIAL_REFUSED", /page 1 failed: .*403/),
  failed("an expired token", { kind: "expired-token" }, "CREDENTIAL_REFUSED", /page 1 failed: .*401/),
  {
    title: "a late answer",
    fault: { kind: "latency", ms: 700 },
    completeness: "complete",
    proof: both(/pages read to the end/),
  },
  {
    title: "half a list that counts the whole",
    fault: { kind: "half-list", total: "kept" },
    completeness: "partial",
    proof: {
      "hetzner-cloud": /60 entries read, the provider counts 120/,
      ionos: /page 4 failed: .* from 210 with nothing, after it had linked to it/,
    },
    share: 0.5,
  },
  {
    title: "a page that begins with the last of the one before",
    fault: { kind: "duplicate-page" },
    completeness: "partial",
    proof: both(/^entry .* was listed twice$/),
  },
  {
    title: "pages of another order",
    fault: { kind: "reordered-list" },
    completeness: "partial",
    proof: both(/^entry .* was listed twice$/),
  },
  {
    title: "the first page for every page",
    fault: { kind: "repeated-page" },
    completeness: "partial",
    proof: {
      "hetzner-cloud": /page 2 failed: .*page 2 of the list of servers with page 1, followed by 2/,
      // The empty data center, which is listed first, is a page as well.
      ionos: /page 3 failed: .*the list of servers of data center .* from 200 with the page from 0/,
    },
  },
  // These two nobody can tell by the list alone: what is known by its id is asked for before it counts as gone.
  {
    title: "half a list that counts itself",
    fault: { kind: "half-list" },
    completeness: "complete",
    proof: both(/read to the end/),
    share: 0.5,
  },
  {
    title: "a list of before",
    fault: { kind: "stale-list", ageSeconds: 600 },
    completeness: "complete",
    proof: both(/read to the end/),
    share: 0,
  },
];

async function thrownBy(work: Promise<unknown>): Promise<EngineError> {
  const thrown: unknown = await work.then(
    () => assert.fail("nothing was thrown"),
    (reason: unknown) => reason,
  );
  return thrown instanceof EngineError ? thrown : assert.fail(String(thrown));
}

function requireNoToken(stage: CloudOverHttp, said: string): void {
  assert.ok(stage.lines.length > 0);
  assert.doesNotMatch(`${said} ${stage.lines.join("\n")}`, new RegExp(worldToken("demo")));
}

async function requireWhole(stage: CloudOverHttp, servers: number): Promise<void> {
  const { inventory } = await stage.list();
  assert.deepEqual([inventory.completeness, inventory.entries.length], ["complete", servers], inventory.proof);
}

async function runOrder(side: CloudSide, each: OrderCase): Promise<void> {
  await using stage = await CloudOverHttp.open(side);
  await stage.fault({ method: "POST", ...each.fault(side) });
  const thrown = await thrownBy(stage.account.writer.ensureServer(stage.intent, stage.signal));
  assert.equal(thrown.code, each.code, thrown.message);
  assert.match(thrown.message, each.words[side.cloud]);
  const ambiguous = typeof each.ambiguous === "object" ? each.ambiguous[side.cloud] : each.ambiguous;
  assert.equal(thrown instanceof RetryableError ? thrown.ambiguous : undefined, ambiguous, thrown.message);
  if (each.afterMs !== undefined && thrown instanceof RetryableError) assert.equal(thrown.afterMs, each.afterMs);
  requireNoToken(stage, thrown.message);
  if (side.cloud === "hetzner-cloud" && thrown.message.includes("answered")) {
    const [, request = ""] = /\(request ([0-9a-f]{16})\)/.exec(thrown.message) ?? [];
    assert.match(stage.lines.join("\n"), new RegExp(`"request":"${request}"`));
    assert.notEqual(request, "");
  }
  assert.ok((await stage.struck()) > 0, "the fault was met");
  assert.equal(await stage.made(), each.isMade ? 1 : 0);
  await stage.heal();
  const again = await stage.account.writer.ensureServer(stage.intent, stage.signal);
  assert.deepEqual([again.found, again.server.name, await stage.made()], [each.isMade, "web-1", 1]);
  await requireWhole(stage, side.filled + 1);
}

async function runList(side: CloudSide, each: ListCase): Promise<void> {
  await using stage = await CloudOverHttp.open(side);
  const whole = await stage.list();
  const last = whole.inventory.entries.at(-1) as { readonly id: string };
  await stage.fault({ method: "GET", ...each.fault });
  const { inventory, error } = await stage.list();
  const { completeness, proof, entries } = inventory;
  assert.equal(completeness, each.completeness, proof);
  assert.match(proof, each.proof[side.cloud]);
  if (each.share !== undefined) assert.equal(entries.length, side.filled * each.share);
  else if (completeness === "complete") assert.equal(entries.length, side.filled);
  if (each.code !== undefined) assert.equal((error as EngineError).code, each.code);
  if (each.fault.ms !== undefined) assert.ok(stage.waitsMs.includes(each.fault.ms));
  requireNoToken(stage, proof);
  assert.ok((await stage.struck()) > 0, "the fault was met");
  if (completeness === "complete") {
    const one = await stage.account.reader.server(last.id, stage.signal);
    assert.equal(one === "absent" ? one : one.id, last.id, "what is read by its id is there");
  }
  await stage.heal();
  await requireWhole(stage, side.filled);
}

const isWaitedOut = ({ code }: { readonly code?: ErrorCode }) => code === "TIMED_OUT";

for (const side of cloudSides)
  describe(`${side.title} over HTTP`, () => {
    for (const each of orders.filter((one) => !isWaitedOut(one)))
      test(`a server is ordered: ${each.title}`, () => runOrder(side, each));
    for (const each of lists.filter((one) => !isWaitedOut(one)))
      test(`servers are listed: ${each.title}`, () => runList(side, each));
    // Their deadlines pass together.
    describe("without an answer in time", { concurrency: true }, () => {
      for (const each of orders.filter(isWaitedOut))
        test(`a server is ordered: ${each.title}`, () => runOrder(side, each));
      for (const each of lists.filter(isWaitedOut))
        test(`servers are listed: ${each.title}`, () => runList(side, each));
    });

    test("a token that opens another account shows another identity, and nothing of ours", async () => {
      await using stage = await CloudOverHttp.open(side);
      const { account, signal } = stage;
      await account.claim?.({ installationId: "installation-1", incarnation: 1 }, signal);
      const ours = await account.identity(signal);
      await stage.fault({ kind: "other-account", as: "other", path: "." });
      assert.notEqual((await account.identity(signal)).fingerprint, ours.fingerprint);
      assert.deepEqual((await stage.list()).inventory.entries, []);
      await stage.heal();
      assert.deepEqual(await account.identity(signal), ours);
      requireNoToken(stage, "");
    });

    test("work that takes long is running, and then done", async () => {
      await using stage = await CloudOverHttp.open(side, { pace: 1 });
      const { account, signal } = stage;
      await stage.pass(600);
      await stage.fault({ kind: "slow-actions", factor: 100, times: 1 });
      const { work = "" } = await account.writer.ensureServer(stage.intent, signal);
      await stage.pass(300);
      assert.equal(await account.reader.work(work, signal), "running");
      await stage.pass(36_000);
      assert.equal(await account.reader.work(work, signal), "done");
      assert.equal(await stage.made(), 1);
    });

    test("work that fails says why, and has made nothing", async () => {
      await using stage = await CloudOverHttp.open(side, { pace: 1 });
      const { account, signal } = stage;
      await stage.pass(600);
      await stage.fault({ kind: "failed-actions", method: "POST", code: "broken", message: "no luck", times: 1 });
      const { work = "" } = await account.writer.ensureServer(stage.intent, signal);
      await stage.pass(3_600);
      const state = await account.reader.work(work, signal);
      assert.match(typeof state === "object" ? state.failed : state, /broken.*no luck/);
      assert.equal(await stage.made(), 0);
    });

    test("what somebody does at the console is seen by the next look", async () => {
      await using stage = await CloudOverHttp.open(side);
      const { account, signal } = stage;
      const { server } = await account.writer.ensureServer(stage.intent, signal);
      const [place = "", own] = server.id.split(":");
      const at = own === undefined ? `/servers/${place}` : `/datacenters/${place}/servers/${own}`;
      const renamed = await (own === undefined
        ? stage.console("PUT", at, { name: "theirs" })
        : stage.console("PATCH", at, { name: "theirs" }));
      assert.ok(JSON.stringify(renamed).includes("theirs"));
      const seen = await account.reader.server(server.id, signal);
      assert.equal(seen === "absent" ? seen : seen.name, "theirs");
      await stage.console("DELETE", at);
      assert.equal(await account.reader.server(server.id, signal), "absent");
      await requireWhole(stage, side.filled);
    });
  });
