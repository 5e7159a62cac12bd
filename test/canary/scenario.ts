import assert from "node:assert/strict";
import { fromBase32, totpCode } from "../../src/control-api/identity/totp.ts";
import type { Canaries } from "./canaries.ts";
import type { Recorder, Told } from "./recorder.ts";

export interface Scene {
  readonly recorder: Recorder;
  readonly canaries: Canaries;
  readonly operator: string;
  /** Where somebody listens who repeats whatever he is told. */
  readonly provider: string;
  readonly webhook: string;
}

export const organization = "/v1/organizations/birds";
const workspace = `${organization}/projects/web/workspaces/live`;
const text = (name: string) => (body: Readonly<Record<string, unknown>>) => String(body[name]);
/** What stands behind the # of a link. */
const linkToken = (value: unknown) => String((value as { readonly url?: unknown })?.url).split("#")[1] ?? "";

/** Somebody with a password, a second factor and a session: each secret of theirs is known afterwards. */
export async function becomeSomebody({ recorder, canaries, operator }: Scene): Promise<string> {
  const first = canaries.plant("a first password");
  const password = canaries.plant("a password");
  const email = "wren@birds.test";
  const added = await recorder.must("POST", "/v1/people", {
    as: operator,
    body: { email, name: "Wren", platformRole: "administrator" },
    shows: { "a reset link": ({ link }) => linkToken(link) },
  });
  const { person, link } = added.body as { person: { id: string }; link: unknown };
  await recorder.must("POST", "/v1/password/reset", { body: { token: linkToken(link), password: first } });
  const session = await signIn(recorder, { email, password: first });
  await recorder.must("PUT", "/v1/me/password", { as: session, body: { oldPassword: first, password } });
  const current = await signIn(recorder, { email, password });
  const totp = await recorder.must("POST", "/v1/me/totp", { as: current, shows: { "a TOTP secret": text("secret") } });
  const code = totpCode(fromBase32(String(totp.body["secret"])), Math.floor(Date.now() / 30_000));
  await recorder.must("POST", "/v1/me/totp/confirm", {
    as: current,
    body: { code },
    shows: { "recovery codes": ({ recoveryCodes }) => recoveryCodes as string[] },
  });
  await recorder.must("POST", "/v1/me/recovery-codes", {
    as: current,
    shows: { "later recovery codes": ({ recoveryCodes }) => recoveryCodes as string[] },
  });
  await recorder.must("POST", `/v1/people/${person.id}/reset-link`, {
    as: operator,
    shows: { "another reset link": (body) => linkToken(body) },
  });
  const signInLink = await recorder.must("POST", "/v1/sign-in-links", {
    as: operator,
    body: { email },
    shows: { "a sign-in link": (body) => linkToken(body) },
  });
  await recorder.must("POST", "/v1/session/link", {
    body: { token: linkToken(signInLink.body), as: "token" },
    shows: { "the token of a session by link": text("token") },
  });
  await recorder.must("POST", "/v1/session/prove", { as: current, body: { password } });
  await recorder.call("POST", "/v1/password/forgot", { body: { email } });
  return current;
}

async function signIn(recorder: Recorder, given: { email: string; password: string }): Promise<string> {
  const shows = { [`the token of a session (${given.password.slice(6, 10)})`]: text("token") };
  return String((await recorder.must("POST", "/v1/session", { body: { ...given, as: "token" }, shows })).body["token"]);
}

const rules = [{ key: "project.dns_zone", actions: ["read"] }];

