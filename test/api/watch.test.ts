import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Authenticator } from "../../src/control-api/authentication/authenticator.ts";
import { OperatorFile } from "../../src/control-api/authentication/operator-file.ts";
import { systemClock } from "../../src/runtime/system-clock.ts";
import { startTestApi, type TestApi, token, whatever } from "../support/api.ts";
import { query } from "../support/postgres.ts";
import { openWatch, type WatchEvent } from "../support/watch-reader.ts";
import { addLab, base, declare, type Engine, record, status, takeEngine, zone } from "../support/zones.ts";

let api: TestApi;
let engine: Engine;
let origin: string;
let revoked = false;

before(async () => {
  const file = new OperatorFile(token, systemClock);
  const reader = {
    types: file.types,
    read: file.read.bind(file),
    renew: async (caller: Parameters<typeof file.renew>[0]) => (revoked ? undefined : await file.renew(caller)),
  };
  api = await startTestApi({ authenticator: new Authenticator([reader]) });
  await addLab(api);
  engine = await takeEngine(api);
  origin = await api.app.listen({ host: "127.0.0.1", port: 0 });
});
after(() => api[Symbol.asyncDispose]());

const isType = (type: string) => (event: WatchEvent) => event.event === type;
const isOf = (name: string) => (event: WatchEvent) => (event.data.object?.metadata.name ?? event.data.name) === name;
const watching = (query: string, headers?: Record<string, string>) =>
  openWatch(`${origin}${base}/dnszones?watch=true${query}`, headers);

test("a watch begins with everything there is, and goes on with what happens", async () => {
  await declare(api, zone("before"));
  const watch = await watching("");
  assert.equal(watch.status, 200);
  const shown = await watch.next(isOf("before"));
  assert.equal(shown?.event, "ADDED");
  const synced = await watch.next(isType("SYNCED"));
  assert.match(synced?.id ?? "", /^\d+\.\d+$/);
  await declare(api, zone("during"));
  await api.seal();
  const added = await watch.next(isOf("during"));
  assert.deepEqual([added?.event, added?.data.revision], ["ADDED", 1]);
  await api.send("PUT", `${base}/dnszones/during`, zone("during", { metadata: { mode: "observe" } }), whatever);
  await api.seal();
  const changed = await watch.next(isOf("during"));
  assert.deepEqual([changed?.event, changed?.data.revision], ["MODIFIED", 2]);
  await api.send("DELETE", `${base}/dnszones/during`, undefined, whatever);
  await api.seal();
  const leaving = await watch.next(isOf("during"));
  assert.equal(leaving?.event, "MODIFIED", "a tombstone is a change");
  await engine.settle("during", { gone: true });
  await api.seal();
  const gone = await watch.next(isOf("during"));
  assert.deepEqual([gone?.event, gone?.data.revision], ["DELETED", 4]);
  watch.close();
});

test("a watch that was cut off goes on where it was, and misses nothing", async () => {
  const first = await watching("");
  const synced = await first.next(isType("SYNCED"));
  first.close();
  await declare(api, zone("while-away"));
  await api.send("PUT", `${base}/dnszones/while-away`, zone("while-away", { metadata: { mode: "observe" } }), whatever);
  await api.seal();
  const second = await watching("", { "last-event-id": synced?.id ?? "" });
  const missed = await second.next(isOf("while-away"));
  assert.equal(missed?.data.revision, 2, "as it is now, once");
  await second.next(isType("SYNCED"));
  assert.equal(second.events.filter(isOf("before")).filter(isType("ADDED")).length, 0, "and not everything again");
  second.close();
  const list = await api.send("GET", `${base}/dnszones`);
  const { position } = list.body["metadata"] as { position: string };
  await declare(api, zone("after-list"));
  await api.seal();
  const third = await watching(`&cursor=${position}`);
  assert.ok(await third.next(isOf("after-list")));
  third.close();
});

