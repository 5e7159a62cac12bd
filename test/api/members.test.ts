import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Answer, startTestApi, type TestApi } from "../support/api.ts";
import { memberOf, signedIn, type TestPerson } from "../support/people.ts";

let api: TestApi;
let owner: TestPerson;
const base = "/v1/organizations/acme";
const mails: { to: string; text: string }[] = [];

before(async () => {
  api = await startTestApi();
  owner = await signedIn(api, "owner@acme.test");
  assert.equal((await owner.send("POST", "/v1/organizations", { name: "acme" })).status, 201);
  assert.equal((await owner.send("POST", `${base}/projects`, { name: "web" })).status, 201);
  assert.equal((await owner.send("POST", `${base}/projects`, { name: "shop" })).status, 201);
});
after(() => api[Symbol.asyncDispose]());

function code(answer: Answer): unknown {
  return answer.body["code"];
}

function items<Item>(answer: Answer): readonly Item[] {
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return answer.body["items"] as Item[];
}

test("whoever creates an organization owns it, and strangers cannot tell it from one that does not exist", async () => {
  const member = (await owner.send("GET", `${base}/members/owner@acme.test`)).body;
  assert.deepEqual(
    (member["bindings"] as { role: string }[]).map(({ role }) => role),
    ["owner"],
  );
  const stranger = await signedIn(api, "stranger@elsewhere.test");
  for (const path of ["", "/projects", "/projects/web", "/members", "/roles", "/invites", "/accounts"]) {
    const foreign = await stranger.send("GET", `${base}${path}`);
    const absent = await stranger.send("GET", `/v1/organizations/nowhere${path}`);
    assert.equal(foreign.status, 404, path);
    const same = (answer: Answer) => JSON.stringify({ ...answer.body, requestId: "" }).replaceAll("nowhere", "acme");
    assert.equal(same(foreign), same(absent), path);
  }
  assert.deepEqual(items(await stranger.send("GET", "/v1/organizations")), []);
});

test("lists show what a member may see: one project, and the organization around it", async () => {
  const ada = await memberOf(api, "acme", "ada@acme.test", [{ role: "member", project: "web" }]);
  assert.deepEqual(items(await ada.send("GET", `${base}/projects`)), [{ name: "web" }]);
  assert.equal((await ada.send("GET", `${base}/projects/web`)).status, 200);
  assert.equal(code(await ada.send("GET", `${base}/projects/shop`)), "SCOPE_UNKNOWN");
  assert.equal(code(await ada.send("GET", `${base}/accounts`)), "FORBIDDEN");
  assert.equal((await ada.send("GET", `${base}/projects/web/dnszones`)).status, 200);
  assert.equal(code(await ada.send("GET", `${base}/dnszones`)), "FORBIDDEN");
  const billing = await memberOf(api, "acme", "money@acme.test", [{ role: "billing" }]);
  assert.deepEqual(items(await billing.send("GET", `${base}/projects`)), []);
  assert.equal(code(await billing.send("GET", `${base}/projects/web`)), "SCOPE_UNKNOWN");
});

test("a member without a role belongs to the organization and may do nothing in it", async () => {
  const bob = await memberOf(api, "acme", "bob@acme.test", []);
  assert.equal((await bob.send("GET", base)).status, 200);
  assert.equal(code(await bob.send("GET", `${base}/members`)), "FORBIDDEN");
  assert.equal(code(await bob.send("POST", `${base}/projects`, { name: "mine" })), "FORBIDDEN");
});

test("nobody gives more than they have, neither by a role of their own nor by an invite", async () => {
  const admin = await memberOf(api, "acme", "admin@acme.test", [{ role: "admin" }]);
  await memberOf(api, "acme", "carl@acme.test", [{ role: "member" }]);
  const toCarl = `${base}/members/carl@acme.test/bindings`;
  assert.equal((await admin.send("POST", toCarl, { role: "auditor" })).status, 201);
  const refused = await admin.send("POST", toCarl, { role: "owner" });
  assert.equal(code(refused), "FORBIDDEN");
  assert.match(String(refused.body["detail"]), /\*\.read/);
  assert.equal(code(await admin.send("POST", toCarl, { role: "billing" })), "FORBIDDEN", "admins do not pay");
  const invite = { email: "x@acme.test", bindings: [{ role: "owner" }] };
  assert.equal(code(await admin.send("POST", `${base}/invites`, invite)), "FORBIDDEN");
  const rules = [{ key: "organization.billing", actions: ["update"] }];
  assert.equal(code(await admin.send("POST", `${base}/roles`, { name: "payer", rules })), "FORBIDDEN");
  const [owners] = (await owner.send("GET", `${base}/members/owner@acme.test`)).body["bindings"] as { id: string }[];
  const taken = await admin.send("DELETE", `${base}/members/owner@acme.test/bindings/${owners?.id ?? ""}`);
  assert.equal(code(taken), "FORBIDDEN", "nor takes more than they have");
  assert.equal(code(await admin.send("DELETE", `${base}/members/owner@acme.test`)), "FORBIDDEN");
});