/** A token of every type, each made with an idempotency key and asked for again. */
export async function makeTokens({ recorder, canaries, operator }: Scene, person: string): Promise<readonly string[]> {
  await recorder.must("POST", "/v1/organizations", { as: operator, body: { name: "birds" } });
  await recorder.must("POST", `${organization}/projects`, { as: operator, body: { name: "web" } });
  await recorder.must("POST", `${organization}/projects/web/workspaces`, { as: operator, body: { name: "live" } });
  const token = (name: string) => ({ name, expiresInDays: 1 });
  const wanted: readonly (readonly [string, string, object])[] = [
    ["a personal token", "/v1/me/tokens", token("mine")],
    ["a service token", `${organization}/tokens`, { ...token("ci"), type: "service-token", access: [{ rules }] }],
    ["an assistant token", `${organization}/tokens`, { ...token("ai"), type: "assistant-token", access: [{ rules }] }],
    ["a workspace key", `${workspace}/keys`, { ...token("key"), rules }],
    ["an enrolment token", `${workspace}/enrolment-tokens`, { name: "agent" }],
  ];
  const made: string[] = [];
  for (const [what, path, body] of wanted) {
    const headers = { "idempotency-key": `for ${what}`.replaceAll(" ", "-") };
    const as = path.startsWith("/v1/me") ? person : operator;
    const told = await recorder.must("POST", path, { as, body, headers, shows: { [what]: text("token") } });
    await recorder.call("POST", path, { as, body, headers });
    made.push(String(told.body["token"]));
  }
  const invited = await recorder.must("POST", `${organization}/invites`, {
    as: operator,
    body: { email: "finch@birds.test", bindings: [{ role: "auditor" }] },
    headers: { "idempotency-key": "for-an-invite" },
    shows: { "an invite": text("secret") },
  });
  const joining = {
    secret: String(invited.body["secret"]),
    name: "Finch",
    password: canaries.plant("a newcomer's password"),
  };
  await recorder.must("POST", "/v1/invites/join", { body: joining });
  for (const as of made) await recorder.call("GET", `${organization}/projects/web/dnszones`, { as });
  await recorder.call("POST", "/v1/leaked-tokens", { body: { token: made[1] } });
  return made;
}

/** What the engine calls with, what programs are given, and who is told: each with a secret. */
export async function wire({ recorder, canaries, operator, provider, webhook }: Scene): Promise<void> {
  const settings = { url: provider };
  const account = { name: "dns", provider: "powerdns", settings };
  await recorder.must("POST", `${organization}/accounts`, { as: operator, body: account });
  const credential = {
    read: canaries.plant("an account's first look"),
    write: canaries.plant("an account's first act"),
  };
  await recorder.must("POST", `${organization}/accounts`, {
    as: operator,
    body: { ...account, name: "other", credential },
  });
  const [read, write] = [canaries.plant("a credential for looking"), canaries.plant("a credential for acting")];
  await recorder.must("PUT", `${organization}/accounts/dns/credential`, { as: operator, body: { read, write } });
  for (const value of [canaries.plant("a secret's first value"), canaries.plant("a secret's value")])
    await recorder.must("PUT", `${organization}/secrets/password`, { as: operator, body: { value } });
  const hook = await recorder.must("POST", `${organization}/webhooks`, {
    as: operator,
    body: { url: webhook },
    shows: { "a webhook's first secret": text("secret") },
  });
  const { id } = (hook.body as { webhook: { id: string } }).webhook;
  await recorder.must("POST", `${organization}/webhooks/${id}:rotate`, {
    as: operator,
    shows: { "a webhook's secret": text("secret") },
  });
  await recorder.must("POST", `${organization}/webhooks/${id}:test`, { as: operator });
  await recorder.must("PUT", `${organization}/notification-emails`, {
    as: operator,
    body: { addresses: ["a@b.test"] },
  });
  const zone = { apiVersion: "setpoint/v1", kind: "DnsZone", metadata: { name: "zone", mode: "enforce" } };
  const spec = { account: "dns", zone: "birds.test" };
  await recorder.must("POST", `${organization}/projects/web/dnszones`, { as: operator, body: { ...zone, spec } });
  await recorder.must("POST", `${organization}/pauses`, {
    as: operator,
    body: { on: "accounts/dns", reason: "a pause", level: "deletes" },
  });
  await recorder.must("POST", "/v1/keys/rotation", { as: operator, body: {} });
}