test("a changed status is shown, although the declaration is the same", async () => {
  await declare(api, zone("moody"));
  await api.seal();
  const watch = await watching("");
  await watch.next(isType("SYNCED"));
  await engine.settle("moody", { status: status({ result: "held", held: 1, differences: 3 }) });
  // It may be told of twice that it exists: readers go by the revisions.
  const event = await watch.next((one) => isOf("moody")(one) && one.data.statusRevision !== 0);
  assert.deepEqual([event?.event, event?.data.revision, event?.data.statusRevision], ["MODIFIED", 1, 1]);
  const synced = watch.events.find(isType("SYNCED"));
  watch.close();
  await engine.settle("moody", { status: status({}) });
  const again = await watching("", { "last-event-id": synced?.id ?? "" });
  assert.equal((await again.next(isOf("moody")))?.data.statusRevision, 2, "also what happened while away");
  again.close();
  const held = async (filter: string) => {
    const { body } = await api.send("GET", `${base}/dnszones?${filter}`);
    return (body["items"] as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name);
  };
  assert.deepEqual(await held("held=true"), []);
  await engine.settle("moody", { status: status({ result: "held", held: 1, differences: 3 }) });
  assert.deepEqual(await held("held=true"), ["moody"]);
  assert.deepEqual(await held("drifted=true"), ["moody"]);
  assert.deepEqual(await held("ready=false"), ["moody"]);
});

test("a filtered watch shows what comes into the list and what leaves it", async () => {
  await declare(api, zone("tagged", { metadata: { labels: { team: "web" } } }));
  await declare(api, zone("plain"));
  await api.seal();
  const watch = await watching(`&labels=${encodeURIComponent("team=web")}`);
  await watch.next(isType("SYNCED"));
  assert.equal(watch.events.filter(isOf("plain")).length, 0);
  const label = (name: string, team: string) =>
    api.send("PUT", `${base}/dnszones/${name}`, zone(name, { metadata: { labels: { team } } }), whatever);
  await label("plain", "web");
  await api.seal();
  assert.equal((await watch.next(isOf("plain")))?.event, "ADDED");
  await label("tagged", "ops");
  await api.seal();
  assert.equal((await watch.next(isOf("tagged")))?.event, "DELETED");
  watch.close();
  assert.equal((await watching("&sort=-name")).status, 422);
  assert.equal((await watching("&ready=false")).status, 422);
});

test("only the list that is watched is shown", async () => {
  await api.send("POST", `${base}/projects`, { name: "other" });
  const watch = await openWatch(`${origin}${base}/projects/other/dnszones?watch=true`);
  await watch.next(isType("SYNCED"));
  await declare(api, record("elsewhere", "plain"));
  await declare(api, zone("at-organization"));
  await api.send("POST", `${base}/projects/other/dnszones`, zone("in-project"));
  await api.seal();
  const first = await watch.next(() => true);
  assert.equal(first?.data.object?.metadata.name, "in-project");
  watch.close();
});

test("a cursor that cannot be gone on from is refused", async () => {
  const ask = async (cursor: string) => {
    const answer = await watching(`&cursor=${encodeURIComponent(cursor)}`);
    return [answer.status, ((await answer.body()) as { code: string }).code];
  };
  assert.deepEqual(await ask("7.1"), [410, "CURSOR_GONE"]);
  assert.deepEqual(await ask("1.999999"), [410, "CURSOR_GONE"]);
  assert.deepEqual(await ask("nonsense"), [422, "FIELDS_INVALID"]);
  await query(api.url, "update setpoint.log_head set checkpoint_position = 3");
  assert.deepEqual(await ask("1.2"), [410, "CURSOR_GONE"]);
});

test("a revoked credential ends its watch", { timeout: 20_000 }, async () => {
  const watch = await watching("");
  await watch.next(isType("SYNCED"));
  revoked = true;
  const atMs = Date.now();
  await watch.ended;
  revoked = false;
  assert.ok(Date.now() - atMs < 5_000);
});

test("the end of the process ends its watches", async () => {
  const watch = await watching("");
  await watch.next(isType("SYNCED"));
  await api.app.close();
  await watch.ended;
});