test("the last owner can neither leave nor be demoted", async () => {
  const member = (await owner.send("GET", `${base}/members/owner@acme.test`)).body;
  const [binding] = member["bindings"] as { id: string }[];
  const path = `${base}/members/owner@acme.test`;
  assert.equal(code(await owner.send("DELETE", `${path}/bindings/${binding?.id ?? ""}`)), "IN_USE");
  assert.equal(code(await owner.send("DELETE", path)), "IN_USE");
  assert.equal(code(await owner.send("POST", `${base}:leave`)), "IN_USE");
  const second = await memberOf(api, "acme", "second@acme.test", [{ role: "owner" }]);
  assert.equal((await second.send("POST", `${base}:leave`)).status, 200);
  assert.equal((await second.send("GET", base)).status, 404, "gone at once");
});

test("two owners who leave at the same moment leave one behind", async () => {
  const one = await signedIn(api, "one@race.test");
  await one.send("POST", "/v1/organizations", { name: "race" });
  const two = await memberOf(api, "race", "two@race.test", [{ role: "owner" }]);
  const answers = await Promise.all([one, two].map((person) => person.send("POST", "/v1/organizations/race:leave")));
  assert.deepEqual(
    answers.map(({ status }) => status).sort((left, right) => left - right),
    [200, 409],
  );
});

test("who is removed is out, with the invites they made", async () => {
  const dora = await memberOf(api, "acme", "dora@acme.test", [{ role: "admin" }]);
  const friend = await signedIn(api, "friend@acme.test");
  const invited = await dora.send("POST", `${base}/invites`, { email: friend.email, bindings: [{ role: "admin" }] });
  assert.equal(invited.status, 201);
  assert.equal((await owner.send("DELETE", `${base}/members/${dora.id}`)).status, 200);
  assert.equal((await dora.send("GET", base)).status, 404);
  const accepted = await friend.send("POST", "/v1/invites/accept", { secret: invited.body["secret"] });
  assert.equal(code(accepted), "NOT_FOUND");
  assert.equal((await friend.send("GET", base)).status, 404);
});

