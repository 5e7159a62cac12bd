import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, test } from "node:test";
import { createApp } from "../../src/control-api/app.ts";
import { argon2Text } from "../../src/control-api/identity/argon2-hash.ts";
import { fromBase32, totpCode } from "../../src/control-api/identity/totp.ts";
import { systemClock } from "../../src/runtime/system-clock.ts";
import { Database } from "../../src/store/database.ts";
import { Sealer } from "../../src/store/sealer.ts";
import { startTestApi, type TestApi } from "../support/api.ts";
import { ask, goodPassword, newPerson, type Reply, signedIn } from "../support/person.ts";
import { query } from "../support/postgres.ts";

let api: TestApi;
before(async () => {
  api = await startTestApi();
});
after(() => api[Symbol.asyncDispose]());

const code = (answer: Reply) => answer.body["code"];
/** Everything but what names the one request. */
const comparable = ({ status, body }: Reply) => ({ status, body: { ...body, requestId: "" } });
const hashOf = (token: string) => createHash("sha256").update(token).digest("hex");

async function signInFrom(address: string, email: string, password: string): Promise<Reply> {
  const answer = await api.app.inject({
    method: "POST",
    url: "/v1/session",
    remoteAddress: address,
    payload: { email, password },
  });
  return { status: answer.statusCode, body: answer.json(), headers: answer.headers };
}

async function logged(type: string): Promise<readonly { actor: string; data: object; trail: object }[]> {
  return query(api.url, "select actor, data, trail from setpoint.log_entry where type = $1 order by at_ms", [type]);
}

test("whoever signs up can sign in, is shown who they are, and is in the log without a secret", async () => {
  const ada = await newPerson(api, "Ada@Example.Test ");
  assert.equal(ada.email, "ada@example.test");
  const me = await ada.send("GET", "/v1/me");
  assert.equal(me.body["name"], "ada@example.test");
  assert.equal(me.body["hasPassword"], true);
  assert.deepEqual(me.body["secondFactor"], { totp: false, recoveryCodes: 0, passkeys: 0 });
  assert.match(ada.token, /^spt_ses_[A-Za-z0-9_-]{43}$/);
  const everything = JSON.stringify(
    await query(api.url, "select * from setpoint.person, setpoint.session, setpoint.log_entry"),
  );
  for (const secret of [ada.token, goodPassword]) assert.ok(!everything.includes(secret));
  assert.deepEqual(
    (await logged("session.opened")).map(({ actor }) => actor),
    ["ada@example.test"],
  );
});

test("signing up again with a known e-mail is answered alike and changes nothing", async () => {
  const taken = { email: "ada@example.test", name: "Eve", password: "another fine password" };
  const [known, unknown] = [
    await ask(api, "POST", "/v1/sign-up", taken),
    await ask(api, "POST", "/v1/sign-up", { ...taken, email: "new@example.test" }),
  ];
  assert.deepEqual(comparable(known), comparable(unknown));
  assert.equal(known.status, 202);
  assert.equal(code(await signInFrom("192.0.2.77", taken.email, taken.password)), "SIGN_IN_REFUSED");
});

test("an unknown e-mail, a wrong password and a disabled person are answered alike", async () => {
  const grace = await newPerson(api, "grace@example.test");
  const wrong = await signInFrom("192.0.2.1", grace.email, "not the right one at all");
  const unknown = await signInFrom("192.0.2.1", "nobody@example.test", "not the right one at all");
  assert.equal(wrong.status, 401);
  assert.deepEqual(comparable(wrong), comparable(unknown));
  const operator = await api.send("PUT", `/v1/people/${grace.id}`, { state: "disabled" });
  assert.equal(operator.status, 200);
  assert.equal((await grace.send("GET", "/v1/me")).status, 401, "their session ended with it");
  assert.deepEqual(comparable(await signInFrom("192.0.2.1", grace.email, goodPassword)), comparable(unknown));
  await api.send("PUT", `/v1/people/${grace.id}`, { state: "active" });
  assert.equal((await signInFrom("192.0.2.1", grace.email, goodPassword)).status, 201);
});

