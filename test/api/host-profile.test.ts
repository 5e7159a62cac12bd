import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startTestApi, type TestApi } from "../support/api.ts";

const root = "/v1/organizations/default";
const base = { account: "cloud", image: "debian-12", location: "fsn1" };
const manifest = (kind: string, name: string, spec: object) => ({
  apiVersion: "setpoint/v1",
  kind,
  metadata: { name },
  spec,
});
let api: TestApi;
before(async () => {
  api = await startTestApi();
  await api.send("POST", `${root}/accounts`, { name: "cloud", provider: "hetzner-cloud", settings: {} });
  for (const [name, type] of Object.entries({ small: "cx22", large: "cx32" })) {
    const profile = manifest("ComputeProfile", name, { account: "cloud", type, locations: ["fsn1", "nbg1"] });
    assert.equal((await api.send("POST", `${root}/computeprofiles`, profile)).status, 201);
  }
});
after(() => api[Symbol.asyncDispose]());

const specOf = async (path: string) =>
  (await api.send("GET", `${root}/${path}`)).body["spec"] as Record<string, unknown>;

test("a profile is looked up when a host is declared, applied and declared anew", async () => {
  const made = await api.send("POST", `${root}/hosts`, manifest("Host", "web-1", { ...base, profile: "small" }));
  assert.equal(made.status, 202, JSON.stringify(made.body));
  assert.equal((await specOf("hosts/web-1"))["profileType"], "cx22");
  const applied = await api.send(
    "PATCH",
    `${root}/hosts/web-1?fieldManager=ci&force=true`,
    manifest("Host", "web-1", { ...base, profile: "large" }),
    { "content-type": "application/apply+json" },
  );
  assert.ok(applied.status < 300, JSON.stringify(applied.body));
  assert.equal((await specOf("hosts/web-1"))["profileType"], "cx32");
  const put = await api.send("PUT", `${root}/hosts/web-1`, manifest("Host", "web-1", { ...base, type: "cx42" }), {
    "if-match": "*",
  });
  assert.ok(put.status < 300, JSON.stringify(put.body));
  assert.deepEqual(
    [(await specOf("hosts/web-1"))["type"], (await specOf("hosts/web-1"))["profileType"]],
    ["cx42", undefined],
  );
});

test("so is that of a group, for its members", async () => {
  const spec = {
    account: "cloud",
    min: 0,
    max: 2,
    desired: 1,
    template: { image: "debian-12", location: "fsn1", profile: "small" },
  };
  const made = await api.send("POST", `${root}/scalinggroups`, manifest("ScalingGroup", "web", spec));
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const { template } = (await specOf("scalinggroups/web")) as { template: Record<string, unknown> };
  assert.equal(template["profileType"], "cx22");
});

test("a profile that is not there, or not meant for the location, is refused; and one that is named is not deleted", async () => {
  const declare = (more: object) => api.send("POST", `${root}/hosts`, manifest("Host", "web-2", { ...base, ...more }));
  const missing = await declare({ profile: "nowhere" });
  assert.equal(missing.status, 422);
  assert.match(JSON.stringify(missing.body), /spec\/profile.*|ComputeProfile\/nowhere/);
  const elsewhere = await declare({ profile: "small", location: "hel1" });
  assert.equal(elsewhere.status, 422);
  assert.match(JSON.stringify(elsewhere.body), /not offered in hel1\. It is in: fsn1, nbg1/);
  const named = await declare({ profile: "small" });
  assert.equal(named.status, 202, JSON.stringify(named.body));
  const deleted = await api.send("DELETE", `${root}/computeprofiles/small`, undefined, { "if-match": "*" });
  assert.equal(deleted.body["code"], "IN_USE");
});
