import assert from "node:assert/strict";
import { test } from "node:test";
import { Fleet, until } from "../support/crates/fleet.ts";

const IN_FLIGHT = 50;
const NEW = 10;

/** Release 1 knows crate.pack 1; release 2 knows 1 and 2, where 2 has one step more. */
test("a rolling upgrade with 50 operations in flight finishes them all, each on the version it started with", {
  timeout: 400_000,
}, async () => {
  await using fleet = await Fleet.open();
  const { outside } = fleet;
  await fleet.api(1);
  const organizations = await fleet.organizations(8);
  const crates = (prefix: string, count: number) =>
    Array.from({ length: count }, (_, index) => ({
      organization: organizations[index % organizations.length] ?? "",
      name: `${prefix}-${index}`,
    }));
  const [old, fresh] = [crates("old", IN_FLIGHT), crates("new", NEW)];
  const versionsOf = async (some: typeof old) =>
    new Set(
      await Promise.all(
        some.map(async ({ organization, name }) => (await fleet.operation(organization, name)).version),
      ),
    );

  const before = await fleet.worker(1);
  await fleet.pack(old);
  const waiting = () => new Set(outside.calls.map(({ path }) => path).filter((path) => path.startsWith("/gate/old")));
  await until("50 operations to be in flight", async () => waiting().size === IN_FLIGHT);

  // The API is upgraded first: what it starts now is more than the old worker knows.
  await fleet.api(2);
  await fleet.pack(fresh);
  const { organization = "", name = "" } = fresh[0] ?? {};
  await until("the old worker to say what it does not know", async () => {
    const { message, state } = await fleet.operation(organization, name);
    return state === "running" && message === "waits for a worker that knows crate.pack version 2: this one does not";
  });
  // Which blocks nobody: the next one of the same tenant goes on.
  outside.isOpen = (crate) => crate === "old-0";
  await until("an old one to finish meanwhile", async () => (await fleet.states())["succeeded"] === 1);
  assert.equal(outside.crates.has(name), false);

  const after = await fleet.worker(2);
  before.kill("SIGTERM");
  assert.equal(await before.ended, 0, before.printed());
  const callsOfTheOld = outside.callsOf(before.pid).length;
  outside.isOpen = () => true;
  await fleet.allSucceed(IN_FLIGHT + NEW);

  assert.equal(outside.callsOf(before.pid).length, callsOfTheOld, "a drained worker is gone");
  assert.ok(outside.callsOf(after.pid).length > 0);
  assert.deepEqual(await versionsOf(old), new Set([1]));
  assert.deepEqual(await versionsOf(fresh), new Set([2]));
  const story = (some: typeof old, steps: readonly string[]) =>
    some.flatMap((crate) => steps.map((step) => `${step} ${crate.name}`));
  const done = outside.effects.map((effect) => effect.split(" ").slice(0, 2).join(" "));
  assert.deepEqual(
    done.sort(),
    [...story(old, ["pack", "label", "letter"]), ...story(fresh, ["pack", "label", "seal", "letter"])].sort(),
  );
});
