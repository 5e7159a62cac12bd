import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { organizationIdOf } from "../../src/control-api/names.ts";
import { resourceSchema } from "../../src/control-api/schemas/resource.ts";
import { type Answer, startTestApi, type TestApi, whatever } from "../support/api.ts";

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
  assert.deepEqual(read.spec, {
    account: "lab",
    zone: "first.test",
    ownership: "records",
    registryOwner: "setpoint",
  });
  assert.equal(read.status.subjects[0]?.account, "lab");
  const ready = read.status.conditions.find(({ type }) => type === "Ready");
  assert.equal(ready?.status, "Unknown", "what was never looked at is not known");

  const same = await api.send("PUT", path, zone("first"), { "if-match": '"1"' });
  assert.equal(same.status, 200);
  assert.equal(same.headers["setpoint-result"], "unchanged");
  const changed = await api.send("PUT", path, zone("first", { metadata: { mode: "enforce" } }), whatever);
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
  const both = { "if-match": "*", "if-none-match": "*" };
  assert.equal(code(await api.send("PUT", path, zone("matched"), both)), "BODY_INVALID");
  assert.equal((await api.send("PUT", `${base}/dnszones/none`, zone("none"), whatever)).status, 404);
});

test("to replace or delete what exists, one says which revision is meant", async () => {
  const path = `${base}/dnszones/stated`;
  await api.send("PUT", path, zone("stated"));
  const replaced = await api.send("PUT", path, zone("stated", { metadata: { mode: "enforce" } }));
  assert.equal(replaced.status, 428);
  assert.equal(code(replaced), "PRECONDITION_REQUIRED");
  assert.equal(code(await api.send("DELETE", path)), "PRECONDITION_REQUIRED");
  assert.equal(resourceSchema.parse((await api.send("GET", path)).body).metadata.revision, 1, "nothing happened");
});

test("many who mean whatever stands there are all heard, however often it moves in between", async () => {
  const path = `${base}/dnszones/crowded`;
  assert.equal((await api.send("PUT", path, zone("crowded"), { "if-none-match": "*" })).status, 201);
  const servers = Array.from({ length: 40 }, (_, index) => `ns${index}.test`);
  const answers = await Promise.all(
    servers.map((server) => api.send("PUT", path, zone("crowded", { spec: { nameservers: [server] } }), whatever)),
  );
  assert.deepEqual(
    answers.filter(({ status }) => status !== 200).map(({ body }) => body["detail"]),
    [],
  );
  const { body } = await api.send("GET", path);
  assert.equal((body as { metadata: { revision: number } }).metadata.revision, 1 + servers.length);
});

test("a stale If-Match shows who changed what meanwhile", async () => {
  const path = `${base}/dnszones/stale`;
  await api.send("PUT", path, zone("stale"));
  await api.send("PUT", path, zone("stale", { spec: { nameservers: ["ns1.test"] } }), { "if-match": '"1"' });
  await api.seal();
  const stale = await api.send("PUT", path, zone("stale", { metadata: { mode: "enforce" } }), { "if-match": '"1"' });
  assert.equal(code(stale), "REVISION_CONFLICT");
  const changed = stale.body["changed"] as { by: string; fields: object[]; deleting: boolean };
  assert.equal(changed.by, "operator");
  assert.deepEqual(changed.fields, [{ pointer: "/spec/nameservers", after: ["ns1.test"] }]);
  assert.match(String(stale.body["detail"]), /operator changed it at .*\/spec\/nameservers/);
});

test("POST creates, and refuses what exists", async () => {
  const created = await api.send("POST", `${base}/dnszones`, zone("posted"));
  assert.equal(created.status, 201);
  assert.equal(created.headers["etag"], '"1"');
  const again = await api.send("POST", `${base}/dnszones`, zone("posted"));
  assert.equal(again.status, 409);
  assert.equal(code(again), "ALREADY_EXISTS");
});

