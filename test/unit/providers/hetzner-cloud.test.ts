import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { EngineError, RetryableError, TerminalError } from "../../../src/kernel/errors.ts";
import { readInventory } from "../../../src/kernel/inventory.ts";
import type { ServerIntent } from "../../../src/ports/compute.ts";
import type { Http, HttpAnswer, HttpRequest, HttpSilence } from "../../../src/ports/http.ts";
import type { AccountRecord } from "../../../src/ports/records.ts";
import { createHetznerCloudProvider } from "../../../src/providers/hetzner-cloud/provider.ts";
import { ManualClock } from "../../support/manual-clock.ts";

const signal = new AbortController().signal;
const account: AccountRecord = {
  id: "a",
  organizationId: "o",
  name: "lab",
  provider: "hetzner-cloud",
  settings: {},
  credentialRef: "env:TOKEN",
  fingerprint: undefined,
  claimedIncarnation: undefined,
};
const mark = { installationId: "i-1", resourceUid: "r-1" };
const marked = { "setpoint-installation": "i-1", "setpoint-resource": "r-1" };

type Reply = Partial<HttpAnswer> | HttpSilence | ((request: HttpRequest) => Partial<HttpAnswer>);

/** A project that gives these answers in turn. */
function opened(answers: readonly Reply[], record: AccountRecord = account) {
  const calls: HttpRequest[] = [];
  const lines: string[] = [];
  const http: Http = {
    request: async (request) => {
      const reply = answers[calls.length] ?? { status: 500 };
      calls.push(request);
      const answer = typeof reply === "function" ? reply(request) : reply;
      return "reason" in answer ? answer : { answered: true, status: 200, headers: {}, text: "", ...answer };
    },
  };
  const keep = (event: string, fields: object = {}) => void lines.push(`${event} ${JSON.stringify(fields)}`);
  const log = { debug: keep, info: keep, warn: keep, error: keep };
  const credentials = {
    read: async (reference: string) => ({ found: true, value: `secret of ${reference}` }) as const,
  };
  const clock = new ManualClock();
  const wait = async (ms: number) => clock.advance(ms);
  const resolver = { nameservers: async () => [] };
  const world = createHetznerCloudProvider({ http, credentials, clock: Object.assign(clock, { wait }), log, resolver });
  return { world: world.open(record), calls, lines, clock };
}

const json = (body: unknown, status = 200): Partial<HttpAnswer> => ({ status, text: JSON.stringify(body) });
const refusal = (status: number, code: string, message = "words of theirs") =>
  json({ error: { code, message } }, status);

function server(id: number, more: object = {}) {
  return {
    id,
    name: `server-${id}`,
    status: "running",
    server_type: { name: "cx22" },
    image: { id: 1, name: "debian-12" },
    location: { name: "fsn1" },
    labels: {},
    protection: { delete: false, rebuild: false },
    volumes: [],
    private_net: [],
    public_net: { ipv4: { ip: "192.0.2.1", dns_ptr: "a.test" }, ipv6: null, firewalls: [] },
    ...more,
  };
}

function page(number: number, ids: readonly number[], next: number | null, total: number | null) {
  const pagination = { page: number, per_page: 50, previous_page: null, next_page: next, last_page: null };
  return json({ servers: ids.map((id) => server(id)), meta: { pagination: { ...pagination, total_entries: total } } });
}
const found = (...servers: readonly object[]) =>
  json({ servers, meta: { pagination: { page: 1, next_page: null, total_entries: servers.length } } });

async function thrownBy(work: Promise<unknown>): Promise<EngineError> {
  const thrown: unknown = await work.then(
    () => assert.fail("nothing was thrown"),
    (error: unknown) => error,
  );
  assert.ok(thrown instanceof EngineError, String(thrown));
  return thrown;
}