test("a password of theirs that is too easy is refused with the reason", async () => {
  const reasons: Record<string, RegExp> = {
    "short one": /fewer than 12/,
    password1234: /tried first/,
    "!!Superman2024!!": /tried first|fewer/,
    aaaaaaaaaaaaaa: /repeats/,
    abcabcabcabcabc: /repeats/,
    abcdefghijklmn: /run of neighbouring/,
    "linus@example.test": /your own/,
    LinusLinus99: /your own|repeats/,
  };
  for (const [password, reason] of Object.entries(reasons)) {
    const person = { email: "linus@example.test", name: "Linus", password };
    const answer = await api.app.inject({
      method: "POST",
      url: "/v1/sign-up",
      remoteAddress: `203.0.113.${password.length}`,
      payload: {
        ...person,
        email:
          password.startsWith("linus") || password.startsWith("Linus")
            ? person.email
            : `${password.length}${password.charCodeAt(0)}@example.test`,
      },
    });
    const body = answer.json<Record<string, unknown>>();
    assert.equal(body["code"], "PASSWORD_WEAK", `${password}: ${answer.body}`);
    assert.match(String(body["detail"]), reason);
    assert.ok(!answer.body.includes(password), "a password is not sent back");
  }
});

test("attempts are counted in the database: a new process refuses as well, and says how long", async () => {
  await newPerson(api, "target@example.test");
  const wrong = () => signInFrom("198.51.100.9", "target@example.test", "guess after guess");
  for (let attempt = 0; attempt < 5; attempt++) assert.equal((await wrong()).status, 401);
  const limited = await wrong();
  assert.equal(code(limited), "RATE_LIMITED");
  assert.ok(Number(limited.headers["retry-after"]) > 0);
  await using another = createApp(api.context);
  const answer = await another.inject({
    method: "POST",
    url: "/v1/session",
    remoteAddress: "198.51.100.9",
    payload: { email: "target@example.test", password: goodPassword },
  });
  assert.equal(answer.statusCode, 429, "even with the right password");
  assert.equal(
    (await signInFrom("198.51.100.10", "target@example.test", goodPassword)).status,
    201,
    "from elsewhere the person still gets in",
  );
});

test("one address is stopped whomever it names, and twenty wrong guesses from many places are too many for one person", async () => {
  const guesses = Array.from({ length: 31 }, (_, index) =>
    signInFrom("198.51.100.66", `p${index}@example.test`, "wrong wrong wrong"),
  );
  const answers = await Promise.all(guesses);
  assert.equal(answers.filter(({ status }) => status === 429).length, 1);
  const spread = Array.from({ length: 21 }, (_, index) =>
    signInFrom(`203.0.113.${index}`, "victim@example.test", "wrong wrong wrong"),
  );
  assert.equal((await Promise.all(spread)).filter(({ status }) => status === 429).length, 1);
});

test("a session that was ended, idled or lasted too long is refused", async () => {
  const mary = await newPerson(api, "mary@example.test");
  const other = await signedIn(api, { email: mary.email, password: goodPassword });
  const listed = (await mary.send("GET", "/v1/sessions")).body["items"] as { id: string; current: boolean }[];
  assert.equal(listed.length, 2);
  const theirs = listed.find(({ current }) => !current);
  assert.equal((await mary.send("DELETE", `/v1/sessions/${theirs?.id}`)).status, 204);
  assert.equal(code(await other.send("GET", "/v1/me")), "UNAUTHENTICATED");
  assert.equal(code(await mary.send("DELETE", `/v1/sessions/${theirs?.id}`)), "NOT_FOUND");

  const idle = await signedIn(api, { email: mary.email, password: goodPassword });
  const change = "update setpoint.session set last_seen_at_ms = last_seen_at_ms - 31 * 60000 where token_hash = $1";
  await query(api.url, change, [hashOf(idle.token)]);
  assert.equal((await idle.send("GET", "/v1/me")).status, 401, "idle for 31 minutes");

  const old = await signedIn(api, { email: mary.email, password: goodPassword });
  const age = "update setpoint.session set ends_at_ms = created_at_ms where token_hash = $1";
  await query(api.url, age, [hashOf(old.token)]);
  assert.equal((await old.send("GET", "/v1/me")).status, 401, "older than twelve hours");

  assert.equal((await mary.send("DELETE", "/v1/session")).status, 204);
  assert.equal((await mary.send("GET", "/v1/me")).status, 401, "signed out");
});

test("nobody can end or list somebody else's sessions", async () => {
  const [alan, eve] = [await newPerson(api, "alan@example.test"), await newPerson(api, "eve@example.test")];
  const [his] = (await alan.send("GET", "/v1/sessions")).body["items"] as { id: string }[];
  assert.equal(code(await eve.send("DELETE", `/v1/sessions/${his?.id}`)), "NOT_FOUND");
  assert.equal((await alan.send("GET", "/v1/me")).status, 200);
  for (const [method, url] of [
    ["GET", "/v1/people"],
    ["GET", `/v1/people/${alan.id}`],
    ["POST", `/v1/people/${alan.id}/reset-link`],
  ] as const)
    assert.equal(code(await eve.send(method, url)), "FORBIDDEN", url);
});