test("a repeated POST with the same Idempotency-Key happens once and is answered alike", async () => {
  const headers = { "idempotency-key": "key-1" };
  const first = await api.send("POST", `${base}/dnszones`, zone("once"), headers);
  const second = await api.send("POST", `${base}/dnszones`, zone("once"), headers);
  assert.deepEqual([second.status, second.body, second.headers["etag"]], [201, first.body, '"1"']);
  assert.equal(second.headers["idempotency-replayed"], "true");
  const other = await api.send("POST", `${base}/dnszones`, zone("other"), headers);
  assert.equal(other.status, 422);
  assert.equal(code(other), "IDEMPOTENCY_REUSED");
  assert.equal((await api.send("GET", `${base}/dnszones/other`)).status, 404);
  const refused = { "idempotency-key": "key-2" };
  assert.equal((await api.send("POST", `${base}/dnszones`, zone("once"), refused)).status, 409);
  const retried = await api.send("POST", `${base}/dnszones`, zone("twice"), refused);
  assert.equal(retried.status, 201, "what was refused did nothing, so its key is free");
  assert.equal(code(await api.send("POST", `${base}/dnszones`, zone("k"), { "idempotency-key": " " })), "BODY_INVALID");
});

test("while the first request with a key runs, the second is told so", async () => {
  const { idempotency } = api.context;
  const scope = {
    organizationId: organizationIdOf("default"),
    principal: "operator-file/operator.token",
    key: "running",
  };
  const fingerprint = "made by somebody else";
  assert.deepEqual(await idempotency.begin({ scope, fingerprint, forMs: 60_000, keepMs: 60_000 }), { result: "begun" });
  const same = await idempotency.begin({ scope, fingerprint, forMs: 60_000, keepMs: 60_000 });
  assert.deepEqual(same, { result: "in-flight" });
  const other = await api.send("POST", `${base}/dnszones`, zone("busy"), { "idempotency-key": "running" });
  assert.equal(code(other), "IDEMPOTENCY_REUSED");
  const dead = await idempotency.begin({ scope, fingerprint, forMs: 0, keepMs: 0 });
  assert.deepEqual(dead, { result: "begun" }, "an answer that no longer counts is no answer");
  const taken = await idempotency.begin({ scope, fingerprint, forMs: 60_000, keepMs: 60_000 });
  assert.deepEqual(taken, { result: "begun" }, "whoever began it has died");
});

const applyAs = (manager: string, path: string, body: unknown, force = "") =>
  api.send("PATCH", `${path}?fieldManager=${manager}${force}`, body, { "content-type": "application/apply+json" });

test("two owners of one field get a conflict that names both, and each field", async () => {
  await api.send("PUT", `${base}/dnszones/shared`, zone("shared"));
  const path = `${base}/dnsrecords/shared`;
  const one = { zone: "shared", name: "www", type: "A", values: ["192.0.2.1"] };
  const manifest = (spec: object) => ({ ...record("shared", "shared"), spec });
  assert.equal((await applyAs("git", path, manifest(one))).status, 201);
  const tuned = await applyAs("tuner", path, manifest({ ttlSeconds: 60 }));
  assert.equal(tuned.status, 200, "a default is nobody's");
  assert.equal((resourceSchema.parse(tuned.body).spec as { ttlSeconds: number }).ttlSeconds, 60);
  const conflict = await applyAs("tuner", path, manifest({ ttlSeconds: 60, values: ["192.0.2.2"] }));
  assert.equal(conflict.status, 409);
  assert.equal(code(conflict), "OWNER_CONFLICT");
  assert.deepEqual(conflict.body["owners"], [{ pointer: "/spec/values", owner: "git", asked: "tuner" }]);
  assert.match(String(conflict.body["detail"]), /tuner.*git.*\/spec\/values/);
  assert.deepEqual((resourceSchema.parse((await api.send("GET", path)).body).spec as typeof one).values, ["192.0.2.1"]);
  const forced = await applyAs("tuner", path, manifest({ ttlSeconds: 60, values: ["192.0.2.2"] }), "&force=true");
  const taken = resourceSchema.parse(forced.body);
  assert.equal(taken.metadata.owners?.["/spec/values"], "tuner");
  assert.equal(taken.metadata.owners["/spec/name"], "git");
  const dropped = await applyAs("tuner", path, manifest({ values: ["192.0.2.2"] }));
  assert.equal(
    (resourceSchema.parse(dropped.body).spec as { ttlSeconds: number }).ttlSeconds,
    300,
    "back to the default",
  );
});

