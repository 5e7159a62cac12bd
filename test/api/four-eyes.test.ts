import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Answer, startTestApi, type TestApi } from "../support/api.ts";
import { namedCallers } from "../support/named-callers.ts";

let api: TestApi;
const base = "/v1/organizations/default";
type Method = "GET" | "PUT" | "POST" | "PATCH" | "DELETE";
type Fields = Record<string, unknown>;

before(async () => {
  api = await startTestApi({ authenticator: namedCallers() });
  const account = { name: "lab", provider: "powerdns", settings: { url: "http://127.0.0.1:8081" } };
  assert.equal((await as("ada", "POST", `${base}/accounts`, account)).status, 201);
  for (const name of ["web", "shop"]) assert.equal((await as("ada", "POST", `${base}/projects`, { name })).status, 201);
  assert.equal((await as("ada", "PUT", `${base}/projects/web/policy`, { fourEyes: true })).status, 200);
});
after(() => api[Symbol.asyncDispose]());

function as(name: string, method: Method, url: string, body?: unknown, headers = {}) {
  return api.send(method, url, body, { authorization: `Bearer ${name}`, ...headers });
}

function code(answer: Answer): unknown {
  return answer.body["code"];
}

function zone(name: string, metadata: Fields) {
  return {
    apiVersion: "setpoint/v1",
    kind: "DnsZone",
    metadata: { name, ...metadata },
    spec: { account: "lab", zone: `${name}.test` },
  };
}

const zones = (project: string) => `${base}/projects/${project}/dnszones`;

async function declare(project: string, name: string, metadata: Fields): Promise<void> {
  assert.equal((await as("ada", "POST", zones(project), zone(name, metadata))).status, 201);
}

async function replace(who: string, project: string, name: string, metadata: Fields): Promise<Answer> {
  return await as(who, "PUT", `${zones(project)}/${name}`, zone(name, metadata), { "if-match": "*" });
}

async function metadataOf(project: string, name: string): Promise<Fields> {
  return (await as("ada", "GET", `${zones(project)}/${name}`)).body["metadata"] as Fields;
}

const heldPath = (refused: Answer) => `${base}/held-changes/${String(refused.body["heldChange"])}`;

test("a laxer mode of one resource waits for another person, whole, and is made by who asked for it", async () => {
  await declare("web", "one", { mode: "observe" });
  const refused = await replace("ada", "web", "one", { mode: "enforce", labels: { team: "web" } });
  assert.equal(code(refused), "FOUR_EYES");
  const { digest } = refused.body;
  assert.deepEqual(
    [(await metadataOf("web", "one"))["mode"], (await metadataOf("web", "one"))["labels"]],
    ["observe", {}],
    "nothing of it is done",
  );

  const held = (await as("grace", "GET", heldPath(refused))).body;
  assert.deepEqual([held["type"], held["guard"], held["openedBy"]], ["declaration", "mode", "ada"]);
  const [item] = held["items"] as Fields[];
  assert.deepEqual([item?.["kind"], item?.["name"], item?.["link"]], ["DnsZone", "one", `${zones("web")}/one`]);
  assert.deepEqual(item?.["differences"], [
    { field: "/metadata/labels/team", wanted: "web" },
    { field: "/metadata/mode", wanted: "enforce", seen: "observe" },
  ]);
  const listed = (await as("grace", "GET", `${base}/held-changes?kind=DnsZone`)).body["items"] as Fields[];
  assert.deepEqual(
    listed.map(({ id }) => id),
    [refused.body["heldChange"]],
  );

  const again = await replace("ada", "web", "one", { mode: "enforce", labels: { team: "web" } });
  assert.equal(again.body["heldChange"], refused.body["heldChange"], "asking twice is asking once");
  assert.equal(code(await as("ada", "POST", `${heldPath(refused)}:approve`, { digest })), "FOUR_EYES");
  assert.equal(code(await as("ci-bot", "POST", `${heldPath(refused)}:approve`, { digest })), "PRINCIPAL_REFUSED");
  assert.equal((await as("grace", "POST", `${heldPath(refused)}:approve`, { digest })).status, 200);
  const now = await metadataOf("web", "one");
  assert.deepEqual([now["mode"], now["labels"]], ["enforce", { team: "web" }]);
  await api.seal();
  const [latest] = (await as("ada", "GET", `${zones("web")}/one/declarations`)).body["items"] as Fields[];
  assert.equal(latest?.["by"], "ada");
});

test("taking protection away waits too; whoever says less than before says something laxer", async () => {
  await declare("web", "two", { mode: "enforce", protect: true });
  const refused = await replace("ada", "web", "two", { mode: "enforce" });
  assert.equal(code(refused), "FOUR_EYES");
  assert.equal((await metadataOf("web", "two"))["protect"], true);
  const { digest } = refused.body;
  assert.equal((await as("grace", "GET", heldPath(refused))).body["guard"], "protection");
  assert.equal((await as("grace", "POST", `${heldPath(refused)}:approve`, { digest })).status, 200);
  assert.notEqual((await metadataOf("web", "two"))["protect"], true);
});