describe("refusals", () => {
  const table: readonly (readonly [Partial<HttpAnswer> | HttpSilence, string, "terminal" | "sure" | "ambiguous"])[] = [
    [refusal(401, "unauthorized"), "CREDENTIAL_REFUSED", "terminal"],
    [refusal(403, "token_readonly"), "CREDENTIAL_REFUSED", "terminal"],
    [refusal(403, "resource_limit_exceeded"), "PROVIDER_REFUSED", "terminal"],
    [refusal(404, "not_found"), "NOT_FOUND", "terminal"],
    [refusal(409, "uniqueness_error"), "ALREADY_EXISTS", "terminal"],
    [refusal(409, "conflict"), "PROVIDER_UNAVAILABLE", "sure"],
    [refusal(422, "invalid_input"), "PROVIDER_REFUSED", "terminal"],
    [refusal(422, "resource_unavailable"), "PROVIDER_UNAVAILABLE", "sure"],
    [refusal(423, "locked"), "PROVIDER_UNAVAILABLE", "sure"],
    [refusal(423, "protected"), "PROVIDER_REFUSED", "terminal"],
    [refusal(429, "rate_limit_exceeded"), "RATE_LIMITED", "sure"],
    [refusal(503, "maintenance"), "PROVIDER_UNAVAILABLE", "ambiguous"],
    [refusal(503, "unavailable"), "PROVIDER_UNAVAILABLE", "ambiguous"],
    [{ status: 502, text: "<html>Bad Gateway" }, "PROVIDER_UNAVAILABLE", "ambiguous"],
    [{ answered: false, reason: "timeout", sent: true, message: "no answer" }, "TIMED_OUT", "ambiguous"],
    [{ answered: false, reason: "connection", sent: false, message: "refused" }, "PROVIDER_UNAVAILABLE", "sure"],
  ];
  for (const [answer, code, family] of table) {
    const name = "reason" in answer ? answer.reason : `${answer.status} ${answer.text}`;
    test(`${name} is ${code} and ${family}`, async () => {
      const { world } = opened([answer]);
      const thrown = await thrownBy(world.writer.deleteFirewall("7", signal).then(() => world.identity(signal)));
      if (code === "NOT_FOUND") return assert.ok(thrown, "what is gone is removed");
      assert.equal(thrown.code, code);
      assert.equal(thrown instanceof TerminalError, family === "terminal");
      if (thrown instanceof RetryableError) assert.equal(thrown.ambiguous, family === "ambiguous");
      if (!("reason" in answer) && answer.text?.includes("words")) assert.match(thrown.message, /words of theirs/);
    });
  }

  test("the token is in no message and in no log line, and the request id is", async () => {
    const text = JSON.stringify({ error: { code: "unauthorized", message: "no such token: secret of env:TOKEN" } });
    const { world, lines } = opened([{ status: 401, text, headers: { "x-correlation-id": "abc-1" } }]);
    const thrown = await thrownBy(world.identity(signal));
    assert.doesNotMatch(`${thrown.message} ${lines.join()}`, /secret of env/);
    assert.match(thrown.message, /unauthorized: no such token.*request abc-1/);
    assert.match(lines.join(), /abc-1/);
  });

  test("a 404 that the API did not say is not absence", async () => {
    const { world } = opened([{ status: 404, text: "nginx" }, refusal(404, "not_found")]);
    assert.equal((await thrownBy(world.reader.server("7", signal))).code, "PROVIDER_UNAVAILABLE");
    assert.equal(await world.reader.server("7", signal), "absent");
  });

  test("an empty name never means all", async () => {
    const { world, calls } = opened([]);
    assert.equal((await thrownBy(world.writer.deleteFirewall("", signal))).code, "WILDCARD_REFUSED");
    assert.equal((await thrownBy(world.reader.serverByName("", signal))).code, "WILDCARD_REFUSED");
    assert.equal(calls.length, 0);
  });
});

describe("lists", () => {
  const list = async (answers: readonly Reply[]) => {
    const { world, clock } = opened(answers);
    const lister = world.collections["servers"] ?? assert.fail("no servers");
    return (await readInventory(clock, lister, signal)).inventory;
  };
  test("all pages, counted", async () => {
    const read = await list([page(1, [1, 2], 2, 3), page(2, [3], null, 3)]);
    assert.equal(read.completeness, "complete");
    assert.equal(read.entries.length, 3);
  });
  test("a page that was repeated under another number, with the right count", async () => {
    const twice = [page(1, [1, 2], 2, 4), page(2, [1, 2], null, 4)];
    assert.equal((await list([...twice, ...twice, ...twice])).completeness, "partial");
  });
  test("an answer that is not the page asked for", async () => {
    assert.equal((await list([page(1, [1, 2], 2, 4), page(1, [1, 2], 2, 4)])).completeness, "partial");
  });
  test("a page that is missing", async () => {
    assert.equal((await list([page(1, [1, 2], 3, 6)])).completeness, "failed");
    const short = [page(1, [1, 2], 2, 6), page(2, [5, 6], null, 6)];
    assert.equal((await list([...short, ...short, ...short])).completeness, "partial");
  });
  test("a total that changed", async () => {
    const moving = [page(1, [1, 2], 2, 3), page(2, [3], null, 4)];
    assert.equal((await list([...moving, ...moving, ...moving])).completeness, "partial");
  });
  test("an error in the middle", async () => {
    assert.equal((await list([page(1, [1, 2], 2, 3), { status: 503 }])).completeness, "partial");
  });
});