test("an apply merges deep fields and labels, and takes out what its owner no longer applies", async () => {
  const path = `${base}/dnszones/merged`;
  const labels = (given: object) => zone("merged", { metadata: { labels: given } });
  await applyAs("a", path, labels({ team: "web", tier: "front" }));
  const both = await applyAs("b", path, labels({ cost: "low" }));
  assert.deepEqual(resourceSchema.parse(both.body).metadata.labels, { cost: "low", team: "web", tier: "front" });
  const fewer = await applyAs("a", path, labels({ team: "web" }));
  assert.deepEqual(resourceSchema.parse(fewer.body).metadata.labels, { cost: "low", team: "web" });
  const plain = await api.send("PATCH", `${path}?fieldManager=a`, labels({}), {});
  assert.equal(code(plain), "BODY_INVALID", "nobody merges by accident");
  assert.equal(code(await api.send("PATCH", path, labels({}))), "FIELDS_INVALID");
});

test("every field that is wrong is named by its pointer", async () => {
  const wrong = { ...zone("wrong", { spec: { zone: "", extra: 1 } }) };
  const answer = await api.send("PUT", `${base}/dnszones/wrong`, wrong);
  assert.equal(answer.status, 422);
  assert.equal(code(answer), "FIELDS_INVALID");
  assert.deepEqual(pointers(answer), ["/spec/zone", "/spec/extra"]);
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
  assert.equal(code(await api.send("PATCH", `${base}/dnszones`, {})), "METHOD_UNKNOWN");
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
});

test("a page token belongs to its query", async () => {
  const path = `${base}/projects/paged/dnszones`;
  const token = String((await api.send("GET", `${path}?pageSize=2`)).body["nextPageToken"]);
  assert.equal((await api.send("GET", `${path}?pageSize=2&pageToken=${token}`)).status, 200);
  for (const other of ["namePrefix=zone", "sort=-name", "labels=odd%3Dyes", "mode=observe"]) {
    const refused = await api.send("GET", `${path}?${other}&pageToken=${token}`);
    assert.deepEqual([refused.status, pointers(refused)], [422, ["/pageToken"]], other);
  }
  assert.equal((await api.send("GET", `${base}/dnszones?pageToken=${token}`)).status, 422);
});

const listed = async (query: string) => {
  const answer = await api.send("GET", `${base}/projects/paged/dnszones?${query}`);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return (answer.body["items"] as { metadata: { name: string } }[]).map((item) => item.metadata.name);
};

test("lists are filtered by labels, and an empty selector never means all", async () => {
  const select = (text: string) => listed(`labels=${encodeURIComponent(text)}`);
  assert.deepEqual(await select("odd=yes"), ["zone-1", "zone-3"]);
  assert.deepEqual(await select("odd!=yes"), ["zone-0", "zone-2", "zone-4", "zone-5", "zone-6"]);
  assert.deepEqual(await select("odd in (yes,maybe)"), ["zone-1", "zone-3"]);
  assert.equal((await select("odd in (yes,no)")).length, 7);
  assert.equal((await select("odd")).length, 7);
  assert.deepEqual(await select("!odd"), []);
  assert.deepEqual(await select("odd,odd notin (no)"), ["zone-1", "zone-3"]);
  for (const wrong of ["", ",", "odd in ()", "odd=", "=x", "a b", "odd in (yes,)"]) {
    const refused = await api.send("GET", `${base}/projects/paged/dnszones?labels=${encodeURIComponent(wrong)}`);
    assert.equal(refused.status, 422, wrong);
  }
});