test("by a patch and by a rollback as well", async () => {
  await declare("web", "three", { mode: "enforce" });
  assert.equal((await replace("ada", "web", "three", { mode: "propose" })).status, 200);
  const patched = await as(
    "ada",
    "PATCH",
    `${zones("web")}/three?fieldManager=ada&force=true`,
    zone("three", { mode: "enforce" }),
    { "content-type": "application/apply+json" },
  );
  assert.equal(code(patched), "FOUR_EYES");
  await api.seal();
  const back = await as("ada", "POST", `${zones("web")}/three:rollback`, { toRevision: 1 });
  assert.equal(code(back), "FOUR_EYES", JSON.stringify(back.body));
  assert.equal((await metadataOf("web", "three"))["mode"], "propose");
});

test("what is stricter or does not touch the rules is done at once, and so is everything where nobody asks for four eyes", async () => {
  await declare("web", "four", { mode: "enforce" });
  assert.equal((await replace("ada", "web", "four", { mode: "observe", protect: true })).status, 200);
  assert.equal(
    (await replace("ada", "web", "four", { mode: "observe", protect: true, labels: { a: "b" } })).status,
    200,
  );
  await declare("shop", "five", { mode: "observe", protect: true });
  assert.equal((await replace("ada", "shop", "five", { mode: "enforce" })).status, 200);
  assert.equal((await metadataOf("shop", "five"))["mode"], "enforce");
});

test("a dry run shows the plan and says that it would wait", async () => {
  await declare("web", "six", { mode: "observe" });
  const url = `${zones("web")}/six?dryRun=true`;
  const run = await as("ada", "PUT", url, zone("six", { mode: "enforce" }), { "if-match": "*" });
  assert.equal(run.status, 200);
  assert.match(String((run.body["notes"] as string[])[0]), /loosens \/metadata\/mode.*another person/);
  const open = (await as("ada", "GET", `${base}/held-changes?kind=DnsZone`)).body["items"] as Fields[];
  assert.ok(!open.some(({ items }) => (items as Fields[]).some(({ name }) => name === "six")), "looking asks nobody");
});

test("what was asked for on top of an older declaration cannot be approved, and leaves the inbox", async () => {
  await declare("web", "seven", { mode: "observe" });
  const refused = await replace("ada", "web", "seven", { mode: "enforce" });
  assert.equal((await replace("grace", "web", "seven", { mode: "observe", labels: { new: "one" } })).status, 200);
  const { digest } = refused.body;
  assert.equal(code(await as("grace", "POST", `${heldPath(refused)}:approve`, { digest })), "HELD_CHANGE_CLOSED");
  assert.equal((await metadataOf("web", "seven"))["mode"], "observe");
  assert.equal((await as("ada", "GET", heldPath(refused))).body["state"], "withdrawn");
});

test("a proposal that somebody else approved is not held a second time", async () => {
  await declare("web", "eight", { mode: "observe" });
  const changes = [{ project: "web", manifest: zone("eight", { mode: "enforce" }) }];
  const made = await as("ci-bot", "POST", `${base}/proposals`, { reason: "roll out", changes });
  assert.equal(made.status, 201);
  const path = `${base}/proposals/${String(made.body["id"])}`;
  const { digest } = made.body;
  assert.equal((await as("grace", "POST", `${path}:approve`, { digest })).status, 200);
  const applied = await as("ci-bot", "POST", `${path}:apply`);
  assert.deepEqual([applied.status, applied.body["state"]], [200, "applied"]);
  assert.equal((await metadataOf("web", "eight"))["mode"], "enforce");
});

test("one who approved his own proposal before four eyes were asked for cannot loosen anything with it", async () => {
  await declare("shop", "nine", { mode: "observe" });
  const changes = [{ project: "shop", manifest: zone("nine", { mode: "enforce" }) }];
  // Proposals ask for other eyes wherever the organization does.
  const alone = await as("ada", "POST", `${base}/proposals`, { reason: "roll out", changes });
  const path = `${base}/proposals/${String(alone.body["id"])}`;
  const { body, headers } = await as("ada", "GET", `${base}/projects/web/policy`);
  const lax = await as("grace", "PUT", `${base}/projects/web/policy`, {}, { "if-match": String(headers["etag"]) });
  const { id, digest } = lax.body;
  assert.equal((await as("ada", "POST", `${base}/held-changes/${String(id)}:approve`, { digest })).status, 200);
  assert.equal((await as("ada", "POST", `${path}:approve`, { digest: alone.body["digest"] })).status, 200);
  assert.equal((await as("ada", "PUT", `${base}/projects/shop/policy`, { fourEyes: true })).status, 200);
  const applied = await as("ada", "POST", `${path}:apply`);
  assert.equal(code(applied), "FOUR_EYES");
  assert.equal((await metadataOf("shop", "nine"))["mode"], "observe");
  assert.equal((await as("ada", "GET", path)).body["state"], "approved", "nor is it marked as applied");
  const stands = String((await as("ada", "GET", `${base}/projects/web/policy`)).headers["etag"]);
  assert.equal((await as("ada", "PUT", `${base}/projects/web/policy`, body, { "if-match": stands })).status, 200);
});

