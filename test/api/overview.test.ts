import assert from "node:assert/strict";
import { test } from "node:test";
import type { ChangesDocument, FiguresDocument } from "../../src/control-api/schemas/overview.ts";
import { startTestApi, type TestApi, whatever } from "../support/api.ts";
import { openWatch } from "../support/watch-reader.ts";

const base = "/v1/organizations/default";
const zone = (name: string) => ({
  apiVersion: "setpoint/v1",
  kind: "DnsZone",
  metadata: { name, mode: "observe", labels: { team: name.startsWith("a") ? "web" : "mail" } },
  spec: { account: "lab", zone: `${name}.example.org` },
});

async function declare(api: TestApi, path: string, manifest: ReturnType<typeof zone>): Promise<void> {
  const answer = await api.send("POST", `${base}${path}`, manifest);
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
}

async function prepare(api: TestApi): Promise<void> {
  await api.send("POST", `${base}/accounts`, {
    name: "lab",
    provider: "powerdns",
    settings: { url: "http://127.0.0.1:9" },
  });
  await api.send("POST", `${base}/projects`, { name: "web" });
  for (const name of ["a1", "a2", "b1"]) await declare(api, "/dnszones", zone(name));
  for (const name of ["a3", "b2"]) await declare(api, "/projects/web/dnszones", zone(name));
}

const namesOf = (body: Readonly<Record<string, unknown>>) =>
  (body["items"] as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name);

test("one list shows every kind and scope, in pages of any size, filtered", async () => {
  await using api = await startTestApi();
  await prepare(api);
  for (const size of [1, 2, 3, 100]) {
    const names: string[] = [];
    let token = "";
    for (let pages = 0; pages < 20; pages++) {
      const more = token === "" ? "" : `&pageToken=${token}`;
      const { status, body } = await api.send("GET", `${base}/resources?pageSize=${size}${more}`);
      assert.equal(status, 200, JSON.stringify(body));
      names.push(...namesOf(body));
      token = (body["nextPageToken"] as string | undefined) ?? "";
      if (token === "") break;
    }
    assert.deepEqual(names, ["a1", "a2", "b1", "a3", "b2"], `in pages of ${size}`);
  }
  const found = async (query: string) => namesOf((await api.send("GET", `${base}/resources?${query}`)).body);
  assert.deepEqual(await found("labels=team%3Dweb"), ["a1", "a2", "a3"]);
  assert.deepEqual(await found("namePrefix=b"), ["b1", "b2"]);
  assert.deepEqual(await found("project=web"), ["a3", "b2"]);
  assert.deepEqual(await found("kind=DnsRecord"), []);
  assert.deepEqual(await found("held=true"), []);
  assert.equal((await api.send("GET", `${base}/resources?kind=Nothing`)).body["code"], "KIND_UNKNOWN");
  assert.equal((await api.send("GET", `${base}/resources?labels=`)).body["code"], "FIELDS_INVALID");
});

test("what a page names is asked for by its routes, in one question", async () => {
  await using api = await startTestApi();
  await prepare(api);
  const named = (paths: string, more = "") => api.send("GET", `${base}/resources?paths=${paths}${more}`);
  const { status, body } = await named("projects/web/dnszones/b2,dnszones/gone,dnszones/a1,dnszones/a1");
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual(namesOf(body), ["b2", "a1"], "in the order of the question; what is not there is left out");
  assert.deepEqual(namesOf((await named("projects/other/dnszones/a1")).body), []);
  for (const [paths, more, about] of [
    ["a1", "", "below the organization"],
    ["workspaces/w/dnszones/a1", "", "below the organization"],
    ["things/a1", "", "below the organization"],
    ["dnszones/a1", "&kind=DnsZone", "leave out kind"],
    ["dnszones/a1", "&drifted=false", "leave out drifted"],
    [Array.from({ length: 101 }, (_, index) => `dnszones/z${index}`).join(","), "", "at most 100"],
  ] as const) {
    const refused = await named(paths, more);
    assert.equal(refused.body["code"], "FIELDS_INVALID", paths);
    assert.match(String(refused.body["detail"]), new RegExp(about));
  }
  assert.equal((await named("")).body["code"], "FIELDS_INVALID", "an empty list never means all");
});

test("figures count by kind and scope", async () => {
  await using api = await startTestApi();
  await prepare(api);
  await api.send("DELETE", `${base}/dnszones/a1`, undefined, whatever);
  const { items } = (await api.send("GET", `${base}/figures`)).body as unknown as FiguresDocument;
  assert.deepEqual(
    items.map(({ kind, scope, total, deleting, unknown }) => ({ kind, scope, total, deleting, unknown })),
    [
      { kind: "DnsZone", scope: "", total: 3, deleting: 1, unknown: 3 },
      { kind: "DnsZone", scope: "web", total: 2, deleting: 0, unknown: 2 },
    ],
  );
});