/** Secrets where they do not belong: a field that is not there, one of another type, broken JSON, an address, a header. */
export async function misplace({ recorder, canaries, operator }: Scene): Promise<void> {
  const misplaced = (what: string) => canaries.plant(`a secret in ${what}`);
  const refuses = (told: Told) => assert.ok(told.status >= 400 && told.status < 500, told.text);
  const as = operator;
  const post = `${organization}/projects`;
  refuses(
    await recorder.call("POST", post, { as, body: { name: "x", password: misplaced("a field that is not there") } }),
  );
  refuses(await recorder.call("POST", post, { as, body: { name: { value: misplaced("an object") } } }));
  refuses(await recorder.call("POST", post, { as, body: [misplaced("a list")] }));
  refuses(await recorder.call("POST", post, { as, raw: `{"value":${misplaced("broken JSON")}}` }));
  refuses(await recorder.call("POST", post, { as, raw: `"${misplaced("JSON that ends too soon")}` }));
  refuses(
    await recorder.call("POST", post, {
      as,
      raw: misplaced("no JSON at all"),
      headers: { "content-type": "text/plain" },
    }),
  );
  refuses(
    await recorder.call("PUT", `${organization}/secrets/password`, {
      as,
      body: { value: [misplaced("a secret's list")] },
    }),
  );
  refuses(
    await recorder.call("PUT", `${organization}/accounts/none/credential`, {
      as,
      body: { write: misplaced("the credential of no account") },
    }),
  );
  refuses(
    await recorder.call("PUT", `${organization}/accounts/dns/credential`, {
      as,
      body: { write: "x", other: misplaced("a third credential") },
    }),
  );
  refuses(await recorder.call("GET", `/v1/organizations?token=${misplaced("a query")}`, { as }));
  refuses(await recorder.call("POST", `/v1/freeze?key=${misplaced("the query of a write")}`, { as, body: {} }));
  refuses(
    await recorder.call("POST", "/v1/session", {
      body: { email: "wren@birds.test", password: misplaced("a wrong sign-in") },
    }),
  );
  refuses(
    await recorder.call("POST", "/v1/session", {
      body: { email: misplaced("the place of an address"), password: "x" },
    }),
  );
  refuses(await recorder.call("POST", "/v1/session/link", { body: { token: misplaced("a wrong link") } }));
  refuses(await recorder.call("POST", "/v1/invites/accept", { as, body: { secret: misplaced("a wrong invite") } }));
  refuses(await recorder.call("GET", "/v1/me", { as: misplaced("a wrong token") }));
  refuses(await recorder.call("GET", "/v1/me", { headers: { cookie: `setpoint=${misplaced("a wrong cookie")}` } }));
  const firstPerson = { email: "a@b.test", name: "A", password: misplaced("a first person's sign-in") };
  const link = { token: misplaced("a first person's link"), person: firstPerson };
  refuses(await recorder.call("POST", "/v1/session/link", { body: link }));
  const again = { email: "a@b.test", name: "A", password: "short", again: misplaced("a second password") };
  refuses(await recorder.call("POST", "/v1/sign-up", { body: again }));
  await recorder.call("POST", "/v1/sign-up", {
    body: { email: "tit@birds.test", name: "Tit", password: misplaced("a sign-up") },
  });
}

/** Everything that can be read, read. */
export async function readAll({ recorder, operator }: Scene, person: string): Promise<void> {
  const { paths } = (await recorder.must("GET", "/v1/openapi.json", { as: operator })).body as {
    paths: Record<string, Record<string, unknown>>;
  };
  const values: Readonly<Record<string, string>> = {
    organization: "birds",
    project: "web",
    workspace: "live",
    name: "zone",
    secret: "password",
    account: "dns",
    role: "owner",
  };
  // A stream of changes never ends; it is open beside all of this.
  const endless = (path: string) => path.endsWith("/changes");
  for (const path of Object.keys(paths).filter((it) => paths[it]?.["get"] !== undefined && !endless(it))) {
    const filled = path.replace(/\{(\w+)\}/g, (_match, name: string) => values[name] ?? "none");
    for (const as of path.startsWith("/v1/me") ? [person] : [operator, person])
      await recorder.call("GET", filled, { as });
  }
  const hooks = (await recorder.must("GET", `${organization}/webhooks`, { as: operator })).body as {
    items: { id: string }[];
  };
  for (const { id } of hooks.items)
    await recorder.must("GET", `${organization}/webhooks/${id}/deliveries`, { as: operator });
  for (const path of ["/v1/audit/export", `${organization}/audit/export`])
    for (const format of ["json", "csv"]) await recorder.call("GET", `${path}?format=${format}`, { as: operator });
  for (const path of ["/metrics", "/healthz", "/readyz", "/"]) await recorder.call("GET", path);
}
