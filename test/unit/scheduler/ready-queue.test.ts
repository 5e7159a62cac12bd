import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ROW } from "../../../src/scheduler/ready-lanes.ts";
import { ReadyQueue, type ReadyQueueLimits, type Slots } from "../../../src/scheduler/ready-queue.ts";
import type { SubjectGroup } from "../../../src/scheduler/subject-groups.ts";

const PERSON = 0;
const EVENT = 1;
const FIRST = 2;
const RESYNC = 3;

const unlimited: Slots = { max: 1_000, perOrganizationMax: 1_000, perAccountMax: 1_000 };
const wide: ReadyQueueLimits = {
  turns: unlimited,
  urgentReserved: 0,
  periodic: unlimited,
  periodicPerSecond: 1_000_000,
  besideOthersPerSecond: 1_000_000,
  queuedMax: 1_000_000,
  queuedPerOrganizationMax: 1_000_000,
};

function group(organizationId: string, accountId?: string, shard = 0): SubjectGroup {
  return { index: 0, organizationId, accountId, kind: "Thing", shard, everyMs: 60_000, phase: 0, subjects: 1 };
}

function offer(
  queue: ReadyQueue,
  id: number,
  rank: number,
  where: SubjectGroup,
  more: { readonly sinceMs?: number; readonly coversDueMs?: number } = {},
): boolean {
  return queue.offer({ id, group: where, rank, sinceMs: more.sinceMs ?? 0, coversDueMs: more.coversDueMs ?? 0 });
}

type Step =
  | { readonly do: "offer"; readonly id: number; readonly rank: number }
  | { readonly do: "take" }
  | { readonly do: "finish"; readonly nth: number }
  | { readonly do: "remove"; readonly id: number }
  | { readonly do: "pass"; readonly ms: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant("offer" as const), id: fc.integer({ min: 1, max: 30 }), rank: fc.nat(3) }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constant("take" as const) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("finish" as const), nth: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("remove" as const), id: fc.integer({ min: 1, max: 30 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("pass" as const), ms: fc.nat(2_000) }) },
);
const slots = fc.record({
  max: fc.integer({ min: 2, max: 12 }),
  perOrganizationMax: fc.integer({ min: 1, max: 6 }),
  perAccountMax: fc.integer({ min: 1, max: 4 }),
});
const limits = fc.record({
  turns: slots,
  urgentReserved: fc.constant(1),
  periodic: slots,
  periodicPerSecond: fc.integer({ min: 1, max: 20 }),
  besideOthersPerSecond: fc.integer({ min: 1, max: 1_000 }),
  queuedMax: fc.constant(1_000),
  queuedPerOrganizationMax: fc.constant(1_000),
});
/** Subjects of three organizations with two accounts each. */
const placeOf = (id: number) => group(`org-${id % 3}`, `account-${id % 6}`);

/** What should be waiting and running, kept as plainly as possible. */
class Model {
  readonly waiting = new Map<number, { rank: number; sinceMs: number }>();
  readonly running = new Map<number, { readonly rank: number; again: { rank: number; sinceMs: number } | undefined }>();

  offer(id: number, rank: number, sinceMs: number): void {
    const running = this.running.get(id);
    if (running !== undefined) {
      running.again = {
        rank: Math.min(rank, running.again?.rank ?? rank),
        sinceMs: Math.min(sinceMs, running.again?.sinceMs ?? sinceMs),
      };
      return;
    }
    const before = this.waiting.get(id);
    this.waiting.set(id, {
      rank: Math.min(rank, before?.rank ?? rank),
      sinceMs: Math.min(sinceMs, before?.sinceMs ?? sinceMs),
    });
  }
}