test("a stream says what changed, goes on where it broke, and ends with the server", async () => {
  await using api = await startTestApi();
  await prepare(api);
  await api.seal();
  const url = await api.app.listen({ host: "127.0.0.1", port: 0 });
  const stream = await openWatch(`${url}${base}/changes`);
  const synced = await stream.next(({ event }) => event === "SYNCED");
  await declare(api, "/dnszones", zone("c1"));
  await api.send("POST", `${base}/pauses`, { reason: "a look around" });
  await api.seal();
  const changed = await stream.next(({ event }) => event === "CHANGED");
  const document = changed?.data as unknown as ChangesDocument;
  assert.deepEqual(document.resources, [{ kind: "DnsZone", name: "c1", link: `${base}/dnszones/c1`, removed: false }]);
  assert.deepEqual(document.records, ["pause"]);
  stream.close();

  const again = await openWatch(`${url}${base}/changes`, { "last-event-id": synced?.id ?? "" });
  const missed = await again.next(({ event }) => event === "CHANGED");
  const missedDocument = missed?.data as unknown as ChangesDocument | undefined;
  assert.deepEqual(missedDocument?.resources, document.resources, "nothing was missed");
  const gone = await openWatch(`${url}${base}/changes`, { "last-event-id": "99.1" });
  assert.equal(((await gone.body()) as { code: string }).code, "CURSOR_GONE");
  await api.app.close();
  await again.ended;
});

test("the list of accounts says how each is used, and never what its credential is", async () => {
  await using api = await startTestApi();
  await prepare(api);
  const { status, body } = await api.send("GET", `${base}/accounts`);
  assert.equal(status, 200, JSON.stringify(body));
  const [lab] = body["items"] as { credential: string; use: Record<string, unknown> }[];
  assert.equal(lab?.credential, "none");
  const unused = { callsLeft: 20, callsAtMost: 20, inventories: [], subjects: 5, failing: 0, owned: 0 };
  assert.deepEqual(lab?.use, unused);
  const { id: accountId } = lab as unknown as { id: string };
  const tookMs = Array.from({ length: 20 }, (_, index) => (index + 1) * 10);
  await api.engine.takeCalls({ accountId, wanted: 1, forPerson: true, tookMs });
  const completeAtMs = Date.parse("2026-11-16T10:00:00.000Z");
  const freshness = [{ accountId, collection: "servers", completeAtMs }];
  await api.engine.recordIdle({ holder: "test", cycles: [], freshness, seen: [], loopsSeen: [] });
  const [told] = (await api.send("GET", `${base}/accounts`)).body["items"] as { use: Record<string, unknown> }[];
  assert.ok(told);
  const { at, ...latency } = told.use["latency"] as { at: string };
  assert.deepEqual(latency, { medianMs: 100, p95Ms: 190, slowestMs: 200, calls: 20 });
  assert.match(at, /^\d{4}-\d\d-\d\dT/);
  assert.deepEqual(told?.use["inventories"], [{ collection: "servers", completeAt: "2026-11-16T10:00:00.000Z" }]);
  const named = { name: "named", provider: "powerdns", settings: { url: "http://127.0.0.1:9" } };
  const made = await api.send("POST", `${base}/accounts`, { ...named, credentialRef: "env:WHERE_THE_KEY_IS" });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const after = await api.send("GET", `${base}/accounts`);
  assert.equal((after.body["items"] as { credential: string }[])[1]?.credential, "reference");
  assert.doesNotMatch(JSON.stringify(after.body), /WHERE_THE_KEY_IS/);
});

test("how far the loop of each may go is said in lists: the strictest scope speaks, and a part is guarded as its whole", async () => {
  await using api = await startTestApi();
  await prepare(api);
  const record = { zone: "b2", name: "www", type: "A", values: ["192.0.2.1"] };
  const manifest = { apiVersion: "setpoint/v1", kind: "DnsRecord", metadata: { name: "www" }, spec: record };
  assert.equal((await api.send("POST", `${base}/projects/web/dnsrecords`, manifest)).status, 201);
  const own = { ...zone("b2"), metadata: { name: "b2", mode: "enforce" } };
  await api.send("PUT", `${base}/projects/web/dnszones/b2`, own, whatever);
  const modes = async () => {
    const { body } = await api.send("GET", `${base}/resources?project=web`);
    const items = body["items"] as {
      metadata: { name: string };
      status: { effectiveMode: { mode: string; from: string } };
    }[];
    return Object.fromEntries(items.map(({ metadata, status }) => [metadata.name, status.effectiveMode]));
  };
  const before = await modes();
  const byDefault = { mode: "enforce", from: "default" };
  assert.deepEqual([before["b2"], before["www"]], [byDefault, byDefault]);
  assert.equal((await api.send("PUT", `${base}/projects/web/policy`, { mode: "propose" }, whatever)).status, 200);
  const after = await modes();
  assert.match(after["b2"]?.from ?? "", /^project\//);
  assert.deepEqual([after["b2"]?.mode, after["www"]], ["propose", after["b2"]]);
  assert.equal(after["a3"]?.mode, "observe", "its own word is stricter");
  assert.match(after["a3"]?.from ?? "", /^resource\//);
  const { body } = await api.send("GET", `${base}/projects/web/dnszones/b2`);
  assert.deepEqual(
    (body as { status: { effectiveMode: unknown } }).status.effectiveMode,
    after["b2"],
    "read alone it says the same",
  );
});
