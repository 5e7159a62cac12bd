import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startTestApi, type TestApi } from "../support/api.ts";

const root = "/v1/organizations/default";
let api: TestApi;
before(async () => {
  api = await startTestApi();
  await api.send("POST", `${root}/accounts`, { name: "cloud", provider: "hetzner-cloud", settings: {} });
});
after(() => api[Symbol.asyncDispose]());

test("what an approval starts, nobody starts by hand, whatever they say was approved", async () => {
  const spec = { account: "cloud", type: "cx22", image: "debian-12", location: "fsn1" };
  const manifest = { apiVersion: "setpoint/v1", kind: "Host", metadata: { name: "web-1" }, spec };
  const made = await api.send("POST", `${root}/hosts`, manifest);
  assert.equal(made.status, 202, JSON.stringify(made.body));
  const input = { replaces: "1", generation: 1, digest: "approved" };
  const { status, body } = await api.send("POST", `${root}/hosts/web-1/operations`, {
    pipeline: "host.replace",
    input,
  });
  assert.deepEqual([status, body["code"]], [409, "OPERATION_STATE"]);
  assert.match(String(body["detail"]), /host\.replace is started by approving the held change of Host\/web-1/);
  const { body: listed } = await api.send("GET", `${root}/operations`);
  assert.doesNotMatch(JSON.stringify(listed), /host\.replace/);
});