function checkLimits(model: Model, within: ReadyQueueLimits): void {
  const count = (test: (id: number, rank: number) => boolean) =>
    [...model.running].filter(([id, { rank }]) => test(id, rank)).length;
  assert.ok(count((_, rank) => rank === FIRST) <= within.turns.max - within.urgentReserved);
  for (const periodic of [false, true]) {
    const { max, perAccountMax, perOrganizationMax } = periodic ? within.periodic : within.turns;
    const counted = (test: (id: number) => boolean) => count((id, rank) => (rank === RESYNC) === periodic && test(id));
    assert.ok(counted(() => true) <= max);
    for (const organization of [0, 1, 2]) assert.ok(counted((id) => id % 3 === organization) <= perOrganizationMax);
    for (const account of [0, 1, 2, 3, 4, 5]) assert.ok(counted((id) => id % 6 === account) <= perAccountMax);
  }
}

test("loses nothing, runs nobody twice at once, keeps the most urgent rank and the earliest time, and stays within its limits", () => {
  fc.assert(
    fc.property(limits, fc.array(step, { maxLength: 200 }), (within, steps) => {
      let nowMs = 0;
      const queue = new ReadyQueue(within, nowMs);
      const model = new Model();
      const take = (): boolean => {
        const taken = queue.take(nowMs);
        if (taken === undefined) return false;
        const expected = model.waiting.get(taken.id);
        assert.ok(expected !== undefined, `subject ${taken.id} had its turn without waiting for it`);
        assert.equal(taken.rank, expected.rank);
        assert.equal(taken.sinceMs, expected.sinceMs);
        assert.ok(!model.running.has(taken.id), `subject ${taken.id} has two turns at once`);
        model.waiting.delete(taken.id);
        model.running.set(taken.id, { rank: taken.rank, again: undefined });
        checkLimits(model, within);
        return true;
      };
      const finish = (id: number) => {
        const again = queue.finish(id);
        const expected = model.running.get(id)?.again;
        assert.deepEqual(again === undefined ? undefined : { rank: again.rank, sinceMs: again.sinceMs }, expected);
        model.running.delete(id);
        if (again === undefined) return;
        assert.ok(queue.offer({ ...again, id, group: placeOf(id) }));
        model.offer(id, again.rank, again.sinceMs);
      };
      for (const each of steps) {
        if (each.do === "pass") nowMs += each.ms;
        else if (each.do === "take") take();
        else if (each.do === "offer") {
          assert.ok(offer(queue, each.id, each.rank, placeOf(each.id), { sinceMs: nowMs }));
          model.offer(each.id, each.rank, nowMs);
        } else if (each.do === "remove") {
          queue.remove(each.id);
          model.waiting.delete(each.id);
          const running = model.running.get(each.id);
          if (running !== undefined) running.again = undefined;
        } else {
          const id = [...model.running.keys()][each.nth];
          if (id !== undefined) finish(id);
        }
        assert.equal(queue.size, model.waiting.size);
        assert.equal(queue.running, model.running.size);
        assert.deepEqual(
          queue.depths().map(({ waiting }) => waiting),
          [0, 1, 2, 3].map((rank) => [...model.waiting.values()].filter((entry) => entry.rank === rank).length),
        );
      }
      // Whatever is in line gets its turn once slots and tokens come back.
      for (let rounds = 0; model.waiting.size + model.running.size > 0; rounds++) {
        assert.ok(rounds < 10_000, `${model.waiting.size} subjects never get their turn`);
        const [running] = model.running.keys();
        if (running !== undefined) finish(running);
        nowMs += 1_000;
        take();
      }
    }),
    { numRuns: 300 },
  );
});

test("within a rank organizations take turns, whatever each has waiting", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 2, maxLength: 8 }), (backlogs) => {
      const queue = new ReadyQueue(wide, 0);
      let id = 0;
      for (const [organization, count] of backlogs.entries())
        for (let each = 0; each < count; each++) offer(queue, ++id, EVENT, group(`org-${organization}`));
      const left = [...backlogs];
      const served = backlogs.map(() => 0);
      for (let taken = queue.take(0); taken !== undefined; taken = queue.take(0)) {
        const organization = Number(taken.group.organizationId.slice(4));
        served[organization] = (served[organization] ?? 0) + 1;
        left[organization] = (left[organization] ?? 0) - 1;
        // Those who still wait have had as many turns as anybody, give or take one.
        const most = Math.max(...served);
        for (const [index, remaining] of left.entries())
          if (remaining > 0)
            assert.ok(most - (served[index] ?? 0) <= 1, `org-${index} fell behind: ${served.join(", ")}`);
      }
      assert.deepEqual(
        left,
        backlogs.map(() => 0),
      );
    }),
  );
});

