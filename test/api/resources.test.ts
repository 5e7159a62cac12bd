import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { resourceSchema } from "../../src/control-api/schemas/resource.ts";
import { type Answer, startTestApi, type TestApi } from "../support/api.ts";

let api: TestApi;
before(async () => {
  api = await startTestApi();
  const account = {
    name: "lab",
    provider: "powerdns",
    settings: { url: "http://127.0.0.1:8081" },
    credentialRef: "env:LAB_KEY",
  };
  assert.equal((await api.send("POST", `${base}/accounts`, account)).status, 201);
});
after(() => api[Symbol.asyncDispose]());

const base = "/v1/organizations/default";

function zone(name: string, change: { readonly metadata?: object; readonly spec?: object } = {}) {
  return {
    apiVersion: "setpoint/v1",
    kind: "DnsZone",
    metadata: { name, mode: "observe", ...change.metadata },
    spec: { account: "lab", zone: `${name}.test`, ...change.spec },
  };
}

function record(name: string, inZone: string) {
  const spec = { zone: inZone, name, type: "A", values: ["192.0.2.1"] };
  return { apiVersion: "setpoint/v1", kind: "DnsRecord", metadata: { name }, spec };
}

function code(answer: Answer): unknown {
  assert.equal(answer.headers["content-type"], "application/problem+json; charset=utf-8");
  return answer.body["code"];
}

function pointers(answer: Answer): readonly string[] {
  return (answer.body["errors"] as { pointer: string }[]).map(({ pointer }) => pointer);
}

test("a resource is declared, read, changed and left as it is", async () => {
  const path = `${base}/dnszones/first`;
  const created = await api.send("PUT", path, zone("first"));
  assert.equal(created.status, 201);
  assert.equal(created.headers["setpoint-result"], "created");
  assert.equal(created.headers["etag"], '"1"');

  const read = resourceSchema.parse((await api.send("GET", path)).body);
  assert.equal(read.metadata.mode, "observe");
  assert.equal(read.metadata.generation, 1);
  assert.deepEqual(read.spec, { account: "lab", zone: "first.test" });
  assert.equal(read.status.subjects[0]?.account, "lab");
  const ready = read.status.conditions.find(({ type }) => type === "Ready");
  assert.equal(ready?.status, "Unknown", "what was never looked at is not known");

  const same = await api.send("PUT", path, zone("first"));
  assert.equal(same.status, 200);
  assert.equal(same.headers["setpoint-result"], "unchanged");
  const changed = await api.send("PUT", path, zone("first", { metadata: { mode: "enforce" } }));
  assert.equal(changed.headers["setpoint-result"], "changed");
  assert.equal(resourceSchema.parse(changed.body).metadata.generation, 1, "a mode is not a spec");
});

test("what is declared is stored with its defaults", async () => {
  await api.send("PUT", `${base}/dnszones/defaults`, zone("defaults"));
  const answer = await api.send("PUT", `${base}/dnsrecords/plain`, record("plain", "defaults"));
  assert.equal(answer.status, 201);
  const resource = resourceSchema.parse(answer.body);
  assert.deepEqual(resource.spec, {
    zone: "defaults",
    name: "plain",
    type: "A",
    values: ["192.0.2.1"],
    ttlSeconds: 300,
  });
  assert.deepEqual(resource.status.partOf, [{ kind: "DnsZone", name: "defaults" }]);
});

test("a record without its zone says so", async () => {
  const answer = await api.send("PUT", `${base}/dnsrecords/stray`, record("stray", "nowhere"));
  const [ready] = resourceSchema.parse(answer.body).status.conditions;
  assert.equal(ready?.status, "False");
  assert.match(ready?.message ?? "", /no DnsZone\/nowhere/);
});

test("If-Match and If-None-Match keep two writers from overwriting each other", async () => {
  const path = `${base}/dnszones/matched`;
  assert.equal((await api.send("PUT", path, zone("matched"), { "if-none-match": "*" })).status, 201);
  const again = await api.send("PUT", path, zone("matched"), { "if-none-match": "*" });
  assert.equal(again.status, 412);
  assert.equal(code(again), "REVISION_CONFLICT");
  assert.equal(again.body["revision"], 1);
  assert.equal(
    (await api.send("PUT", path, zone("matched", { metadata: { mode: "propose" } }), { "if-match": '"1"' })).status,
    200,
  );
  assert.equal((await api.send("PUT", path, zone("matched"), { "if-match": '"1"' })).status, 412);
  assert.equal((await api.send("DELETE", path, undefined, { "if-match": '"1"' })).status, 412);
  assert.equal(code(await api.send("PUT", path, zone("matched"), { "if-match": "nonsense" })), "BODY_INVALID");
});

