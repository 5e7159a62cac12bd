import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import type { DnsOutside } from "./dns-outside.ts";
import { startZoneBench } from "./zone-bench.ts";

/** Undefined where the counterpart is not there. */
type Start = (t: TestContext) => Promise<DnsOutside | undefined>;
type ZoneBench = Awaited<ReturnType<typeof startZoneBench>>;

const address = (index: number) => `192.0.2.${index}`;
const hosts = (count: number, from = 0) => Array.from({ length: count }, (_, index) => `host-${index + from}`);
const worldOf = (names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [`${name} A`, address(Number(name.split("-")[1]))]));

/** The zone in the kernel's hands, with that many records of ours on the real server. */
async function arrange(t: TestContext, start: Start, count: number) {
  const rival: { react: (() => Promise<void>) | undefined } = { react: undefined };
  await using undo = new AsyncDisposableStack();
  const started = await start(t);
  if (started === undefined) return undefined;
  const outside = undo.use(started);
  const bench = undo.use(
    await startZoneBench(
      outside.provider,
      outside.settings,
      async () => rival.react?.(),
      (clock) => outside.follow?.(clock),
    ),
  );
  await bench.zone();
  for (const host of hosts(count)) await bench.record(host, { values: [address(Number(host.split("-")[1]))] });
  await bench.pass({ minutes: 2 });
  assert.match(bench.ready("DnsZone/example"), /Converged/);
  assert.deepEqual(await outside.world(), sorted(worldOf(hosts(count))));
  const owned = undo.move();
  return { outside, bench, rival, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

function sorted(world: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(world).toSorted(([left], [right]) => (left < right ? -1 : 1)));
}

function guardsOf(bench: ZoneBench): ReadonlySet<string> {
  const conditions = bench.statuses("DnsZone/example").flatMap((status) => status?.conditions ?? []);
  return new Set(conditions.filter(({ type }) => type.startsWith("Guard/")).map(({ type }) => type.slice(6)));
}

async function deleteTogether(bench: ZoneBench, names: readonly string[]): Promise<void> {
  const unfreeze = await bench.freeze("writes", "deleting many");
  for (const name of names) await bench.delete(`DnsRecord/${name}`);
  await unfreeze();
}

/** What has happened elsewhere, on a zone at any provider. */
export function zoneIncidents(name: string, start: Start): void {
  describe(name, () => {
    test("a look that fails half-way, for an hour: nothing is made, changed or deleted, and work resumes", async (t) => {
      await using scene = await arrange(t, start, 30);
      if (scene === undefined) return;
      const { outside, bench } = scene;
      await bench.record("host-99", { values: [address(99)] });
      outside.breakLooks();
      const before = await outside.world();
      await bench.delete("DnsRecord/host-3");
      await bench.pass({ hours: 1 });
      assert.deepEqual(await outside.world(), before);
      assert.ok(guardsOf(bench).has("complete-reads"), [...guardsOf(bench)].join());
      outside.repair();
      await bench.pass({ minutes: 30 });
      const ends = [...hosts(30).filter((host) => host !== "host-3"), "host-99"];
      assert.deepEqual(await outside.world(), sorted(worldOf(ends)));
      assert.match(bench.ready("DnsZone/example"), /Converged/);
    });

    test("half of the zone is deleted: one approval by digest, over several cycles; what changed since asks again", async (t) => {
      await using scene = await arrange(t, start, 40);
      if (scene === undefined) return;
      const { outside, bench } = scene;
      await bench.setPolicy({ limits: { changesPerCycle: 8 } });
      await deleteTogether(bench, hosts(20));
      await bench.pass({ minutes: 10 });
      assert.equal(Object.keys(await outside.world()).length, 40, "nothing goes before somebody said so");
      const [held] = bench.heldChanges();
      assert.equal(bench.heldChanges().length, 1);
      assert.equal(held?.items.length, 20);
      await outside.put("host-7", "A", ["198.51.100.7"]);
      await assert.rejects(bench.approve({ id: held?.id ?? "", digest: "0".repeat(64) }), /not approved/);
      await bench.approve(held ?? { id: "", digest: "" });
      await bench.pass({ minutes: 2 });
      const left = await outside.world();
      assert.equal(left["host-7 A"], "198.51.100.7", "what was approved is not what is there now");
      assert.deepEqual(left, sorted({ ...worldOf(hosts(20, 20)), "host-7 A": "198.51.100.7" }));
      const [again] = bench.heldChanges();
      if (again !== undefined) {
        assert.deepEqual(
          again.items.map(({ key }) => key),
          ["host-7.example.test. A"],
        );
        await bench.approve(again);
      }
      await bench.pass({ minutes: 15 });
      assert.deepEqual(await outside.world(), sorted(worldOf(hosts(20, 20))));
      assert.match(bench.ready("DnsZone/example"), /Converged/);
    });
    rivals(start);
  });
}

/** Somebody else who writes to the same zone. */
function rivals(start: Start): void {
  test("a record set that external-dns registered for another owner is refused, not alternated", async (t) => {
    await using scene = await arrange(t, start, 3);
    if (scene === undefined) return;
    const { outside, bench } = scene;
    await outside.put("shared", "A", ["198.51.100.1"]);
    await outside.put("a-shared", "TXT", [
      '"heritage=external-dns,external-dns/owner=cluster-a,external-dns/resource=service/shop/web"',
    ]);
    await bench.record("shared", { values: ["192.0.2.77"] });
    for (let round = 0; round < 4; round++) {
      await bench.pass({ minutes: 6 });
      assert.equal((await outside.world())["shared A"], "198.51.100.1");
    }
    assert.deepEqual(bench.heldChanges(), []);
    assert.match(bench.ready("DnsZone/example"), /external-dns owner "cluster-a"/);
  });

  test("a fight: another process rewrites a record at each cycle; it is detected, named, stopped, and resumed", async (t) => {
    await using scene = await arrange(t, start, 3);
    if (scene === undefined) return;
    const { outside, bench, rival } = scene;
    rival.react = () => outside.put("host-1", "A", ["198.51.100.66"]);
    await rival.react();
    await bench.pass({ minutes: 30 });
    assert.ok(guardsOf(bench).has("fights"), [...guardsOf(bench)].join());
    assert.equal((await outside.world())["host-1 A"], "198.51.100.66", "it is left to the other one");
    assert.match(bench.ready("DnsZone/example"), /198\.51\.100\.66|fights/);
    await bench.record("host-2", { values: ["192.0.2.22"] });
    await bench.pass({ minutes: 6 });
    assert.equal((await outside.world())["host-2 A"], "192.0.2.22", "the rest converges");
    rival.react = undefined;
    await bench.record("host-1", { values: ["192.0.2.11"] });
    await bench.pass({ minutes: 6 });
    assert.equal((await outside.world())["host-1 A"], "192.0.2.11", "a new value is a new try");
  });
}