test("a cookie works for our own pages, and for nothing that another site asks for", async () => {
  await newPerson(api, "kay@example.test");
  const entered = await ask(api, "POST", "/v1/session", { email: "kay@example.test", password: goodPassword });
  const set = String(entered.headers["set-cookie"]);
  assert.match(set, /^setpoint=spt_ses_[^;]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=43200$/);
  assert.equal(entered.body["token"], undefined, "no script gets to see it");
  const cookie = set.split(";")[0] ?? "";
  const change = (headers: Record<string, string>) =>
    ask(api, "PUT", "/v1/me", { name: "Kay" }, { cookie, host: "setpoint.test", ...headers });
  assert.equal((await ask(api, "GET", "/v1/me", undefined, { cookie })).status, 200);
  for (const headers of [
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { "sec-fetch-site": "cross-site", origin: "http://setpoint.test" },
    { "sec-fetch-site": "same-origin", origin: "http://evil.test" },
    { origin: "http://setpoint.test.evil.test" },
    { origin: "null" },
    {},
  ])
    assert.equal(code(await change(headers as Record<string, string>)), "FORBIDDEN", JSON.stringify(headers));
  for (const headers of [
    { "sec-fetch-site": "same-origin" },
    { "sec-fetch-site": "same-origin", origin: "http://setpoint.test" },
    { origin: "http://setpoint.test" },
  ])
    assert.equal((await change(headers as Record<string, string>)).status, 200, JSON.stringify(headers));
  const foreign = { email: "kay@example.test", password: goodPassword };
  assert.equal(
    code(await ask(api, "POST", "/v1/session", foreign, { "sec-fetch-site": "cross-site" })),
    "FORBIDDEN",
    "nor can it sign its visitors in",
  );
});

test("signing in again replaces the session of the same browser", async () => {
  const given = { email: "kay@example.test", password: goodPassword };
  const first = String((await ask(api, "POST", "/v1/session", given)).headers["set-cookie"]).split(";")[0] ?? "";
  const again = await ask(api, "POST", "/v1/session", given, { cookie: first });
  assert.equal(again.status, 201);
  assert.equal((await ask(api, "GET", "/v1/me", undefined, { cookie: first })).status, 401);
});

test("a change of password needs the old one and ends every other session", async () => {
  const joan = await newPerson(api, "joan@example.test");
  const other = await signedIn(api, { email: joan.email, password: goodPassword });
  const next = "seven purple umbrellas";
  const change = (oldPassword: string, password: string) =>
    joan.send("PUT", "/v1/me/password", { oldPassword, password });
  assert.equal(code(await change("not the old one at all", next)), "SIGN_IN_REFUSED");
  assert.equal(code(await change(goodPassword, "short")), "PASSWORD_WEAK");
  assert.equal((await change(goodPassword, next)).status, 204);
  assert.equal((await joan.send("GET", "/v1/me")).status, 200);
  assert.equal((await other.send("GET", "/v1/me")).status, 401);
  assert.equal((await signInFrom("192.0.2.3", joan.email, goodPassword)).status, 401);
  assert.equal((await signInFrom("192.0.2.3", joan.email, next)).status, 201);
});

test("a password is hashed anew when the cost has changed", async () => {
  await newPerson(api, "barbara@example.test");
  const read = async () =>
    (
      await query<{ hash: string }>(
        api.url,
        "select password_hash as hash from setpoint.person where email = 'barbara@example.test'",
      )
    )[0]?.hash ?? "";
  const old = await argon2Text(goodPassword, Buffer.alloc(16, 1), { memoryKiB: 32, passes: 2, lanes: 1 });
  await query(api.url, "update setpoint.person set password_hash = $1 where email = 'barbara@example.test'", [old]);
  assert.equal((await signInFrom("192.0.2.4", "barbara@example.test", goodPassword)).status, 201);
  assert.match(await read(), /^\$argon2id\$v=19\$m=64,t=1,p=1\$/);
});

