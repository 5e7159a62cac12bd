import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startTestApi, type TestApi } from "../support/api.ts";

const root = "/v1/organizations/default";
let api: TestApi;
before(async () => {
  api = await startTestApi();
  for (const provider of ["hetzner-cloud", "ionos"])
    await api.send("POST", `${root}/accounts`, { name: `at-${provider}`, provider, settings: {} });
});
after(() => api[Symbol.asyncDispose]());

const declare = (kind: string, plural: string, spec: object) =>
  api.send("POST", `${root}/${plural}`, { apiVersion: "setpoint/v1", kind, metadata: { name: "one" }, spec });

async function requireRefused(kind: string, plural: string, spec: object, pointer: string, words: RegExp) {
  const { status, body } = await declare(kind, plural, spec);
  assert.deepEqual([status, body["code"]], [422, "FIELDS_INVALID"], JSON.stringify(body));
  const errors = body["errors"] as readonly { readonly pointer: string; readonly message: string }[];
  assert.deepEqual(
    errors.map((error) => error.pointer),
    [pointer],
  );
  assert.match(errors[0]?.message ?? "", words);
  assert.equal((await api.send("GET", `${root}/${plural}/one`)).status, 404);
}

test("a type that cannot be one at IONOS is refused when it is declared", async () => {
  const server = { type: "cx22", image: "debian-12", location: "main" };
  const words = /there is no type "cx22": write one such as .*the provider ionos of account "at-ionos"/;
  await requireRefused("Host", "hosts", { account: "at-ionos", ...server }, "/spec/type", words);
  const group = { account: "at-ionos", min: 1, max: 2, desired: 1, template: server };
  await requireRefused("ScalingGroup", "scalinggroups", group, "/spec/template/type", words);
  const profile = { account: "at-ionos", type: "cx22" };
  await requireRefused("ComputeProfile", "computeprofiles", profile, "/spec/type", words);
  const made = await declare("Host", "hosts", { account: "at-ionos", ...server, type: "2-cores-4-gb-20-gb-ssd" });
  assert.equal(made.status, 202, JSON.stringify(made.body));
});

test("who may visit a load balancer is refused at Hetzner Cloud when it is declared", async () => {
  const service = { protocol: "tcp", listenPort: 22, targetPort: 22, allowedOrigins: ["192.0.2.0/24"] };
  const spec = { account: "at-hetzner-cloud", type: "lb11", location: "fsn1", services: [service], targets: [] };
  const words = /load balancers that let in by origin cannot be had: filter at the hosts/;
  await requireRefused("LoadBalancer", "loadbalancers", spec, "/spec/services/0/allowedOrigins", words);
});