test("within an organization its accounts take turns, and within an account first come is first served", () => {
  const queue = new ReadyQueue(wide, 0);
  for (const id of [1, 2, 3, 4]) offer(queue, id, EVENT, group("acme", "busy"));
  offer(queue, 5, EVENT, group("acme", "calm"));
  offer(queue, 6, EVENT, group("acme"));
  const order = [1, 2, 3, 4, 5, 6].map(() => queue.take(0)?.id);
  assert.deepEqual(order, [1, 5, 6, 2, 3, 4]);
});

test("accounts with many due go in rows, so that what begins together shares a listing", () => {
  const queue = new ReadyQueue(wide, 0);
  const accounts = ["one", "two", "three"];
  for (let id = 0; id < 900; id++) offer(queue, id, EVENT, group("acme", accounts[id % 3]));
  const order = Array.from({ length: 900 }, () => queue.take(0)?.group.accountId);
  const changes = order.filter((account, place) => place > 0 && account !== order[place - 1]).length;
  // Three hundred each: two rows and what is left.
  assert.equal(changes, 8);
  for (const [index, account] of accounts.entries())
    assert.deepEqual(order.slice(index * ROW, (index + 1) * ROW), Array(ROW).fill(account));
});

test("an account with few due waits for no row of another one, and rows do not wait for it", () => {
  const few = fc.array(fc.nat({ max: 2_000 }), { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 6 }), few, (crowds, comesAt) => {
      const queue = new ReadyQueue(wide, 0);
      const crowd = 400;
      for (let id = 0; id < crowds * crowd; id++) offer(queue, id, EVENT, group("acme", `crowd-${id % crowds}`));
      const cameAt = new Map<number, number>();
      let newcomer = 1_000_000;
      for (let turn = 0; queue.size > 0; turn++) {
        for (const at of comesAt) {
          if (at !== turn) continue;
          cameAt.set(++newcomer, turn);
          offer(queue, newcomer, EVENT, group("acme", `calm-${newcomer}`));
        }
        const id = queue.take(0)?.id ?? assert.fail("somebody waits and nobody starts");
        queue.finish(id);
        const since = cameAt.get(id);
        if (since !== undefined)
          assert.ok(turn - since <= 2 * comesAt.length, `a lone subject waited for ${turn - since} turns`);
        cameAt.delete(id);
      }
      assert.equal(cameAt.size, 0);
    }),
  );
});

test("the most urgent goes first, and a flood of it concedes one turn in eight to the rest", () => {
  const queue = new ReadyQueue(wide, 0);
  for (let id = 1; id <= 400; id++) offer(queue, id, Math.floor((id - 1) / 100), group("acme"));
  const ranks = Array.from({ length: 100 }, () => queue.take(0)?.rank);
  assert.deepEqual(ranks.slice(0, 7), [0, 0, 0, 0, 0, 0, 0]);
  assert.equal(ranks.filter((rank) => rank === PERSON).length, 88);
  for (const rank of [1, 2, 3]) assert.equal(ranks.filter((each) => each === rank).length, 4);
});

test("a more urgent reason moves a waiting subject ahead; a less urgent one changes nothing", () => {
  const queue = new ReadyQueue(wide, 0);
  offer(queue, 1, RESYNC, group("acme"), { sinceMs: 10, coversDueMs: 100 });
  offer(queue, 2, EVENT, group("acme"), { sinceMs: 20 });
  offer(queue, 1, PERSON, group("acme"), { sinceMs: 30, coversDueMs: 50 });
  offer(queue, 1, RESYNC, group("acme"), { sinceMs: 40, coversDueMs: 200 });
  const first = queue.take(50);
  assert.deepEqual([first?.id, first?.rank, first?.sinceMs, first?.coversDueMs], [1, PERSON, 10, 200]);
  assert.equal(queue.take(50)?.id, 2);
  assert.equal(queue.take(50), undefined);
});