test("lists are filtered by fields and sorted, forwards and backwards", async () => {
  const path = `${base}/projects/paged/dnszones`;
  await api.send("PUT", `${path}/zone-2`, zone("zone-2", { metadata: { mode: "enforce" } }), whatever);
  await api.send("DELETE", `${path}/zone-4`, undefined, whatever);
  assert.deepEqual(await listed("mode=enforce"), ["zone-2"]);
  assert.deepEqual(await listed("deleting=true"), ["zone-4"]);
  assert.equal((await listed("deleting=false")).length, 6);
  assert.deepEqual(await listed("namePrefix=zone-3"), ["zone-3"]);
  assert.equal((await api.send("GET", `${path}?namePrefix=`)).status, 422);
  assert.deepEqual((await listed("sort=-name"))[0], "zone-6");
  assert.deepEqual((await listed("sort=-declaredAt"))[0], "zone-2");
  const forwards = await listed("sort=declaredAt&pageSize=500");
  assert.deepEqual(await listed("sort=-declaredAt"), forwards.toReversed());
  assert.equal((await listed("sort=updated")).length, 7);
  assert.equal((await listed("ready=unknown")).length, 7, "what was never looked at is not known");
  const odd = `labels=${encodeURIComponent("odd in (yes,maybe)")}`;
  assert.deepEqual(await listed(`ready=unknown&${odd}`), ["zone-1", "zone-3"]);
  assert.deepEqual(await listed(`ready=unknown&labels=${encodeURIComponent("odd,odd!=yes")}&namePrefix=zone-5`), [
    "zone-5",
  ]);
  assert.deepEqual((await listed(`sort=-updated&${odd}`)).toSorted(), ["zone-1", "zone-3"]);
  assert.deepEqual(await listed("ready=false"), []);
  assert.deepEqual(await listed("drifted=true"), []);
  assert.deepEqual(await listed("held=true"), []);
  assert.equal(code(await api.send("GET", `${base}/dnsrecords?ready=false`)), "FIELDS_INVALID");
});

test("every order gives the same pages whatever their size", async () => {
  for (const sort of ["name", "-name", "declaredAt", "-declaredAt", "updated", "-updated"]) {
    for (const filter of ["", "&labels=odd", "&ready=unknown", "&ready=unknown&labels=odd%3Dyes"]) {
      const whole = await listed(`sort=${sort}${filter}`);
      const seen: string[] = [];
      let next = "";
      do {
        const page = await api.send("GET", `${base}/projects/paged/dnszones?sort=${sort}${filter}&pageSize=2${next}`);
        seen.push(...(page.body["items"] as { metadata: { name: string } }[]).map((item) => item.metadata.name));
        const token = page.body["nextPageToken"];
        next = typeof token === "string" ? `&pageToken=${token}` : "";
      } while (next !== "");
      assert.deepEqual(seen, whole, `${sort}${filter}`);
    }
  }
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
  const mismatch = await api.send("DELETE", `${path}?confirm=3`, undefined, whatever);
  assert.equal(mismatch.status, 409);
  assert.equal(code(mismatch), "COUNT_MISMATCH");
  const deleted = await api.send("DELETE", `${path}?orphan=true`, undefined, whatever);
  assert.equal(deleted.status, 202);
  assert.equal(resourceSchema.parse(deleted.body).metadata.deletion?.orphan, true);
  assert.equal(code(await api.send("PUT", path, zone("leaving"))), "BEING_DELETED");
  // What only looks would never leave: its mode and protection can be changed.
  const governed = await api.send("PUT", path, zone("leaving", { metadata: { mode: "propose" } }));
  assert.equal(governed.status, 200);
  const { metadata } = resourceSchema.parse(governed.body);
  assert.deepEqual([metadata.mode, metadata.deletion?.orphan], ["propose", true]);
  assert.equal((await api.send("DELETE", `${base}/dnszones/never`, undefined, whatever)).status, 404);
});

test("a protected resource is not deleted, and the guard's verdict says why", async () => {
  const path = `${base}/dnszones/kept`;
  await api.send("PUT", path, zone("kept", { metadata: { protect: true } }));
  const refused = await api.send("DELETE", path, undefined, whatever);
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