test("every field that is wrong is named by its pointer", async () => {
  const wrong = { ...zone("wrong", { spec: { zone: "", extra: 1 } }) };
  const answer = await api.send("PUT", `${base}/dnszones/wrong`, wrong);
  assert.equal(answer.status, 422);
  assert.equal(code(answer), "FIELDS_INVALID");
  assert.deepEqual(pointers(answer), ["/spec/zone", "/spec"]);
  assert.equal((await api.send("GET", `${base}/dnszones/wrong`)).status, 404, "nothing was stored");
});

test("unknown fields are refused wherever they stand", async () => {
  const inMetadata = await api.send("PUT", `${base}/dnszones/odd`, zone("odd", { metadata: { colour: "red" } }));
  assert.deepEqual(pointers(inMetadata), ["/metadata/colour"]);
  const outside = await api.send("PUT", `${base}/dnszones/odd`, { ...zone("odd"), status: {} });
  assert.deepEqual(pointers(outside), ["/status"]);
  const inQuery = await api.send("GET", `${base}/dnszones?colour=red`);
  assert.equal(inQuery.status, 422);
  assert.deepEqual(pointers(inQuery), ["/colour"]);
  assert.equal((await api.send("POST", `${base}/dnszones/odd:reconcile`, { colour: "red" })).status, 400);
});

test("what exists outside already must name its mode", async () => {
  const answer = await api.send(
    "PUT",
    `${base}/dnszones/modeless`,
    zone("modeless", { metadata: { mode: undefined } }),
  );
  assert.equal(answer.status, 422);
  assert.equal(code(answer), "MODE_REQUIRED");
  assert.match(String(answer.body["detail"]), /observe/);
});

test("an unknown account, a wrong name and a wrong kind are refused before anything is stored", async () => {
  const account = await api.send("PUT", `${base}/dnszones/a`, zone("a", { spec: { account: "nobody" } }));
  assert.equal(code(account), "ACCOUNT_UNKNOWN");
  assert.equal(code(await api.send("PUT", `${base}/dnszones/a`, zone("b"))), "NAME_MISMATCH");
  assert.equal(code(await api.send("PUT", `${base}/dnszones/a`, record("a", "b"))), "NAME_MISMATCH");
  assert.equal((await api.send("GET", `${base}/dnszones/a`)).status, 404);
});

test("paths that lead nowhere say where to go", async () => {
  const kind = await api.send("GET", `${base}/dnszone/a`);
  assert.equal(kind.status, 404);
  assert.equal(code(kind), "KIND_UNKNOWN");
  assert.match(String(kind.body["detail"]), /dnszones/);
  assert.equal(code(await api.send("GET", "/v1/organizations/nobody/dnszones")), "ORGANIZATION_UNKNOWN");
  assert.equal(code(await api.send("GET", `${base}/projects/none/dnszones`)), "SCOPE_UNKNOWN");
  assert.equal(code(await api.send("GET", "/v1/nothing")), "NOT_FOUND");
  assert.equal(code(await api.send("POST", `${base}/dnszones`, {})), "METHOD_UNKNOWN");
  assert.equal(code(await api.send("POST", `${base}/dnszones/a:dance`)), "NOT_FOUND");
  assert.equal(code(await api.send("GET", `${base}/dnszones/..%2F..`)), "FIELDS_INVALID");
});

test("bodies that cannot be read are refused, and nothing breaks", async () => {
  const send = (payload: string, type = "application/json") =>
    api.app.inject({
      method: "PUT",
      url: `${base}/dnszones/x`,
      payload,
      headers: { authorization: `Bearer test-token-of-the-operator`, "content-type": type },
    });
  assert.equal((await send("{")).statusCode, 400);
  assert.equal((await send("a: b", "application/yaml")).statusCode, 400);
  assert.equal((await send('{"__proto__": {"polluted": true}}')).statusCode, 400);
  assert.equal((await send(JSON.stringify({ text: "x".repeat(1_100_000) }))).statusCode, 413);
  assert.equal((await send("null")).statusCode, 422);
  assert.equal((await send('"text"')).statusCode, 422);
  const nul = await api.send(
    "PUT",
    `${base}/dnszones/nul`,
    zone("nul", { metadata: { labels: { team: "a\u0000b" } } }),
  );
  assert.ok(
    nul.status === 422 || nul.status === 400,
    `a character the database cannot store is the caller's mistake, not ours: ${nul.status}`,
  );
});