test("what comes while a subject runs is kept for one more turn", () => {
  const queue = new ReadyQueue(wide, 0);
  offer(queue, 1, RESYNC, group("acme"));
  queue.take(0);
  offer(queue, 1, EVENT, group("acme"), { sinceMs: 5, coversDueMs: 7 });
  offer(queue, 1, PERSON, group("acme"), { sinceMs: 6, coversDueMs: 6 });
  assert.equal(queue.take(0), undefined, "never twice at once");
  assert.deepEqual(queue.finish(1), { rank: PERSON, sinceMs: 5, coversDueMs: 7 });
  assert.equal(queue.finish(1), undefined);
});

test("periodic looks keep to their rate and to slots of their own, so that a person's edit never waits behind them", () => {
  const queue = new ReadyQueue(
    { ...wide, turns: { ...unlimited, max: 1 }, periodic: { ...unlimited, max: 25 }, periodicPerSecond: 10 },
    0,
  );
  for (let id = 1; id <= 1_000; id++) offer(queue, id, RESYNC, group("acme"));
  let started = 0;
  while (queue.take(0) !== undefined) started += 1;
  assert.equal(started, 20, "two seconds' worth at once");
  assert.equal(queue.periodicReadyInMs(0), 100);
  for (const nowMs of [100, 200, 300, 400, 500]) assert.notEqual(queue.take(nowMs), undefined);
  assert.equal(queue.running, 25);
  assert.equal(queue.take(60_000), undefined, "tokens aplenty, but every slot for looks is taken");
  offer(queue, 5_000, PERSON, group("acme"));
  assert.equal(queue.take(60_000)?.id, 5_000, "at once, with 975 looks waiting");
});

test("when the budget of periodic looks is used up, they go on in groups and not one by one", () => {
  const queue = new ReadyQueue({ ...wide, periodicPerSecond: 100 }, 0);
  for (let id = 1; id <= 1_000; id++) offer(queue, id, RESYNC, group("acme"));
  const takeAll = (nowMs: number) => {
    let taken = 0;
    for (let subject = queue.take(nowMs); subject !== undefined; subject = queue.take(nowMs)) {
      queue.finish(subject.id);
      taken += 1;
    }
    return taken;
  };
  assert.equal(takeAll(0), 200);
  assert.deepEqual([50, 90, 100, 110, 200].map(takeAll), [0, 0, 10, 0, 10]);
});

test("no organization and no account fills all slots, so that one whose provider hangs holds up only itself", () => {
  const queue = new ReadyQueue({ ...wide, turns: { max: 16, perOrganizationMax: 12, perAccountMax: 8 } }, 0);
  for (let id = 1; id <= 100; id++) offer(queue, id, PERSON, group("noisy", `account-${id % 2}`));
  let stuck = 0;
  while (queue.take(0) !== undefined) stuck += 1;
  assert.equal(stuck, 12);
  offer(queue, 1_000, EVENT, group("quiet"));
  assert.equal(queue.take(0)?.id, 1_000);
});

test("is bounded in all and per organization; what has no room is refused, what is in line can still become more urgent", () => {
  const queue = new ReadyQueue({ ...wide, queuedMax: 10, queuedPerOrganizationMax: 6 }, 0);
  const accepted = Array.from({ length: 8 }, (_, id) => offer(queue, id, EVENT, group("noisy")));
  assert.deepEqual(accepted, [true, true, true, true, true, true, false, false]);
  for (const id of [100, 101, 102, 103]) assert.equal(offer(queue, id, EVENT, group("quiet")), true);
  assert.equal(offer(queue, 104, EVENT, group("quiet")), false);
  assert.equal(offer(queue, 5, PERSON, group("noisy")), true);
  assert.equal(queue.take(0)?.id, 5);
});

