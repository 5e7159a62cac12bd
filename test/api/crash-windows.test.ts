import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startTestApi, type TestApi } from "../support/api.ts";
import { query } from "../support/postgres.ts";
import { addLab, base, record, zone } from "../support/zones.ts";

let api: TestApi;
/** Statements in the order in which they are waited for. The process dies, once, before the last of them is sent. */
let dyingBefore: readonly string[] = [];

before(async () => {
  api = await startTestApi(
    {},
    {
      onStatement: ({ statement }) => {
        if (statement.name !== `setpoint ${dyingBefore[0]}`) return;
        dyingBefore = dyingBefore.slice(1);
        if (dyingBefore.length === 0) throw new Error("the process died here");
      },
    },
  );
  await addLab(api);
});
after(() => api[Symbol.asyncDispose]());

/** Whoever began has died: nobody waits for its minute to be over. */
async function forgetWhoRuns(): Promise<void> {
  await query(api.url, "update setpoint.idempotency_key set running_until_ms = 0 where status is null");
}

for (const kind of ["zone", "record"] as const)
  test(`a ${kind} that is created under a key is there with its answer or not at all`, async () => {
    if (kind === "record") assert.equal((await api.send("POST", `${base}/dnszones`, zone("whole"))).status, 201);
    const path = kind === "zone" ? "dnszones" : "dnsrecords";
    const post = (name: string) =>
      api.send("POST", `${base}/${path}`, kind === "zone" ? zone(name) : record(name, "whole"), {
        "idempotency-key": `key of ${name}`.replaceAll(" ", "-"),
      });
    for (const [index, death] of [["insert resource"], ["finish key"], ["finish key", "commit"]].entries()) {
      const name = `${kind}-${index}`;
      dyingBefore = death;
      assert.equal((await post(name)).status, 503, death.join());
      assert.deepEqual(dyingBefore, [], "it died");
      assert.equal((await api.send("GET", `${base}/${path}/${name}`)).status, 404, `died at ${death.join()}`);
      assert.equal((await post(name)).body["code"], "IDEMPOTENCY_IN_FLIGHT", "nobody knows yet that it died");
      await forgetWhoRuns();
      const again = await post(name);
      assert.deepEqual([again.status, again.headers["idempotency-replayed"]], [201, undefined]);
      const replayed = await post(name);
      assert.deepEqual([replayed.status, replayed.headers["idempotency-replayed"]], [201, "true"]);
      assert.deepEqual(replayed.body, again.body);
      assert.equal(replayed.headers["etag"], again.headers["etag"]);
      assert.equal(replayed.headers["setpoint-result"], "created");
    }
  });

test("of other requests it is not known what became of them: the key is free after a minute, and they happen anew", async () => {
  const pause = { reason: "something is wrong", forSeconds: 600 };
  const post = () => api.send("POST", `${base}/pauses`, pause, { "idempotency-key": "a-pause" });
  dyingBefore = ["insert pause", "finish key"];
  assert.equal((await post()).status, 503);
  assert.equal((await post()).body["code"], "IDEMPOTENCY_IN_FLIGHT");
  await forgetWhoRuns();
  assert.equal((await post()).status, 201);
  const { items } = (await api.send("GET", `${base}/pauses`)).body as { items: unknown[] };
  assert.equal(items.length, 2);
});

test("a proposal is marked as applied exactly when its changes are made, wherever the process dies", async () => {
  const changes = [{ manifest: zone("proposed") }];
  const made = await api.send("POST", `${base}/proposals`, { reason: "a new zone", changes });
  const path = `${base}/proposals/${String(made.body["id"])}`;
  assert.equal((await api.send("POST", `${path}:approve`, { digest: made.body["digest"] })).status, 200);
  const stands = async () => [
    (await api.send("GET", path)).body["state"],
    (await api.send("GET", `${base}/dnszones/proposed`)).status,
  ];
  const deaths = [["decide proposal"], ["insert resource"], ["append log"], ["insert resource", "commit"]];
  for (const death of deaths) {
    dyingBefore = death;
    assert.equal((await api.send("POST", `${path}:apply`)).status, 503, death.join());
    assert.deepEqual(dyingBefore, [], "it died");
    assert.deepEqual(await stands(), ["approved", 404], `died at ${death.join()}`);
  }
  assert.equal((await api.send("POST", `${path}:apply`)).status, 200);
  assert.deepEqual(await stands(), ["applied", 200]);
});
