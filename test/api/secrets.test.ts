import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { accountCredentialBinding } from "../../src/kernel/account-credential.ts";
import { requireSameRootKey } from "../../src/compose/identity.ts";
import { createEngineOpener } from "../../src/runtime/engine-seal.ts";
import { RootKeyBox } from "../../src/runtime/root-key-box.ts";
import { systemSecretRandom } from "../../src/runtime/system-secret-random.ts";
import { organizationIdOf } from "../../src/control-api/names.ts";
import type { Log } from "../../src/ports/log.ts";
import { Database } from "../../src/store/database.ts";
import { registerEngineKey } from "../../src/store/engine-keys.ts";
import { PostgresSecretStore } from "../../src/store/secret-store.ts";
import { query } from "../support/postgres.ts";
import { type Answer, startTestApi, type TestApi } from "../support/api.ts";

const logged: string[] = [];
const note = (event: string, fields?: object) => void logged.push(`${event} ${JSON.stringify(fields ?? {})}`);
const log: Log = { debug: note, info: note, warn: note, error: note };
const opener = createEngineOpener([systemSecretRandom.bytes(32)]);
const path = "/v1/organizations/default";

let api: TestApi;
const answers: Answer[] = [];
before(async () => {
  api = await startTestApi({ log });
});
after(() => api[Symbol.asyncDispose]());

async function send(method: "GET" | "PUT" | "POST" | "DELETE", url: string, body?: unknown): Promise<Answer> {
  const answer = await api.send(method, url, body);
  answers.push(answer);
  return answer;
}

async function startScheduler(): Promise<void> {
  const administration = new Database({ url: api.url, role: "setpoint_admin", log });
  await registerEngineKey(administration, opener);
  await administration.end();
}

function newAccount(name: string, more: object = {}): object {
  return { name, provider: "powerdns", settings: { url: "http://127.0.0.1:8081" }, ...more };
}

test("without an engine's key no credential is taken, because nobody could open it", async () => {
  const credential = { write: "canary-too-early" };
  const refused = await send("POST", `${path}/accounts`, newAccount("early", { credential }));
  assert.deepEqual([refused.status, refused.body["code"]], [503, "UNAVAILABLE"]);
  await startScheduler();
});

test("an account's credentials are sealed to the engine, which alone opens them", async () => {
  const credential = { write: "canary-write-1", read: "canary-read-1" };
  const made = await send("POST", `${path}/accounts`, newAccount("lab", { credential }));
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const put = await send("PUT", `${path}/accounts/lab/credential`, { write: "canary-write-2", read: "canary-read-2" });
  assert.deepEqual(put.body, { account: "lab", sealedTo: opener.key.id, parts: ["read", "write"] });
  const [row] = await query<{ write: string; read: string }>(
    api.url,
    "select credential_ref as write, read_credential_ref as read from setpoint.account where name = 'lab'",
  );
  const account = { organizationId: organizationIdOf("default"), id: String(made.body["id"]) };
  const open = (part: "read" | "write") =>
    opener.open((row?.[part] ?? "").slice("sealed:".length), accountCredentialBinding(account, part));
  assert.deepEqual([open("write"), open("read")], ["canary-write-2", "canary-read-2"]);
  const none = await send("PUT", `${path}/accounts/none/credential`, { write: "canary-none" });
  assert.equal(none.status, 404);
  const both = newAccount("both", { credential, credentialRef: "env:X" });
  assert.equal((await send("POST", `${path}/accounts`, both)).body["code"], "FIELDS_INVALID");
});

test("secrets are stored, replaced, listed and removed, and never shown", async () => {
  const first = await send("PUT", `${path}/secrets/db-password`, { value: "canary-secret-1" });
  assert.deepEqual([first.status, first.body["version"]], [200, 1]);
  const second = await send("PUT", `${path}/secrets/db-password`, { value: "canary-secret-2" });
  assert.equal(second.body["version"], 2);
  const listed = await send("GET", `${path}/secrets`);
  assert.deepEqual(
    (listed.body["items"] as readonly { name: string }[]).map(({ name }) => name),
    ["db-password"],
  );
  const place = { organizationId: organizationIdOf("default"), owner: "secret/db-password", field: "value" };
  assert.equal((await api.context.secrets.reveal(place))?.reveal(), "canary-secret-2");
  assert.equal((await send("DELETE", `${path}/secrets/db-password`)).status, 204);
  assert.equal((await send("DELETE", `${path}/secrets/db-password`)).status, 404);
});

test("keys are rotated over the API until nothing is left", async () => {
  await send("PUT", `${path}/secrets/kept`, { value: "canary-kept" });
  let startedAt: unknown;
  for (let left = 1; left > 0; ) {
    const body = startedAt === undefined ? { batchSize: 1 } : { batchSize: 1, startedAt };
    const step = await send("POST", "/v1/keys/rotation", body);
    assert.equal(step.status, 200, JSON.stringify(step.body));
    startedAt = step.body["startedAt"];
    left = Object.values(step.body["left"] as Record<string, number>).reduce((sum, count) => sum + count, 0);
  }
  const place = { organizationId: organizationIdOf("default"), owner: "secret/kept", field: "value" };
  assert.equal((await api.context.secrets.reveal(place))?.reveal(), "canary-kept");
});

