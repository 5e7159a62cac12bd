import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startTestApi, type TestApi } from "../support/api.ts";

let api: TestApi;
/** Statements in the order in which they are waited for. The process dies, once, before the last of them is sent. */
let dyingBefore: readonly string[] = [];
const base = "/v1/organizations/default";

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
  const account = { name: "lab", provider: "powerdns", settings: { url: "http://127.0.0.1:8081" } };
  assert.equal((await api.send("POST", `${base}/accounts`, account)).status, 201);
});
after(() => api[Symbol.asyncDispose]());

function zone(name: string) {
  return {
    apiVersion: "setpoint/v1",
    kind: "DnsZone",
    metadata: { name, mode: "observe" },
    spec: { account: "lab", zone: `${name}.test` },
  };
}

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