test("codes: asked for after a right password alone, each used once, recovery codes once as well", async () => {
  const rear = await newPerson(api, "rear@example.test");
  const enrolled = await rear.send("POST", "/v1/me/totp");
  assert.equal(enrolled.status, 201);
  const secret = fromBase32(String(enrolled.body["secret"]));
  assert.match(String(enrolled.body["uri"]), /^otpauth:\/\/totp\/Setpoint%3Arear%40example\.test\?secret=/);
  const stored = JSON.stringify(await query(api.url, "select * from setpoint.totp"));
  assert.ok(!stored.includes(String(enrolled.body["secret"])), "sealed");
  const step = Math.floor(Date.now() / 30_000);
  assert.equal(
    code(await rear.send("POST", "/v1/me/totp/confirm", { code: totpCode(secret, step - 7) })),
    "SIGN_IN_REFUSED",
  );
  const confirmed = await rear.send("POST", "/v1/me/totp/confirm", { code: totpCode(secret, step) });
  const recovery = confirmed.body["recoveryCodes"] as string[];
  assert.equal(recovery.length, 10);
  assert.match(recovery[0] ?? "", /^([a-z2-7]{4}-){5}[a-z2-7]{4}$/, "120 bits");

  const given = { email: rear.email, password: goodPassword };
  const wrong = await ask(api, "POST", "/v1/session", { ...given, password: "wrong wrong wrong" });
  assert.equal(wrong.body["secondFactor"], undefined);
  assert.deepEqual((await ask(api, "POST", "/v1/session", given)).body, { secondFactor: "required" });
  const withCode = (one: string) => ask(api, "POST", "/v1/session", { ...given, code: one });
  // The next one counts already, and still does should the step end meanwhile.
  const now = totpCode(secret, step + 1);
  const both = await Promise.all([withCode(now), withCode(now)]);
  assert.deepEqual(
    both.map(({ status }) => status).sort((left, right) => left - right),
    [201, 401],
    "at once, and still once",
  );
  assert.equal((await withCode(now)).status, 401, "the code was used");
  assert.equal((await withCode(totpCode(secret, step))).status, 401, "so was the one before it");
  assert.equal((await withCode(recovery[0] ?? "")).status, 201);
  assert.equal((await withCode(recovery[0] ?? "")).status, 401, "a recovery code works once");
  assert.equal((await withCode((recovery[1] ?? "").toUpperCase().replaceAll("-", " "))).status, 201);
});

test("guesses of codes are few, whatever is known besides", async () => {
  const person = await newPerson(api, "guessed@example.test");
  const secret = fromBase32(String((await person.send("POST", "/v1/me/totp")).body["secret"]));
  const step = Math.floor(Date.now() / 30_000);
  await person.send("POST", "/v1/me/totp/confirm", { code: totpCode(secret, step) });
  const answers: unknown[] = [];
  for (let guess = 0; guess < 7; guess++) {
    const answer = await api.app.inject({
      method: "POST",
      url: "/v1/session",
      remoteAddress: `203.0.113.${100 + guess}`,
      payload: { email: person.email, password: goodPassword, code: totpCode(secret, step - 100 - guess) },
    });
    answers.push(answer.json<Record<string, unknown>>()["code"]);
  }
  assert.deepEqual(answers.slice(5), ["RATE_LIMITED", "RATE_LIMITED"]);
});

test("a dangerous act asks for a fresh proof, and a wrong one is none", async () => {
  const dora = await newPerson(api, "dora@example.test");
  const age = () =>
    query(api.url, "update setpoint.session set proven_at_ms = proven_at_ms - 6 * 60000 where token_hash = $1", [
      hashOf(dora.token),
    ]);
  await age();
  api.context.identity.sessions.forget();
  assert.equal(code(await dora.send("POST", "/v1/me/totp")), "STEP_UP_REQUIRED");
  assert.equal(
    code(await dora.send("POST", "/v1/session/prove", { password: "wrong wrong wrong" })),
    "SIGN_IN_REFUSED",
  );
  assert.equal(code(await dora.send("POST", "/v1/session/prove", {})), "FIELDS_INVALID");
  assert.equal(code(await dora.send("POST", "/v1/me/totp")), "STEP_UP_REQUIRED");
  assert.equal((await dora.send("POST", "/v1/session/prove", { password: goodPassword })).status, 204);
  assert.equal((await dora.send("POST", "/v1/me/totp")).status, 201);
});

