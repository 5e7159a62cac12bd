import assert from "node:assert/strict";
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { organizationIdOf } from "../../src/control-api/names.ts";
import { disableAfterMs, NotificationDispatcher, retryScheduleMs } from "../../src/control-api/notify/dispatcher.ts";
import type { Log } from "../../src/ports/log.ts";
import type { Mailer } from "../../src/ports/mailer.ts";
import { isPublicAddress } from "../../src/runtime/public-address.ts";
import { createSystemIds } from "../../src/runtime/system-ids.ts";
import { createWebhookSender } from "../../src/runtime/webhook-sender.ts";
import { Database } from "../../src/store/database.ts";
import { PostgresNotificationStore } from "../../src/store/notification-store.ts";
import { Sealer } from "../../src/store/sealer.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { startTestApi, type TestApi } from "../support/api.ts";
import { query } from "../support/postgres.ts";

const silent: Log = { debug() {}, info() {}, warn() {}, error() {} };
const base = "/v1/organizations/default";
const organizationId = organizationIdOf("default");

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A receiver that answers as it is told to, on a real port. */
async function startReceiver() {
  const received: Received[] = [];
  const answers: { status: number; headers?: Record<string, string> }[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      received.push({ headers: request.headers, body });
      const { status, headers = {} } = answers.shift() ?? { status: 204 };
      response.writeHead(status, headers).end(status === 204 ? undefined : "as told");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    received,
    answers,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

let api: TestApi;
let clock: ManualClock;
let dispatcher: NotificationDispatcher;
let sealer: Sealer;
let databases: Database[];
const mails: { to: string; subject: string; text: string }[] = [];
let mailFails = false;

before(async () => {
  api = await startTestApi();
  clock = new ManualClock(Date.now() + 3_600_000);
  const open = (role: "setpoint_api" | "setpoint_admin") =>
    new Database({ url: api.url, role, log: silent, nowMs: () => clock.nowMs() });
  databases = [open("setpoint_api"), open("setpoint_admin")];
  const [database, administration] = databases as [Database, Database];
  const mailer: Mailer = {
    send: async (to, subject, text) => {
      if (mailFails) throw new Error("421 too busy");
      mails.push({ to, subject, text });
    },
  };
  sealer = new Sealer({ administration, clock, log: silent });
  const store = new PostgresNotificationStore({ database, administration, ids: createSystemIds() });
  // Secrets are made and used by the same clock.
  Object.assign(api.context, { notifications: store });
  dispatcher = new NotificationDispatcher({
    store,
    sender: createWebhookSender({ allowPrivate: ["127.0.0.0/8"] }),
    mailer,
    secretBox: api.context.secretBox,
    clock,
    random: { next: () => 0.5 },
    log: silent,
    publicUrl: "https://setpoint.example",
  });
  await step();
});
after(async () => {
  await Promise.all(databases.map((database) => database.end()));
  await api[Symbol.asyncDispose]();
});

/** What the log holds by now is sealed, gathered and sent. */
async function step(afterMs = 0) {
  clock.advance(afterMs);
  await sealer.sealAll();
  return await dispatcher.step();
}

async function addWebhook(url: string, events: readonly string[] = ["*"]) {
  const made = await api.send("POST", `${base}/webhooks`, { url, events });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const { id } = made.body["webhook"] as { id: string };
  return { id, secret: String(made.body["secret"]), path: `${base}/webhooks/${id}` };
}

/** As the receiver's library does it: Standard Webhooks, by hand. */
function verify({ headers, body }: Received, secret: string): boolean {
  const key = Buffer.from(secret.replace("whsec_", ""), "base64");
  const signed = `${String(headers["webhook-id"])}.${String(headers["webhook-timestamp"])}.${body}`;
  const expected = createHmac("sha256", key).update(signed).digest();
  return String(headers["webhook-signature"])
    .split(" ")
    .some((signature) => timingSafeEqual(Buffer.from(signature.replace("v1,", ""), "base64"), expected));
}

test("a pause is told by a signed webhook, thin and with a link", async () => {
  await using receiver = await startReceiver();
  const { secret, path } = await addWebhook(receiver.url, ["pause.started"]);
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  await api.send("POST", `${base}/pauses`, { reason: "moving house" });
  await step();
  assert.equal(receiver.received.length, 1);
  const [first] = receiver.received;
  assert.ok(first);
  assert.ok(verify(first, secret));
  assert.ok(
    !verify({ ...first, body: first.body.replace("moving", "staying") }, secret),
    "a changed body does not verify",
  );
  const message = JSON.parse(first.body) as { type: string; data: Record<string, unknown> };
  assert.equal(message.type, "pause.started");
  assert.equal(message.data["organization"], "default");
  assert.match(String(message.data["summary"]), /writes paused by operator: moving house/);
  assert.match(
    JSON.stringify(message.data["items"]),
    /https:\/\/setpoint\.example\/v1\/organizations\/default\/pauses/,
  );
  await step(60_000);
  assert.equal(receiver.received.length, 1, "told once");
  const listed = (await api.send("GET", `${path}/deliveries`)).body["items"] as Record<string, unknown>[];
  assert.deepEqual(
    listed.map(({ state, attempts }) => [state, attempts]),
    [["delivered", 1]],
  );
  assert.ok(!JSON.stringify((await api.send("GET", path)).body).includes("whsec_"));
  const [stored] = await query<{ secret: string }>(api.url, "select secret from setpoint.webhook_endpoint");
  assert.ok(!stored?.secret.includes(secret.slice(6, 20)), "the database alone cannot sign");
  await api.send("DELETE", path);
});

test("a receiver that fails three times gets it on the fourth, with the same id", async () => {
  await using receiver = await startReceiver();
  receiver.answers.push(
    { status: 500 },
    { status: 302, headers: { location: "http://127.0.0.1:1/" } },
    { status: 503 },
  );
  const { path } = await addWebhook(receiver.url, ["pause.started"]);
  await api.send("POST", `${base}/pauses`, { reason: "retry me" });
  assert.equal((await step()).tried, 1);
  assert.equal((await step((retryScheduleMs[0] ?? 0) - 1)).tried, 0, "not before its time");
  assert.equal((await step(1)).tried, 1);
  assert.equal((await step(retryScheduleMs[1])).tried, 1);
  assert.equal((await step(retryScheduleMs[2])).tried, 1);
  assert.equal((await step(24 * 3_600_000)).tried, 0);
  assert.equal(receiver.received.length, 4);
  assert.equal(new Set(receiver.received.map(({ headers }) => headers["webhook-id"])).size, 1);
  const [delivery] = (await api.send("GET", `${path}/deliveries`)).body["items"] as Record<string, unknown>[];
  assert.ok(delivery);
  assert.equal(delivery["state"], "delivered");
  assert.deepEqual(
    (delivery["answers"] as { status: number }[]).map(({ status }) => status),
    [500, 302, 503, 204],
  );

  const replayed = await api.send("POST", `${path}/deliveries/${String(delivery["id"])}:replay`);
  assert.equal(replayed.status, 202);
  await step();
  assert.equal(receiver.received.length, 5);
  assert.equal(receiver.received[4]?.headers["webhook-id"], receiver.received[0]?.headers["webhook-id"]);
  assert.equal((await api.send("POST", `${path}/deliveries/none:replay`)).status, 404);
  await api.send("DELETE", path);
});

test("what has one cause is told together, counted, with link and deadline", async () => {
  await using receiver = await startReceiver();
  const { path } = await addWebhook(receiver.url, ["held_change.waiting", "subject.stalled"]);
  const log = (type: string, uid: string, data: object) =>
    query(
      api.url,
      `insert into setpoint.log_entry (organization_id, type, uid, actor, data, at_ms)
       values ('${organizationId}', '${type}', '${uid}', 'setpoint', '${JSON.stringify(data)}', ${clock.nowMs()})`,
    );
  for (let index = 0; index < 30; index++)
    await log("held-change.opened", `h${index}`, {
      guard: "delete-budget",
      level: "subject",
      items: 3,
      reason: "3 deletes",
    });
  await log("held-change.opened", "other", { guard: "mode", level: "subject", items: 1, reason: "propose" });
  await log("subject.stalled", "uid", {
    kind: "DnsZone",
    name: "example",
    message: "NO_RIGHTS: the key may not write",
  });
  assert.equal((await step()).told, 0, "more of the same may follow");
  for (let index = 0; index < 5; index++)
    await log("held-change.moved", `h${index}`, {
      guard: "delete-budget",
      level: "subject",
      items: 4,
      reason: "4 deletes",
    });
  await step(29_000);
  assert.equal(receiver.received.length, 0);
  await step(1_000);
  const messages = receiver.received.map(({ body }) => {
    assert.ok(Buffer.byteLength(body) < 20_000);
    return JSON.parse(body) as { type: string; data: { cause: string; count: number; more: number; items: unknown[] } };
  });
  assert.deepEqual(messages.map(({ type, data }) => `${type} ${data.cause} ${data.count}`).sort(), [
    "held_change.waiting held/delete-budget/subject 35",
    "held_change.waiting held/mode/subject 1",
    "subject.stalled stall/NO_RIGHTS 1",
  ]);
  const many = messages.find(({ data }) => data.count === 35);
  assert.ok(many);
  assert.equal(many.data.items.length, 20);
  assert.equal(many.data.more, 15);
  const [item] = many.data.items as { link: string; deadline: string }[];
  assert.equal(item?.link, "https://setpoint.example/v1/organizations/default/held-changes/h0");
  assert.match(item?.deadline ?? "", /^\d{4}-/);
  const told = (await api.send("GET", `${base}/notifications`)).body["items"] as { cause: string }[];
  assert.ok(told.some(({ cause }) => cause === "stall/NO_RIGHTS"));
  await api.send("DELETE", path);
});

test("what nobody decided in time is told once more, by its cause, and never again", async () => {
  await using receiver = await startReceiver();
  const { path } = await addWebhook(receiver.url, ["held_change.overdue"]);
  const address = "ada@example.org";
  assert.equal((await api.send("PUT", `${base}/notification-emails`, { addresses: [address] })).status, 200);
  const verdict = { guard: "delete-budget", answer: "hold", reason: "3 deletes", numbers: {}, keys: [] };
  const hold = (id: string, guard: string) =>
    query(
      api.url,
      `insert into setpoint.held_change
         (organization_id, id, level, scope_key, state, digest, guard, verdict, authors, opened_at_ms)
       values ('${organizationId}', '${id}', 'subject', '${id}', 'open', 'd', '${guard}', '${JSON.stringify(verdict)}',
         '{}', ${clock.nowMs()})`,
    );
  for (const id of ["o1", "o2", "o3"]) await hold(id, "delete-budget");
  await hold("o4", "mode");
  const openedAtMs = clock.nowMs();
  const overdueMs = 7 * 24 * 3_600_000;
  await step(overdueMs - 1);
  const rejected = await api.send("POST", `${base}/held-changes/o3:reject`, { comment: "not wanted" });
  assert.equal(rejected.status, 200, JSON.stringify(rejected.body));
  mails.length = 0;
  await step();
  assert.equal(receiver.received.length, 0, "not before the deadline");
  await step(1);
  await step();
  await step(30_000);
  type Message = { type: string; data: { cause: string; count: number; items: { id: string; deadline: string }[] } };
  const messages = receiver.received.map(({ body }) => JSON.parse(body) as Message);
  assert.deepEqual(messages.map(({ type, data }) => `${type} ${data.cause} ${data.count}`).sort(), [
    "held_change.overdue overdue/delete-budget/subject 2",
    "held_change.overdue overdue/mode/subject 1",
  ]);
  const items = messages.flatMap(({ data }) => data.items);
  assert.deepEqual(items.map(({ id }) => id).sort(), ["o1", "o2", "o4"], "what was decided is not told");
  for (const { deadline } of items) assert.equal(Date.parse(deadline), openedAtMs + overdueMs);
  const told = mails.filter(({ to, subject }) => to === address && subject.includes("held_change.overdue"));
  assert.equal(told.length, 2);
  assert.match(told[0]?.text ?? "", /Nobody has decided in time.*should have been decided before/s);
  for (let days = 0; days < 20; days++) await step(24 * 3_600_000);
  assert.equal(receiver.received.length, 2, "once");
  assert.equal((await api.send("GET", `${base}/held-changes/o1`)).body["state"], "open", "it goes on waiting");
  await api.send("PUT", `${base}/notification-emails`, { addresses: [] });
  await query(api.url, "delete from setpoint.held_change where id like 'o_'");
  mails.length = 0;
  await api.send("DELETE", path);
});

test("a freeze reaches every organization at once, and its end too", async () => {
  await using receiver = await startReceiver();
  await api.send("POST", "/v1/organizations", { name: "other" });
  const mine = await addWebhook(receiver.url);
  const theirs = await api.send("POST", "/v1/organizations/other/webhooks", { url: `${receiver.url}/other` });
  assert.equal(theirs.status, 201, JSON.stringify(theirs.body));
  await api.send("POST", "/v1/freeze", { reason: "provider incident" });
  await step();
  await api.send("DELETE", "/v1/freeze");
  await step();
  assert.deepEqual(receiver.received.map(({ body }) => (JSON.parse(body) as { type: string }).type).sort(), [
    "freeze.ended",
    "freeze.ended",
    "freeze.started",
    "freeze.started",
  ]);
  const { id } = theirs.body["webhook"] as { id: string };
  assert.equal((await api.send("GET", `${base}/webhooks/${id}`)).status, 404, "another organization's is not there");
  assert.equal((await api.send("GET", `${base}/webhooks/${id}/deliveries`)).status, 404);
  assert.equal((await api.send("POST", `${base}/webhooks/${id}:test`)).status, 404);
  assert.equal((await api.send("POST", `${base}/webhooks/${id}:rotate`)).status, 404);
  assert.equal((await api.send("DELETE", `${base}/webhooks/${id}`)).status, 404);
  await api.send("DELETE", `/v1/organizations/other/webhooks/${id}`);
  await api.send("DELETE", mine.path);
});

test("the test button sends, and a new secret signs beside the old one for a day", async () => {
  await using receiver = await startReceiver();
  const { secret, path } = await addWebhook(receiver.url, ["pause.ended"]);
  assert.equal((await api.send("POST", `${path}:test`)).status, 202);
  await step(1);
  const rotated = await api.send("POST", `${path}:rotate`);
  const newer = String(rotated.body["secret"]);
  assert.notEqual(newer, secret);
  await api.send("POST", `${path}:test`);
  await step(1);
  await api.send("POST", `${path}:test`);
  await step(25 * 3_600_000);
  const [before, during, later] = receiver.received;
  assert.ok(before && during && later);
  assert.equal((JSON.parse(before.body) as { type: string }).type, "test");
  assert.deepEqual([verify(before, secret), verify(before, newer)], [true, false]);
  assert.deepEqual([verify(during, secret), verify(during, newer)], [true, true]);
  assert.deepEqual([verify(later, secret), verify(later, newer)], [false, true]);
  await api.send("DELETE", path);
});

test("an endpoint that fails for days is switched off, says so, and can be switched on again", async () => {
  await using receiver = await startReceiver();
  await using watcher = await startReceiver();
  const failing = await addWebhook(receiver.url, ["pause.started"]);
  const other = await addWebhook(watcher.url, ["webhook.disabled"]);
  for (let index = 0; index < 60; index++) receiver.answers.push({ status: 500 });
  const pause = (await api.send("POST", `${base}/pauses`, { reason: "first" })).body["id"];
  for (let tries = 0; tries < retryScheduleMs.length + 2; tries++) await step(24 * 3_600_000);
  const [given] = (await api.send("GET", `${failing.path}/deliveries`)).body["items"] as Record<string, unknown>[];
  assert.equal(given?.["state"], "failed");
  assert.ok(disableAfterMs < retryScheduleMs.length * 24 * 3_600_000);
  const off = (await api.send("GET", failing.path)).body;
  assert.equal(off["state"], "disabled");
  assert.match(String(off["disabledReason"]), /nothing has arrived there for 5 days/);
  assert.equal(watcher.received.length, 1);
  assert.match(watcher.received[0]?.body ?? "", /was switched off/);
  const before = receiver.received.length;
  await api.send("DELETE", `${base}/pauses/${String(pause)}`);
  await api.send("POST", `${base}/pauses`, { reason: "second" });
  await step(1);
  assert.equal(receiver.received.length, before, "nothing is sent to what is switched off");
  receiver.answers.length = 0;
  const { url, events, description } = off;
  const on = await api.send("PUT", failing.path, { url, events, description, state: "enabled" });
  assert.deepEqual([on.body["state"], on.body["failingSince"]], ["enabled", undefined]);
  receiver.answers.push({ status: 410 });
  await api.send("POST", `${base}/pauses`, { reason: "third" });
  await step(1);
  assert.equal((await api.send("GET", failing.path)).body["state"], "disabled", "410 asks to stop at once");
  await api.send("DELETE", failing.path);
  await api.send("DELETE", other.path);
});

test("people on the list are told by e-mail, again until the mail server takes it", async () => {
  const addresses = ["Ada@Example.test", "ada@example.test", "grace@example.test"];
  const set = await api.send("PUT", `${base}/notification-emails`, { addresses });
  assert.deepEqual(set.body["addresses"], ["ada@example.test", "grace@example.test"]);
  mailFails = true;
  await api.send("POST", `${base}/pauses`, { reason: "by\nmail" });
  await step(1);
  assert.equal(mails.length, 0);
  mailFails = false;
  await step(retryScheduleMs[0]);
  const paused = mails.filter(({ subject }) => subject === "Setpoint in default: pause.started");
  assert.deepEqual(paused.map(({ to }) => to).sort(), ["ada@example.test", "grace@example.test"]);
  const log = (await api.send("GET", `${base}/notification-emails/deliveries`)).body["items"] as {
    address: string;
    state: string;
    attempts: number;
    answers: { text: string }[];
  }[];
  const [newest] = log;
  assert.deepEqual([newest?.state, newest?.attempts], ["delivered", 2]);
  assert.ok(addresses.includes(newest?.address ?? ""));
  assert.match(newest?.answers[0]?.text ?? "", /421 too busy/, "what the mail server answered is kept");
  assert.match(paused[0]?.text ?? "", /by mail/, "no line of a message can pass for another header or line");
  await api.send("PUT", `${base}/notification-emails`, { addresses: [] });
  assert.equal((await api.send("PUT", `${base}/notification-emails`, { addresses: ["no"] })).status, 422);
});

test("nothing is sent to this machine, its network or its metadata, whatever the name says", async () => {
  const strict = createWebhookSender({ allowPrivate: [] });
  for (const url of [
    "http://example.com/",
    "https://127.0.0.1/",
    "https://[::1]/",
    "https://169.254.169.254/latest/meta-data",
    "https://10.1.2.3/",
    "https://192.168.0.1/",
    "https://[fd00::1]/",
    "https://[fe80::1]/",
    "https://[::ffff:127.0.0.1]/",
    "https://[64:ff9b::7f00:1]/",
    "https://0.0.0.0/",
    "https://2130706433/",
    "https://0x7f.1/",
    "https://user:password@example.com/",
    "https://localhost/",
    "https://metadata.internal/",
    "ftp://example.com/",
    "file:///etc/passwd",
    "nonsense",
  ]) {
    assert.notEqual(strict.refusalOf(url), undefined, url);
    const answer = await strict.send({ url, headers: {}, body: "{}", timeoutMs: 1_000 });
    assert.equal(!answer.sent && answer.reason, "refused", url);
  }
  assert.equal(strict.refusalOf("https://example.com/hook"), undefined);
  assert.equal((await api.send("POST", `${base}/webhooks`, { url: "https://10.0.0.1/" })).status, 422);

  // A name that leads to a private address, alone or beside a public one, is refused when it is used.
  for (const addresses of [["127.0.0.1"], ["93.184.216.34", "10.0.0.1"], []]) {
    const resolve = async () => addresses.map((address) => ({ address, family: 4 }));
    const sender = createWebhookSender({ allowPrivate: [], resolve });
    const answer = await sender.send({ url: "https://hook.example/", headers: {}, body: "{}", timeoutMs: 1_000 });
    assert.equal(!answer.sent && answer.reason, "refused", addresses.join());
  }
});

test("the address that was checked is the one that is used: a name that changes its mind changes nothing", async () => {
  await using receiver = await startReceiver();
  const { port } = new URL(receiver.url);
  let asked = 0;
  const resolve = async () => [{ address: asked++ === 0 ? "127.0.0.1" : "127.0.0.2", family: 4 }];
  const sender = createWebhookSender({ allowPrivate: ["127.0.0.1/32"], resolve });
  const answer = await sender.send({
    url: `http://hook.example:${port}/`,
    headers: { "x-test": "1" },
    body: "{}",
    timeoutMs: 5_000,
  });
  assert.equal(answer.sent && answer.status, 204);
  assert.equal(asked, 1);
  assert.equal(receiver.received[0]?.headers.host, `hook.example:${port}`);
});

test("what is public is told from what is not", () => {
  for (const address of ["8.8.8.8", "1.1.1.1", "2606:4700::1111", "172.32.0.1", "100.128.0.1"])
    assert.ok(isPublicAddress(address), address);
  for (const address of [
    "172.31.255.255",
    "100.64.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "2001:db8::1",
    "2002:7f00:1::",
    "::",
  ])
    assert.ok(!isPublicAddress(address), address);
});