test("lists come in pages that neither repeat nor skip", async () => {
  await api.send("POST", `${base}/projects`, { name: "paged" });
  const path = `${base}/projects/paged/dnszones`;
  const names = Array.from({ length: 7 }, (_, index) => `zone-${index}`);
  for (const name of names) {
    const labels = { odd: name.endsWith("1") || name.endsWith("3") ? "yes" : "no" };
    assert.equal((await api.send("PUT", `${path}/${name}`, zone(name, { metadata: { labels } }))).status, 201);
  }
  const seen: string[] = [];
  let next = "";
  do {
    const page = await api.send("GET", `${path}?pageSize=3${next}`);
    seen.push(...(page.body["items"] as { metadata: { name: string } }[]).map((item) => item.metadata.name));
    const nextToken = page.body["nextPageToken"];
    next = typeof nextToken === "string" ? `&pageToken=${nextToken}` : "";
  } while (next !== "");
  assert.deepEqual(seen, names);
  const odd = await api.send("GET", `${path}?labels=odd=yes`);
  assert.deepEqual(
    (odd.body["items"] as { metadata: { name: string } }[]).map((item) => item.metadata.name),
    ["zone-1", "zone-3"],
  );
  assert.equal((await api.send("GET", `${path}?pageToken=%21%21`)).status, 422);
  assert.equal((await api.send("GET", `${path}?pageSize=0`)).status, 422);
  assert.equal((await api.send("GET", `${path}?labels=nonsense`)).status, 422);
});

test("scopes are apart: the same name in another scope is another resource", async () => {
  await api.send("POST", `${base}/projects`, { name: "web" });
  await api.send("POST", `${base}/projects/web/workspaces`, { name: "blue" });
  const inWorkspace = `${base}/projects/web/workspaces/blue/dnszones/first`;
  assert.equal((await api.send("PUT", inWorkspace, zone("first"))).status, 201);
  const read = resourceSchema.parse((await api.send("GET", inWorkspace)).body);
  assert.equal(read.metadata.project, "web");
  assert.equal(read.metadata.workspace, "blue");
  assert.equal((await api.send("GET", `${base}/projects/web/dnszones/first`)).status, 404);
  assert.deepEqual((await api.send("GET", `${base}/projects/web/workspaces`)).body["items"], [{ name: "blue" }]);
});

test("a resource is deleted with a tombstone, and cannot be declared again meanwhile", async () => {
  const path = `${base}/dnszones/leaving`;
  await api.send("PUT", path, zone("leaving"));
  const mismatch = await api.send("DELETE", `${path}?confirm=3`);
  assert.equal(mismatch.status, 409);
  assert.equal(code(mismatch), "COUNT_MISMATCH");
  const deleted = await api.send("DELETE", `${path}?orphan=true`);
  assert.equal(deleted.status, 202);
  assert.equal(resourceSchema.parse(deleted.body).metadata.deletion?.orphan, true);
  assert.equal(code(await api.send("PUT", path, zone("leaving"))), "BEING_DELETED");
  // What only looks would never leave: its mode and protection can be changed.
  const governed = await api.send("PUT", path, zone("leaving", { metadata: { mode: "propose" } }));
  assert.equal(governed.status, 200);
  const { metadata } = resourceSchema.parse(governed.body);
  assert.deepEqual([metadata.mode, metadata.deletion?.orphan], ["propose", true]);
  assert.equal((await api.send("DELETE", `${base}/dnszones/never`)).status, 404);
});

test("a protected resource is not deleted, and the guard's verdict says why", async () => {
  const path = `${base}/dnszones/kept`;
  await api.send("PUT", path, zone("kept", { metadata: { protect: true } }));
  const refused = await api.send("DELETE", path);
  assert.equal(refused.status, 409);
  assert.equal(code(refused), "GUARD_REFUSED");
  assert.equal((refused.body["verdict"] as { guard: string }).guard, "protection");
  assert.equal(resourceSchema.parse((await api.send("GET", path)).body).metadata.deletion, undefined);
});

test("reconcile makes a subject due; a kind without a loop has nothing to run", async () => {
  await api.send("PUT", `${base}/dnszones/again`, zone("again"));
  assert.equal((await api.send("POST", `${base}/dnszones/again:reconcile`)).status, 202);
  await api.send("PUT", `${base}/dnsrecords/again`, record("again", "again"));
  const answer = await api.send("POST", `${base}/dnsrecords/again:reconcile`);
  assert.equal(code(answer), "GUARD_REFUSED");
  assert.match(String(answer.body["detail"]), /no loop/);
});

test("why explains what was declared, by whom, and what stands in the way", async () => {
  await api.send("PUT", `${base}/dnszones/asked`, zone("asked"));
  await api.send("PUT", `${base}/dnsrecords/asked`, record("asked", "asked"));
  const why = await api.send("GET", `${base}/dnszones/asked/why`);
  assert.equal(why.status, 200);
  const chain = why.body["chain"] as { topic: string; words: string; blocking: boolean; command?: string }[];
  assert.match(chain.find(({ topic }) => topic === "declared")?.words ?? "", /declared by operator \(person\)/);
  const mode = chain.find(({ topic }) => topic === "mode");
  assert.ok(mode?.blocking);
  assert.equal(mode.command, "setpoint mode dnszone/asked enforce");
  assert.ok(chain.some(({ topic, blocking }) => topic === "look" && blocking));
  const part = await api.send("GET", `${base}/dnsrecords/asked/why`);
  const partChain = part.body["chain"] as { topic: string; words: string }[];
  assert.match(partChain.find(({ topic }) => topic === "part-of")?.words ?? "", /part of DnsZone\/asked/);
});