test("the operator's file makes links: the first makes an administrator, and of twenty uses at once one succeeds", async () => {
  await using fresh = await startTestApi();
  const made = await fresh.send("POST", "/v1/sign-in-links", {});
  const url = new URL(String(made.body["url"]));
  assert.equal(url.search, "", "nothing that a log would keep");
  const token = url.hash.slice(1);
  const person = { email: "first@example.test", name: "First", password: goodPassword };
  const weak = await ask(fresh, "POST", "/v1/session/link", { token, person: { ...person, password: "short" } });
  assert.equal(code(weak), "PASSWORD_WEAK", "a mistake does not use it up");
  assert.equal(code(await ask(fresh, "POST", "/v1/session/link", { token })), "SIGN_IN_REFUSED");
  const uses = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      ask(fresh, "POST", "/v1/session/link", {
        token,
        as: "token",
        person: { ...person, email: `first${index}@example.test` },
      }),
    ),
  );
  const opened = uses.filter(({ status }) => status === 201);
  assert.equal(opened.length, 1);
  assert.deepEqual(new Set(uses.map(({ status }) => status)), new Set([201, 401]));
  const people = (await fresh.send("GET", "/v1/people")).body["items"] as {
    platformRole: string;
    email: string;
    id: string;
  }[];
  assert.deepEqual(
    people.map(({ platformRole }) => platformRole),
    ["administrator"],
  );
  const headers = { authorization: `Bearer ${String(opened[0]?.body["token"])}` };
  assert.equal((await ask(fresh, "GET", "/v1/people", undefined, headers)).status, 200);

  const again = await fresh.send("POST", "/v1/sign-in-links", {});
  const signIn = new URL(String(again.body["url"])).hash.slice(1);
  const links = await Promise.all(
    Array.from({ length: 20 }, () => ask(fresh, "POST", "/v1/session/link", { token: signIn })),
  );
  assert.equal(links.filter(({ status }) => status === 201).length, 1);
  assert.equal(
    code(await ask(fresh, "POST", "/v1/sign-in-links", {}, headers)),
    "FORBIDDEN",
    "an administrator is no operator's file",
  );
  const last = await ask(fresh, "PUT", `/v1/people/${people[0]?.id}`, { platformRole: "none" }, headers);
  assert.equal(code(last), "IN_USE", "the last administrator stays one");
});

test("a link that has expired signs nobody in", async () => {
  await newPerson(api, "late@example.test");
  const made = await api.send("POST", "/v1/sign-in-links", { email: "late@example.test" });
  const token = new URL(String(made.body["url"])).hash.slice(1);
  await query(api.url, "update setpoint.one_time_link set expires_at_ms = 0");
  assert.equal(code(await ask(api, "POST", "/v1/session/link", { token })), "SIGN_IN_REFUSED");
});

test("an administrator adds people, who set their password with a link that is shown once", async () => {
  const added = await api.send("POST", "/v1/people", { email: "hired@example.test", name: "Hired" });
  assert.equal(added.status, 201);
  assert.equal(
    (await api.send("POST", "/v1/people", { email: "hired@example.test", name: "Hired" })).body["code"],
    "ALREADY_EXISTS",
  );
  const { url } = added.body["link"] as { url: string };
  const token = new URL(url).hash.slice(1);
  assert.equal(
    code(await ask(api, "POST", "/v1/session/link", { token })),
    "SIGN_IN_REFUSED",
    "it sets a password and signs nobody in",
  );
  const uses = await Promise.all(
    Array.from({ length: 20 }, () =>
      ask(api, "POST", "/v1/password/reset", { token, password: "nine quiet harbour seals" }),
    ),
  );
  assert.deepEqual(
    uses.map(({ status }) => status).sort((left, right) => left - right),
    [204, ...Array.from({ length: 19 }, () => 401)],
  );
  await signedIn(api, { email: "hired@example.test", password: "nine quiet harbour seals" });
  assert.ok((await logged("person.password-reset")).length === 1);
});

test("sign-up can be switched off, and administrators still add people", async () => {
  await using closed = await startTestApi({}, { signUp: false });
  const person = { email: "ada@example.test", name: "Ada", password: goodPassword };
  assert.equal(code(await ask(closed, "POST", "/v1/sign-up", person)), "FORBIDDEN");
  assert.equal((await closed.send("POST", "/v1/people", { email: "ada@example.test", name: "Ada" })).status, 201);
});

test("what people do is sealed into the log, and told to no tenant", async () => {
  const { log } = api.context;
  const administration = new Database({ url: api.url, role: "setpoint_admin", log, max: 1 });
  try {
    await new Sealer({ administration, clock: systemClock, log }).sealAll();
  } finally {
    await administration.end();
  }
  const ofPeople = (type: string) => /^(person|session|link)\./.test(type);
  const sealed = await query<{ type: string }>(api.url, "select type from setpoint.sealed_entry");
  assert.ok(sealed.filter(({ type }) => ofPeople(type)).length > 20);
  const [organization] = await api.context.reads.listOrganizations();
  const told = { organizationId: organization?.id ?? "", afterPosition: 0, limit: 500 };
  const entries = await api.context.reads.sealedEntries(told);
  assert.ok(entries.length > 0);
  assert.deepEqual(
    entries.filter(({ type }) => ofPeople(type)),
    [],
  );
});
