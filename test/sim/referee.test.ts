import assert from "node:assert/strict";
import { test } from "node:test";
import { OutsideAccount } from "./outside/outside.ts";
import { BadHistory } from "./referee/bad-history.ts";

const ada = { name: "ada", type: "person" } as const;

/** Each history is right but for one thing, and the referee names the rule that it breaks. */
const histories: readonly { readonly name: string; readonly breaks?: string; tell(history: BadHistory): void }[] = [
  {
    name: "an update of what is declared, under a permit",
    tell: (history) => {
      history.look();
      history.permit("update", "changed");
      history.effect(history.start("update", "changed"), "update", history.putThing("changed"));
    },
  },
  {
    name: "a delete of what nobody wants, looked at twice, read, reserved and permitted",
    tell: (history) => {
      unwant(history);
      history.deleteRightly("doomed");
    },
  },
  { name: "a write without a permit", breaks: "permit", tell: (history) => void history.start("update", "changed") },
  {
    name: "a write under another process's permit",
    breaks: "permit",
    tell: (history) => {
      history.permit("update", "changed");
      history.start("update", "changed", history.other);
    },
  },
  {
    name: "a write after its permit ended",
    breaks: "permit",
    tell: (history) => {
      history.permit("update", "changed");
      history.wait(6_000);
      history.start("update", "changed");
    },
  },
  {
    name: "two calls under one permit",
    breaks: "permit",
    tell: (history) => {
      history.permit("update", "changed");
      history.start("update", "changed");
      history.start("update", "changed");
    },
  },
  {
    name: "an effect that happens after its permit ended",
    breaks: "permit",
    tell: (history) => {
      history.look();
      history.permit("update", "changed");
      const started = history.start("update", "changed");
      history.wait(6_001);
      history.effect(started, "update", history.putThing("changed"));
    },
  },
  {
    name: "a removal that is not declared as one",
    breaks: "permit",
    tell: (history) => {
      unwant(history);
      history.permit("delete", "doomed", { deletes: false });
    },
  },
  {
    name: "a removal that ignores the input version",
    breaks: "permit",
    tell: (history) => {
      unwant(history);
      history.permit("delete", "doomed", { inputs: { check: "sources", sources: [], policyVersion: 1 } });
    },
  },
  {
    name: "a permit without the lease",
    breaks: "stale epoch",
    tell: (history) => history.permit("update", "changed", { actor: { holder: "two", shard: 0, epoch: 1 } }),
  },
  {
    name: "an effect after somebody else took the lease",
    breaks: "stale epoch",
    tell: (history) => {
      history.look();
      history.permit("update", "changed");
      const started = history.start("update", "changed");
      for (const row of history.store.state.tables.shards) row.epoch += 1;
      history.effect(started, "update", history.putThing("changed"));
    },
  },
  {
    name: "a write to another tenant's account",
    breaks: "tenant",
    tell: (history) => {
      history.permit("update", "changed");
      const account = history.store.state.tables.accounts.get("a");
      if (account !== undefined) account.record = { ...account.record, organizationId: "somebody-else" };
      history.start("update", "changed");
    },
  },
  {
    name: "a write that no record explains",
    breaks: "explained",
    tell: (history) => {
      history.permit("update", "changed");
      history.start("update", "kept");
    },
  },
  {
    name: "a permit during a pause",
    breaks: "pause",
    tell: (history) => {
      history.do("pause", pauseOf("writes"));
      history.permit("update", "changed");
    },
  },
  {
    name: "a delete permitted during a pause of deletes",
    breaks: "pause",
    tell: (history) => {
      unwant(history);
      history.do("pause", pauseOf("deletes"));
      history.permit("delete", "doomed");
    },
  },
  {
    name: "a write that starts more than a second after a pause",
    breaks: "pause",
    tell: (history) => {
      history.permit("update", "changed");
      history.do("pause", pauseOf("all"));
      history.wait(1_001);
      history.start("update", "changed");
    },
  },
  {
    name: "a write under an operation's hold",
    breaks: "hold",
    tell: (history) => {
      history.do("placeHold", { organizationId: "t", uid: "uid", operationId: "operation", reason: "rebuilt" });
      history.permit("update", "changed");
    },
  },
  {
    name: "a write in observe mode",
    breaks: "mode",
    tell: (history) => {
      history.declare({ kept: 1, changed: 2, doomed: 1 }, { mode: "observe" });
      history.permit("update", "changed");
    },
  },
  {
    name: "a write in propose mode that nobody approved",
    breaks: "mode",
    tell: (history) => {
      history.do("setPolicy", {
        organizationId: "t",
        policy: { scope: "organization/t", mode: "propose" },
        author: ada,
      });
      history.permit("create", "new");
    },
  },
  {
    name: "a grant that was given for something else",
    breaks: "grant",
    tell: (history) => {
      unwant(history);
      history.permit("delete", "doomed", { grantId: "made-up" });
    },
  },
  {
    name: "a delete of what a policy protects",
    breaks: "protection",
    tell: (history) => {
      unwant(history);
      history.do("setPolicy", { organizationId: undefined, policy: { scope: "platform", protect: true }, author: ada });
      history.permit("delete", "doomed");
    },
  },
  {
    name: "a delete of what was seen locked",
    breaks: "protection",
    tell: (history) => {
      unwant(history);
      history.putThing("doomed", { lock: "do not touch", lockedAtMs: history.world.nowMs - 10 });
      history.deleteRightly("doomed");
    },
  },
  {
    name: "a takeover that nobody approved",
    breaks: "ownership",
    tell: (history) => history.permit("takeover", "changed"),
  },
  {
    name: "an adoption of what does not carry our marker",
    breaks: "ownership",
    tell: (history) => {
      history.putThing("new", { madeFor: undefined, marker: "none" });
      history.permit("adopt", "new");
    },
  },
  {
    name: "a delete of a stranger's thing",
    breaks: "ownership",
    tell: (history) => {
      unwant(history);
      history.putThing("doomed", { madeFor: undefined });
      history.deleteRightly("doomed");
    },
  },
  {
    name: "a delete of what carries a foreign marker",
    breaks: "ownership",
    tell: (history) => {
      unwant(history);
      history.putThing("doomed", { marker: { foreign: "another tool" }, markedAtMs: history.world.nowMs - 10 });
      history.deleteRightly("doomed");
    },
  },
  {
    name: "a memory that forgets a thing of ours",
    breaks: "ownership",
    tell: (history) => {
      const { id, organizationId, resourceUid, accountId, kind, name, shard } = history.subject;
      const subject = { id, organizationId, resourceUid, accountId, kind, name, shard };
      const epoch = history.store.state.tables.shards[shard]?.epoch ?? 0;
      const memory = { ...history.subject.memory, owned: [] };
      const rest = { inputVersion: 1, verdicts: [], gone: false, forgetSources: [], nowOwned: 0 };
      history.do("settle", { actor: { holder: "one", shard, epoch }, subject, memory, ...rest });
    },
  },
  {
    name: "a second thing for one intent",
    breaks: "one thing per intent",
    tell: (history) => {
      history.look();
      history.permit("create", "kept");
      const thing = history.account.things.get("thing-kept") ?? history.putThing("kept");
      history.effect(history.start("create", "kept"), "create", { ...thing, id: "thing-kept-again" });
    },
  },
  {
    name: "a value that nobody declared",
    breaks: "declared",
    tell: (history) => {
      history.look();
      history.permit("update", "changed");
      const thing = history.account.things.get("thing-changed") ?? history.putThing("changed");
      history.effect(history.start("update", "changed"), "update", { ...thing, value: "made up" });
    },
  },
  {
    name: "an operation that did not run and that a loop starts again",
    tell: (history) => {
      history.runOperation("not-run");
      history.startAgain();
    },
  },
  {
    name: "an operation that a loop starts although none was left undone",
    breaks: "started again",
    tell: (history) => history.startAgain(),
  },
  {
    name: "an operation that a loop starts again after somebody cancelled it",
    breaks: "started again",
    tell: (history) => {
      history.runOperation("cancelled");
      history.startAgain();
    },
  },
  {
    name: "an operation that a loop starts again in observe mode",
    breaks: "started again",
    tell: (history) => {
      history.runOperation("not-run");
      history.declare({ kept: 1, changed: 1, doomed: 1 }, { mode: "observe" });
      history.startAgain();
    },
  },
  {
    name: "a delete of what is wanted",
    breaks: "wanted",
    tell: (history) => history.deleteRightly("kept"),
  },
  {
    name: "a delete without a complete look",
    breaks: "evidence",
    tell: (history) => {
      unwant(history);
      history.ledger.looks.clear();
      history.deleteRightly("doomed", ["look"]);
    },
  },
  {
    name: "a delete that rests on a look from before the lease",
    breaks: "evidence",
    tell: (history) => {
      unwant(history);
      history.look();
      for (const row of history.store.state.tables.shards) row.holder = undefined;
      history.wait(1);
      history.do("takeShards", { holder: "one", wanted: 64, leaseMs: 600_000 });
      history.deleteRightly("doomed", ["look"]);
    },
  },
  {
    name: "a delete that was not read right before",
    breaks: "evidence",
    tell: (history) => {
      unwant(history);
      history.deleteRightly("doomed", ["read"]);
    },
  },
  {
    name: "an inferred delete on a second look that came too soon",
    breaks: "evidence",
    tell: (history) => {
      history.declare({ kept: 1, changed: 1 });
      history.look();
      history.wait(4_000);
      history.deleteRightly("doomed");
    },
  },
  {
    name: "an inferred delete while the desired set is unknown",
    breaks: "evidence",
    tell: (history) => {
      unwant(history);
      const resource = history.store.state.tables.resources.get("uid");
      if (resource !== undefined) resource.spec = { ...(resource.spec as object), unknown: true };
      history.deleteRightly("doomed");
    },
  },
  {
    name: "a delete after everything vanished from the declaration",
    breaks: "empty desired",
    tell: (history) => {
      history.declare({});
      history.look();
      history.wait(6_000);
      history.deleteRightly("doomed");
    },
  },
  {
    name: "a delete that was not reserved",
    breaks: "delete budget",
    tell: (history) => {
      unwant(history);
      history.deleteRightly("doomed", ["reserve"]);
    },
  },
  {
    name: "more deletes in one cycle than its budget",
    breaks: "delete budget",
    tell: (history) => {
      history.declare({ kept: 1 });
      history.look();
      history.wait(6_000);
      history.look();
      history.reserve(2);
      for (const key of ["changed", "doomed"]) history.deleteRightly(key, ["look", "reserve"]);
    },
  },
  {
    name: "more deletes in an hour than the account's budget",
    breaks: "delete budget",
    tell: (history) => {
      for (let number = 1; number <= 4; number++)
        history.ledger.ungranted.push({ atMs: history.world.nowMs, levels: ["account a"] });
      unwant(history);
      history.deleteRightly("doomed");
    },
  },
  {
    name: "a reservation for more things than there are",
    breaks: "delete budget",
    tell: (history) => {
      history.look();
      history.reserve(0, 4);
    },
  },
  {
    name: "a write in an account that was swapped long ago",
    breaks: "account identity",
    tell: (history) => {
      const other = { id: "a", organizationId: "t", settleMs: 0, fingerprint: "somebody else" };
      history.outside.connection("a").swapped = new OutsideAccount(other);
      history.ledger.swappedAtMs.set("a", history.world.nowMs - 60_000);
      history.look();
      history.permit("update", "changed");
      history.effect(history.start("update", "changed"), "update", history.putThing("changed"));
    },
  },
  {
    name: "a claim for another incarnation",
    breaks: "account identity",
    tell: (history) => history.referee.claims(history.process, "a", { incarnation: 7 }),
  },
  {
    name: "a generation that goes back",
    breaks: "generation",
    tell: (history) => {
      history.declare({ kept: 2 });
      const resource = history.store.state.tables.resources.get("uid");
      if (resource !== undefined) resource.generation = 0;
      history.declare({ kept: 1 });
    },
  },
];

/** Nothing wants `doomed` any more, and that was found long enough ago. */
function unwant(history: BadHistory): void {
  history.declare({ kept: 1, changed: 1 });
  history.look();
  history.wait(6_000);
}

function pauseOf(level: "deletes" | "writes" | "all") {
  const base = { id: "pause", organizationId: undefined, scope: "platform", author: ada, reason: "look" };
  return { ...base, level, forMs: 60_000 };
}

for (const told of histories) {
  const { name, breaks } = told;
  test(breaks === undefined ? `the referee lets through: ${name}` : `the referee stops: ${name}`, () => {
    const history = new BadHistory();
    told.tell(history);
    assert.equal(history.violation?.invariant, breaks, history.violation?.message);
  });
}