async function paused(on: string): Promise<string> {
  const pause = { on, level: "writes", reason: "something is wrong", forSeconds: 600 };
  const made = await as("grace", "POST", `${base}/pauses`, pause);
  assert.equal(made.status, 201);
  return String(made.body["id"]);
}

async function inForce(): Promise<readonly unknown[]> {
  return ((await as("ada", "GET", `${base}/pauses`)).body["items"] as Fields[]).map(({ id }) => id);
}

for (const on of ["projects/web", "projects/web/dnszones/one"])
  test(`the end of a pause of ${on} waits for another person, with its preview`, async () => {
    const id = await paused(on);
    const refused = await as("ada", "DELETE", `${base}/pauses/${id}`);
    assert.equal(code(refused), "FOUR_EYES");
    assert.ok((await inForce()).includes(id));
    const held = (await as("grace", "GET", heldPath(refused))).body;
    assert.equal(held["type"], "pause-end");
    const [item] = held["items"] as Fields[];
    assert.equal((await as("grace", "GET", String(item?.["link"]))).status, 200, "what it would set in motion");
    const { digest } = refused.body;
    assert.equal(code(await as("ada", "POST", `${heldPath(refused)}:approve`, { digest })), "FOUR_EYES");
    assert.equal((await as("grace", "POST", `${heldPath(refused)}:approve`, { digest })).status, 200);
    assert.ok(!(await inForce()).includes(id));
  });

test("where policy does not ask for four eyes a pause ends at once: beside it, and above it", async () => {
  const beside = await as("ada", "POST", `${base}/projects`, { name: "beside" });
  assert.equal(beside.status, 201);
  for (const on of ["projects/beside", "accounts/lab", "organization"]) {
    const id = await paused(on);
    assert.deepEqual((await as("ada", "DELETE", `${base}/pauses/${id}`)).body, { ended: [id] });
  }
});

test("four eyes of the organization cover its accounts", async () => {
  const { headers } = await as("ada", "GET", `${base}/policy`);
  const match = headers["etag"] === '"0"' ? {} : { "if-match": String(headers["etag"]) };
  assert.equal((await as("ada", "PUT", `${base}/policy`, { fourEyes: true }, match)).status, 200);
  const id = await paused("accounts/lab");
  const refused = await as("ada", "DELETE", `${base}/pauses/${id}`);
  assert.equal(code(refused), "FOUR_EYES");
  const { digest } = refused.body;
  assert.equal(code(await as("ada", "POST", `${heldPath(refused)}:approve`, { digest })), "FOUR_EYES");
  assert.equal((await as("grace", "POST", `${heldPath(refused)}:approve`, { digest })).status, 200);
  assert.ok(!(await inForce()).includes(id));
});

test("a freeze ends at once unless the platform asks for four eyes", async () => {
  const freeze = () => as("grace", "POST", "/v1/freeze", { reason: "something is wrong" });
  assert.equal((await freeze()).status, 201);
  assert.equal((await as("ada", "DELETE", "/v1/freeze")).status, 200, "an organization's policy is not the platform's");
  assert.equal((await as("ada", "PUT", "/v1/policy", { fourEyes: true })).status, 200);
  const [first, second] = [(await freeze()).body["id"], (await freeze()).body["id"]];
  const refused = await as("ada", "DELETE", "/v1/freeze");
  assert.equal(code(refused), "FOUR_EYES");
  const waiting = (await as("grace", "GET", "/v1/held-changes")).body["items"] as Fields[];
  assert.equal(waiting.length, 2, "each of them waits");
  const [item] = waiting.flatMap(({ items }) => items as Fields[]);
  assert.equal((await as("grace", "GET", String(item?.["link"]))).status, 200, "what it would set in motion");
  for (const { id, digest } of waiting) {
    const path = `/v1/held-changes/${String(id)}:approve`;
    assert.equal(code(await as("ada", "POST", path, { digest })), "FOUR_EYES");
    assert.equal((await as("grace", "POST", path, { digest })).status, 200);
  }
  const left = (await as("ada", "GET", "/v1/freeze")).body["items"] as Fields[];
  assert.ok(!left.some(({ id }) => id === first || id === second));
});