test("forgets a shard: its waiting subjects leave, its running ones end without another turn", () => {
  const queue = new ReadyQueue(wide, 0);
  for (const id of [1, 2, 3, 4]) offer(queue, id, EVENT, group("acme", `account-${id % 2}`, id % 2));
  const running = queue.take(0);
  assert.equal(running?.id, 1);
  offer(queue, 1, PERSON, group("acme", "account-1", 1));
  queue.removeShard(1);
  assert.equal(queue.finish(1), undefined);
  assert.deepEqual([queue.take(0)?.id, queue.take(0)?.id, queue.take(0)], [2, 4, undefined]);
});

/** Latency (waiting and running) of a quiet tenant's subjects, one every 50 ms, each cycle taking 10 ms. */
function quietLatencies(noisy: number): number[] {
  const queue = new ReadyQueue(
    { ...wide, turns: { max: 16, perOrganizationMax: 12, perAccountMax: 8 }, urgentReserved: 4 },
    0,
  );
  for (let id = 1; id <= noisy; id++) offer(queue, id, EVENT, group("noisy", `account-${id % 4}`));
  const ends: { readonly atMs: number; readonly id: number }[] = [];
  const latencies: number[] = [];
  for (let nowMs = 0; nowMs < 10_000; nowMs++) {
    for (; ends[0] !== undefined && ends[0].atMs <= nowMs; ends.shift()) queue.finish(ends[0].id);
    if (nowMs % 50 === 7) offer(queue, 1_000_000 + nowMs, EVENT, group("quiet", "only"), { sinceMs: nowMs });
    for (let taken = queue.take(nowMs); taken !== undefined; taken = queue.take(nowMs)) {
      ends.push({ atMs: nowMs + 10, id: taken.id });
      if (taken.group.organizationId === "quiet") latencies.push(nowMs + 10 - taken.sinceMs);
    }
  }
  return latencies.sort((left, right) => left - right);
}

test("a tenant with 100,000 due subjects does not double another tenant's p95", () => {
  const alone = quietLatencies(0);
  const beside = quietLatencies(100_000);
  assert.equal(beside.length, alone.length, "every one of them had its turn");
  const p95 = (latencies: number[]) => latencies[Math.floor(latencies.length * 0.95)] ?? Number.NaN;
  assert.ok(p95(beside) <= 2 * p95(alone), `p95 ${p95(beside)} ms beside the noisy tenant, ${p95(alone)} ms alone`);
});

test("beside others an organization with many due begins them in small groups at a pace, and without them as fast as it can", () => {
  const queue = new ReadyQueue({ ...wide, besideOthersPerSecond: 1_000 }, 0);
  const noisy = group("noisy");
  for (let id = 1; id <= 200; id++) offer(queue, id, EVENT, noisy);
  const startedAt = (nowMs: number) => {
    const ids: number[] = [];
    for (let next = queue.take(nowMs); next !== undefined; next = queue.take(nowMs)) ids.push(next.id);
    for (const id of ids) queue.finish(id);
    return ids;
  };
  offer(queue, 1_000, EVENT, group("quiet"));
  assert.equal(startedAt(0).filter((id) => id === 1_000).length, 1);
  const paced: number[] = [];
  for (let nowMs = 1; nowMs <= 80; nowMs++) {
    if (nowMs === 40) offer(queue, 1_001, EVENT, group("quiet"));
    const ids = startedAt(nowMs);
    if (nowMs === 40) assert.ok(ids.includes(1_001), "who has few due never waits for the pace");
    paced.push(ids.filter((id) => id < 1_000).length);
    assert.ok(queue.pacedUntilMs > nowMs && queue.pacedUntilMs <= nowMs + 25, "somebody must come back for the rest");
  }
  assert.ok(Math.max(...paced) <= 26, `${Math.max(...paced)} began together`);
  const inAll = paced.reduce((sum, count) => sum + count, 0);
  assert.ok(inAll >= 70 && inAll <= 90, `${inAll} of 80 expected`);
  assert.ok(startedAt(20_000).length > 90, "the other one has gone: all that are left begin at once");
});