describe("servers", () => {
  const intent: ServerIntent = {
    name: "web-1",
    labels: { role: "web" },
    mark,
    type: "cx22",
    image: "debian-12",
    location: "fsn1",
    networks: [],
    firewalls: [],
    sshKeys: [],
    publicAddresses: { ipv4: true, ipv6: false },
  };
  const made = (more: object = {}) =>
    json(
      {
        server: server(9, { name: "web-1", labels: marked, ...more }),
        action: { id: 3, command: "create_server", status: "running", error: null },
        root_password: "hunter2",
      },
      201,
    );

  test("are made with their mark, and found by it afterwards", async () => {
    const { world, calls } = opened([found(), made(), found(server(9, { labels: marked }))]);
    const first = await world.writer.ensureServer(intent, signal);
    assert.deepEqual([first.server.id, first.work, first.found], ["9", "3", false]);
    const body = JSON.parse(calls[1]?.body ?? "{}") as { labels: object };
    assert.deepEqual(body.labels, { role: "web", ...marked });
    const again = await world.writer.ensureServer(intent, signal);
    assert.deepEqual([again.server.id, again.found, calls.length], ["9", true, 3]);
  });
  test("a name that is taken is ours by its mark, or refused", async () => {
    const taken = refusal(409, "uniqueness_error", "name is already used");
    const ours = opened([found(), taken, found(server(9, { name: "web-1", labels: marked }))]);
    assert.equal((await ours.world.writer.ensureServer(intent, signal)).found, true);
    const theirs = opened([found(), taken, found(server(9, { name: "web-1" }))]);
    const thrown = await thrownBy(theirs.world.writer.ensureServer(intent, signal));
    assert.equal(thrown.code, "ALREADY_EXISTS");
    assert.match(thrown.message, /id 9.*spec\.adopt/);
  });
  test("two with one mark: the older one, always", async () => {
    const { world } = opened([found(server(12, { labels: marked }), server(9, { labels: marked }))]);
    assert.equal((await world.writer.ensureServer(intent, signal)).server.id, "9");
  });
  test("only what carries the mark is removed; what is gone is a success", async () => {
    const one = (labels: object) => json({ server: server(9, { labels }) });
    const theirs = opened([one({ ...marked, "setpoint-resource": "r-2" })]);
    assert.equal(
      (await thrownBy(theirs.world.writer.ensureServerGone({ id: "9", mark }, signal))).code,
      "PRECONDITION_FAILED",
    );
    const bare = opened([one({})]);
    assert.equal(
      (await thrownBy(bare.world.writer.ensureServerGone({ id: "9", mark }, signal))).code,
      "PRECONDITION_FAILED",
    );
    const gone = opened([refusal(404, "not_found")]);
    await gone.world.writer.ensureServerGone({ id: "9", mark }, signal);
    assert.equal(gone.calls.length, 1);
    const there = opened([one(marked), json({ action: { id: 1 } })]);
    await there.world.writer.ensureServerGone({ id: "9", mark }, signal);
    assert.deepEqual(
      there.calls.map(({ method }) => method),
      ["GET", "DELETE"],
    );
  });
  test("an action is waited for, and its failure keeps the provider's words", async () => {
    const action = (status: string, error: object | null = null) =>
      json({ action: { id: 4, command: "attach_to_network", status, error } }, 201);
    const { world, calls } = opened([action("running"), action("running"), action("success")]);
    await world.writer.setPower("9", "on", signal);
    assert.equal(calls.length, 3);
    const failing = opened([action("running"), action("error", { code: "no_space", message: "the subnet is full" })]);
    const thrown = await thrownBy(failing.world.writer.setPower("9", "on", signal));
    assert.match(thrown.message, /no_space: the subnet is full/);
  });
});