test("a rotation of the root key leaves nothing under the old one, whatever it is that was sealed", async () => {
  const { identity, secretBox } = api.context;
  const author = { name: "operator", type: "person" } as const;
  const person = { id: "ada", email: "ada@example.org", name: "Ada", passwordHash: undefined, verified: true };
  await identity.store.createPerson({ person: { ...person, platformRole: "none" }, author });
  const sealedSecret = await secretBox.seal("canary-totp", "totp/ada");
  assert.equal(await identity.store.startTotp({ personId: "ada", sealedSecret }), true);
  await requireSameRootKey(identity.store, secretBox);
  const hook = await api.send("POST", `${path}/webhooks`, { url: "https://example.org/hook", description: "d" });
  assert.equal(hook.status, 201, JSON.stringify(hook.body));
  const { id } = hook.body["webhook"] as { readonly id: string };
  assert.equal((await api.send("POST", `${path}/webhooks/${id}:rotate`)).status, 200);

  const old = new RootKeyBox(new Uint8Array(32).fill(7));
  const box = new RootKeyBox([new Uint8Array(32).fill(8), new Uint8Array(32).fill(7)]);
  assert.ok((await dump(api.url)).some((text) => text.includes(`v1.${old.keyId}.`)));
  const open = (role: "setpoint_api" | "setpoint_admin") => new Database({ url: api.url, role, log });
  const [database, administration] = [open("setpoint_api"), open("setpoint_admin")];
  const store = new PostgresSecretStore({ database, administration, box, random: systemSecretRandom });
  const step = await store.rotate({ startedAtMs: undefined, tenantKeys: false, batchSize: 1_000, author });
  assert.deepEqual(step.left, { underRoot: 0, tenantKeys: 0, secrets: 0 });
  const kept = (await identity.store.totp("ada"))?.sealedSecret ?? "";
  assert.equal(await new RootKeyBox(new Uint8Array(32).fill(8)).open(kept, "totp/ada"), "canary-totp");
  await requireSameRootKey(identity.store, new RootKeyBox(new Uint8Array(32).fill(8)));
  // Whoever adds another sealed column and forgets it here is found by this.
  const left = (await dump(api.url)).filter((text) => text.includes(`v1.${old.keyId}.`));
  assert.deepEqual(left, []);
  await Promise.all([database.end(), administration.end()]);
});

test("no planted secret is seen: not in answers, logs, events, errors, the audit trail, or a copy of all tables", async () => {
  const tokens: string[] = [];
  await send("POST", `${path}/projects`, { name: "web" });
  await send("POST", `${path}/projects/web/workspaces`, { name: "prod" });
  const rules = [{ key: "*", actions: ["read"] }];
  const workspace = `${path}/projects/web/workspaces/prod`;
  for (const [url, body] of [
    ["/v1/me/tokens", { name: "t" }],
    [`${path}/tokens`, { type: "service-token", name: "t", access: [{ rules }] }],
    [`${path}/tokens`, { type: "assistant-token", name: "t", access: [{ rules }] }],
    [`${workspace}/keys`, { name: "t", rules }],
    [`${workspace}/enrolment-tokens`, { name: "t" }],
  ] as const) {
    const made = await api.send("POST", url, body);
    assert.equal(made.status, 201, JSON.stringify(made.body));
    tokens.push(String(made.body["token"]));
  }
  // Bad input that carries a secret must not be said back.
  for (const body of [
    { value: 7, secret: "canary-wrong-field" },
    { value: "canary-long".repeat(10_000) },
    "canary-text",
  ])
    assert.ok((await send("PUT", `${path}/secrets/bad`, body)).status >= 400);
  await send("PUT", `${path}/accounts/lab/credential`, { write: "canary-x", extra: "canary-extra" });
  for (const token of tokens)
    await api.send("GET", "/v1/organizations", undefined, { authorization: `Bearer ${token}` });
  await api.seal();
  for (const url of [
    "/v1/audit",
    "/v1/audit/export",
    "/v1/audit/export?format=csv",
    `${path}/tokens`,
    `${path}/accounts`,
  ])
    await send("GET", url);

  const seen = [JSON.stringify(answers), logged.join("\n"), ...(await dump(api.url))];
  const canaries = ["canary-", ...tokens, ...tokens.map((token) => token.slice(8, 40))];
  for (const canary of canaries)
    for (const text of seen) {
      const at = text.indexOf(canary);
      assert.equal(at, -1, `seen: ${text.slice(Math.max(0, at - 200), at + 20)}`);
    }
});

/** Every row of every table as text. */
async function dump(url: string): Promise<readonly string[]> {
  const tables = await query<{ name: string }>(
    url,
    "select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = 'setpoint'",
  );
  assert.ok(tables.length > 30);
  const texts: string[] = [];
  for (const { name } of tables) {
    const rows = await query<{ text: string | null }>(
      url,
      `select string_agg(t::text, chr(10)) as text from ${name} as t`,
    );
    texts.push(`${name}: ${rows[0]?.text ?? ""}`);
  }
  return texts;
}
