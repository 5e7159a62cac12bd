import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startTestApi, type TestApi } from "../support/api.ts";
import { SoftwareAuthenticator } from "../support/authenticator.ts";
import { ask, newPerson, type SignedInPerson } from "../support/person.ts";
import { query } from "../support/postgres.ts";

const origin = "https://setpoint.example";
let api: TestApi;
before(async () => {
  api = await startTestApi({}, { publicUrl: origin });
});
after(() => api[Symbol.asyncDispose]());

type Options = Readonly<Record<string, unknown>>;

async function registered(person: SignedInPerson, label = "laptop"): Promise<SoftwareAuthenticator> {
  const key = new SoftwareAuthenticator();
  const options = await person.send("POST", "/v1/me/passkeys/options");
  assert.equal(options.status, 200, JSON.stringify(options.body));
  const response = key.register(options.body["publicKey"] as Options, origin);
  const added = await person.send("POST", "/v1/me/passkeys", { label, response });
  assert.equal(added.status, 201, JSON.stringify(added.body));
  return key;
}

async function options(): Promise<Options> {
  return (await ask(api, "POST", "/v1/session/passkey-options")).body["publicKey"] as Options;
}

const signIn = (passkey: object) => ask(api, "POST", "/v1/session/passkey", { passkey, as: "token" });

test("a passkey signs in by itself, and each answer of it once", async () => {
  const ada = await newPerson(api, "ada@example.test");
  const key = await registered(ada);
  key.counter = 1;
  const answer = key.answer(await options(), origin);
  const uses = await Promise.all([signIn(answer), signIn(answer), signIn(answer)]);
  assert.deepEqual(
    uses.map(({ status }) => status).sort((left, right) => left - right),
    [201, 401, 401],
  );
  const entered = uses.find(({ status }) => status === 201);
  const headers = { authorization: `Bearer ${String(entered?.body["token"])}` };
  assert.equal((await ask(api, "GET", "/v1/me", undefined, headers)).body["name"], "ada@example.test");
  const listed = (await ada.send("GET", "/v1/me/passkeys")).body["items"] as { label: string; lastUsedAt?: string }[];
  assert.equal(listed[0]?.label, "laptop");
  assert.ok(listed[0]?.lastUsedAt !== undefined);
});

test("what was signed for another site, for nobody's challenge, without its owner or with a copied key is refused", async () => {
  const grace = await newPerson(api, "grace@example.test");
  const key = await registered(grace);
  key.counter = 5;
  assert.equal((await signIn(key.answer(await options(), "https://evil.example"))).status, 401, "another origin");
  const asked = await options();
  assert.equal((await signIn(key.answer({ ...asked, rpId: "evil.example" }, origin))).status, 401, "another host");
  const invented = { ...asked, challenge: Buffer.alloc(32, 1).toString("base64url") };
  assert.equal((await signIn(key.answer(invented, origin))).status, 401, "a challenge we never made");
  assert.equal((await signIn(key.answer(await options(), origin, 0x01))).status, 401, "nobody verified themselves");
  const stranger = new SoftwareAuthenticator();
  assert.equal((await signIn(stranger.answer(await options(), origin))).status, 401, "a key nobody knows");
  assert.equal((await signIn(key.answer(await options(), origin))).status, 201);
  key.counter = 3;
  assert.equal((await signIn(key.answer(await options(), origin))).status, 401, "a copy that lags behind");
  key.counter = 9;
  const late = key.answer(await options(), origin);
  await query(api.url, "update setpoint.passkey_challenge set expires_at_ms = 0");
  assert.equal((await signIn(late)).status, 401, "a challenge that is too old");
});

test("a passkey proves that it is its own person, and nobody else", async () => {
  const [mary, eve] = [await newPerson(api, "mary@example.test"), await newPerson(api, "eve@example.test")];
  const key = await registered(mary);
  key.counter = 1;
  const asked = (await eve.send("POST", "/v1/session/prove-options")).body["publicKey"] as Options;
  const stolen = await eve.send("POST", "/v1/session/prove", { passkey: key.answer(asked, origin) });
  assert.equal(stolen.status, 401);
  const own = (await mary.send("POST", "/v1/session/prove-options")).body["publicKey"] as Options;
  assert.equal((own["allowCredentials"] as unknown[]).length, 1);
  assert.equal((await mary.send("POST", "/v1/session/prove", { passkey: key.answer(own, origin) })).status, 204);
});

test("a passkey that was removed, or whose person is disabled, no longer signs in", async () => {
  const alan = await newPerson(api, "alan@example.test");
  const [first, second] = [await registered(alan, "one"), await registered(alan, "two")];
  assert.equal((await alan.send("DELETE", `/v1/me/passkeys/${first.id.toString("base64url")}`)).status, 204);
  first.counter = 1;
  second.counter = 1;
  assert.equal((await signIn(first.answer(await options(), origin))).status, 401);
  await api.send("PUT", `/v1/people/${alan.id}`, { state: "disabled" });
  assert.equal((await signIn(second.answer(await options(), origin))).status, 401);
});

test("over TLS the cookie is bound to this host", async () => {
  await newPerson(api, "kay@example.test");
  const given = { email: "kay@example.test", password: "tall giraffes hum quietly" };
  const set = String((await ask(api, "POST", "/v1/session", given)).headers["set-cookie"]);
  assert.match(set, /^__Host-setpoint=spt_ses_[^;]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=43200; Secure$/);
  const [pair = ""] = set.split(";");
  assert.equal((await ask(api, "GET", "/v1/me", undefined, { cookie: pair })).status, 200);
  const planted = pair.replace("__Host-", "");
  assert.equal((await ask(api, "GET", "/v1/me", undefined, { cookie: planted })).status, 401, "not the plain one");
});

test("without a public address passkeys work on localhost alone, and the refusal says so", async () => {
  await using local = await startTestApi();
  const refused = await ask(local, "POST", "/v1/session/passkey-options", undefined, { host: "127.0.0.1:7780" });
  assert.equal(refused.body["code"], "FORBIDDEN");
  assert.match(String(refused.body["detail"]), /http:\/\/localhost:7780/);
  const asked = await ask(local, "POST", "/v1/session/passkey-options", undefined, { host: "localhost:7780" });
  assert.equal(asked.status, 200);
});