describe("who the account is", () => {
  const key = (id: number, installation = "i-1", incarnation = "1") => ({
    id,
    name: "sentinel",
    public_key: "ssh-ed25519 AAAA",
    labels: { "setpoint-sentinel": installation, "setpoint-incarnation": incarnation },
  });
  const keys = (...ssh_keys: readonly object[]) =>
    json({ ssh_keys, meta: { pagination: { page: 1, next_page: null, total_entries: ssh_keys.length } } });

  test("is its sentinel's id, and the older of two counts", async () => {
    const identity = await opened([keys(key(8, "i-2"), key(5))]).world.identity(signal);
    assert.deepEqual(identity, {
      fingerprint: "hetzner-cloud: SSH key 5",
      sentinel: { installationId: "i-1", incarnation: 1 },
    });
  });
  test("a token for looking and one for acting must be of one project", async () => {
    const two = { ...account, readCredentialRef: "env:LOOK" };
    const same = opened([keys(key(5)), keys(key(5))], two);
    assert.equal((await same.world.identity(signal)).fingerprint, "hetzner-cloud: SSH key 5");
    assert.deepEqual(
      same.calls.map(({ headers }) => headers?.["authorization"]),
      ["Bearer secret of env:LOOK", "Bearer secret of env:TOKEN"],
    );
    const other = await opened([keys(key(5)), keys()], two).world.identity(signal);
    assert.match(other.fingerprint, /different projects/);
  });
  test("a claim of ours keeps its key when it is renewed", async () => {
    const renewed = opened([keys(key(5)), json({ ssh_key: key(5) })]);
    await renewed.world.claim?.({ installationId: "i-1", incarnation: 2 }, signal);
    assert.deepEqual(
      renewed.calls.map(({ method }) => method),
      ["GET", "PUT"],
    );
    const first = opened([keys(), json({ ssh_key: key(5) }, 201)]);
    await first.world.claim?.({ installationId: "i-1", incarnation: 1 }, signal);
    const body = JSON.parse(first.calls[1]?.body ?? "{}") as { public_key: string };
    const [type, bytes = ""] = body.public_key.split(" ");
    assert.deepEqual([type, Buffer.from(bytes, "base64").length], ["ssh-ed25519", 4 + 11 + 4 + 32]);
  });
  test("a token that may only read is told from one that may write without writing", async () => {
    const rights = async (answer: Reply) => (await opened([answer]).world.rights?.(signal))?.write;
    assert.equal(await rights(refusal(422, "invalid_input")), true);
    assert.equal(await rights(refusal(403, "token_readonly")), false);
    assert.equal(
      (await thrownBy(Promise.resolve(opened([{ status: 500 }]).world.rights?.(signal)))).code,
      "PROVIDER_UNAVAILABLE",
    );
  });
});

test("the limit of calls is read from every answer", async () => {
  const headers = { "ratelimit-limit": "3600", "ratelimit-remaining": "100", "ratelimit-reset": "3500" };
  const { world } = opened([{ ...refusal(404, "not_found"), headers }]);
  assert.equal(world.rate?.(), undefined);
  await world.reader.server("7", signal);
  const rate = world.rate?.();
  assert.deepEqual([rate?.limit, rate?.remaining], [3_600, 100]);
});

test("a type can be ordered where it is listed, until the end that was announced", async () => {
  const price = (location: string) => ({ location, price_monthly: { net: "3.79" } });
  const listed = (name: string, end?: string) => ({
    name,
    deprecation: end === undefined ? null : { announced: end, unavailable_after: end },
  });
  const size = { cores: 2, memory: 4, disk: 40, architecture: "x86" };
  const type = {
    ...size,
    id: 1,
    name: "cx22",
    deprecation: null,
    locations: [
      listed("ash"),
      listed("fsn1", "2999-01-01T00:00:00+00:00"),
      listed("hel1", "1969-01-01T00:00:00+00:00"),
      listed("nbg1", "some day"),
    ],
    prices: [price("ash"), price("fsn1"), price("hel1"), price("nbg1"), price("sin")],
  };
  const pagination = { page: 1, next_page: null, total_entries: 1 };
  const { world } = opened([json({ server_types: [type], meta: { pagination } })]);
  const found = await world.reader.serverType("cx22", signal);
  assert.ok(found !== "absent");
  assert.deepEqual(
    found.offers.map(({ location, available, until }) => [location, available, until]),
    [
      ["ash", true, undefined],
      ["fsn1", true, "2999-01-01T00:00:00Z"],
      ["hel1", false, "1969-01-01T00:00:00Z"],
      ["nbg1", true, undefined],
      ["sin", false, undefined],
    ],
  );
});