test("an invite works once, for its e-mail, until it is revoked", async () => {
  const [eve, mallory] = [await signedIn(api, "eve@acme.test"), await signedIn(api, "mallory@acme.test")];
  const made = await owner.send("POST", `${base}/invites`, { email: "Eve@Acme.test", bindings: [{ role: "auditor" }] });
  assert.equal(made.body["email"], "eve@acme.test");
  const { secret } = made.body as { secret: string };
  assert.match(String(made.body["link"]), /#spt_inv_/);
  assert.equal(code(await mallory.send("POST", "/v1/invites/accept", { secret })), "NOT_FOUND");
  assert.equal(code(await eve.send("POST", "/v1/invites/accept", { secret: `${secret}x` })), "NOT_FOUND");
  assert.deepEqual((await eve.send("POST", "/v1/invites/accept", { secret })).body, {
    organization: "acme",
    bindings: 1,
  });
  assert.equal(code(await eve.send("POST", "/v1/invites/accept", { secret })), "NOT_FOUND");
  const listed = await owner.send("GET", `${base}/invites`);
  assert.ok(!JSON.stringify(listed.body).includes("spt_inv_"), "the secret is shown once");
  const other = await owner.send("POST", `${base}/invites`, { email: mallory.email });
  const id = String(other.body["id"]);
  assert.equal((await owner.send("DELETE", `${base}/invites/${id}`)).status, 200);
  assert.equal(code(await owner.send("DELETE", `${base}/invites/${id}`)), "IN_USE");
  const revoked = await mallory.send("POST", "/v1/invites/accept", { secret: other.body["secret"] });
  assert.equal(code(revoked), "NOT_FOUND");
});

test("of two who accept one invite at the same moment one does", async () => {
  const gina = await signedIn(api, "gina@acme.test");
  const { secret } = (await owner.send("POST", `${base}/invites`, { email: gina.email })).body as { secret: string };
  const answers = await Promise.all([1, 2, 3].map(() => gina.send("POST", "/v1/invites/accept", { secret })));
  assert.deepEqual(
    answers.map(({ status }) => status).sort((left, right) => left - right),
    [200, 404, 404],
  );
});

test("an invite gives no more than its inviter has when it is accepted", async () => {
  const hugo = await memberOf(api, "acme", "hugo@acme.test", [{ role: "admin" }]);
  const ida = await signedIn(api, "ida@acme.test");
  const made = await hugo.send("POST", `${base}/invites`, { email: ida.email, bindings: [{ role: "admin" }] });
  const member = (await owner.send("GET", `${base}/members/${hugo.id}`)).body["bindings"] as { id: string }[];
  await owner.send("DELETE", `${base}/members/${hugo.id}/bindings/${member[0]?.id ?? ""}`);
  const accepted = await ida.send("POST", "/v1/invites/accept", { secret: made.body["secret"] });
  assert.equal(code(accepted), "CREDENTIAL_SCOPE");
});

test("an expired invite is worth nothing", async () => {
  const author = { name: "test", type: "person" } as const;
  const kurt = await signedIn(api, "kurt@acme.test");
  const made = await owner.send("POST", `${base}/invites`, { email: kurt.email });
  const [record] = await api.context.members.invites((await owner.send("GET", base)).body["id"] as string);
  assert.equal(record?.id, made.body["id"]);
  assert.ok(record);
  const past = { ...record, id: "past", secretHash: "0".repeat(64), forMs: -1, author };
  await api.context.members.createInvite(past);
  assert.equal(await api.context.members.openInvite("0".repeat(64)), undefined);
  const accept = { ...past, person: { id: kurt.id, email: kurt.email }, bindingIds: [], author };
  assert.equal(await api.context.members.acceptInvite(accept), false);
});

test("somebody new joins by an invite although sign-up is off, and signs in with what they chose", async () => {
  const { identity } = api.context;
  const join = { name: "Lena", password: "correct horse battery staple" };
  const { secret } = (
    await owner.send("POST", `${base}/invites`, { email: "lena@acme.test", bindings: [{ role: "auditor" }] })
  ).body as { secret: string };
  const weak = await api.app.inject({
    method: "POST",
    url: "/v1/invites/join",
    payload: { secret, name: "Lena", password: "password" },
  });
  assert.equal(weak.json<{ code: string }>().code, "PASSWORD_WEAK");
  const joined = await api.app.inject({ method: "POST", url: "/v1/invites/join", payload: { secret, ...join } });
  assert.equal(joined.statusCode, 201, joined.body);
  const again = await api.app.inject({ method: "POST", url: "/v1/invites/join", payload: { secret, ...join } });
  assert.equal(again.statusCode, 404);
  assert.equal((await identity.store.personByEmail("lena@acme.test"))?.person.verified, true);
  const member = (await owner.send("GET", `${base}/members/lena@acme.test`)).body["bindings"] as { role: string }[];
  assert.deepEqual(
    member.map(({ role }) => role),
    ["auditor"],
  );
});

test("where there is a mail server the link is mailed and shown to nobody else", async () => {
  await using mailing = await startTestApi({
    mailer: { send: async (to, _subject, text) => void mails.push({ to, text }) },
  });
  const boss = await signedIn(mailing, "boss@mail.test");
  await boss.send("POST", "/v1/organizations", { name: "mail" });
  const made = await boss.send("POST", "/v1/organizations/mail/invites", { email: "new@mail.test" });
  assert.equal(made.body["mailed"], true);
  assert.equal(made.body["secret"], undefined);
  assert.equal(made.body["link"], undefined);
  const [mail] = mails;
  assert.equal(mail?.to, "new@mail.test");
  const secret = /#(spt_inv_\S+)/.exec(mail?.text ?? "")?.[1];
  const person = await signedIn(mailing, "new@mail.test");
  assert.equal((await person.send("POST", "/v1/invites/accept", { secret })).status, 200);
});

test("changing who may do what is a dangerous act for people alone", async () => {
  const { provenAtMs } = await ageSession(owner);
  assert.ok(provenAtMs > 0);
  const body = { email: "late@acme.test" };
  assert.equal(code(await owner.send("POST", `${base}/invites`, body)), "STEP_UP_REQUIRED");
  const role = { name: "late", rules: [{ key: "organization", actions: ["read"] }] };
  assert.equal(code(await owner.send("POST", `${base}/roles`, role)), "STEP_UP_REQUIRED");
  assert.equal(code(await owner.send("DELETE", base)), "STEP_UP_REQUIRED");
  assert.equal((await owner.send("GET", `${base}/members`)).status, 200);
});

/** As if the person had proved themselves long ago. */
async function ageSession(person: TestPerson): Promise<{ readonly provenAtMs: number }> {
  const caller = await api.context.authenticator.authenticate({
    authorization: `Bearer ${person.token}`,
    cookie: undefined,
    method: "GET",
    headers: {},
  });
  const provenAtMs = caller.provenAtMs;
  Object.assign(caller, { provenAtMs: 0 });
  return { provenAtMs };
}
