import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { whatever } from "../support/api.ts";
import { launchChromium } from "../support/chromium.ts";
import { consoleLooks } from "../support/console-pages.ts";
import { type ConsoleApi, startConsoleApi } from "../support/console-api.ts";
import { ada, withSignedInPage } from "../support/console.ts";
import { query } from "../support/postgres.ts";
import { fieldsTaking } from "../support/user-text.ts";

const base = "/v1/organizations/default";
/** Markup that would run, and what would break out of a text or of an attribute. */
const attack = `<img src=x onerror="document.title='broken'">"'><svg onload=alert(1)>`;
/** The same with letters that turn the line around, a scheme that would run, and the name of the field: who shows it shows which. */
const in_ = (field: string) => `${attack} javascript:alert(1) \u202Etxt ${field}`;
const longest = "x".repeat(200);

/** Where what is written into a field is read; every page is told by its address, and what else must be done there. */
interface Shown {
  readonly on: string;
  readonly after?: (page: Page) => Promise<void>;
  /** How it is spelled there, where that is not letter by letter. */
  readonly as?: string;
}

/** Whoever adds a field that takes such a text says here where it is read, or why nobody reads it. */
const cases: Readonly<Record<string, Shown | string>> = {
  "accounts/provider": "must be one that is installed",
  "accounts/settings/*": { on: "providers", as: "onerror" },
  "computeproviders/{name}/operations/input": "has a schema of its own for each pipeline",
  "computeproviders/{name}/operations/pipeline": "must be one there is",
  "dnszones/{name}/operations/input": "has a schema of its own for each pipeline",
  "dnszones/{name}/operations/pipeline": "must be one there is",
  "enrolment-tokens/name": "no page lists what agents enrol with",
  "freeze/reason": { on: "now", after: openResume },
  "held-changes/on": "must be a scope",
  "held-changes/pause": "must be a pause",
  "held-changes/policy/ignore/-/item": "see policy/ignore",
  "held-changes/policy/ignore/-/kind": "must be a kind",
  "held-changes/policy/ignore/-/reason": "see policy/ignore",
  "held-changes/reason": { on: "held/OPEN" },
  "held-changes/{id}:approve/comment": { on: "held/APPROVED" },
  "held-changes/{id}:approve/digest": "must be the digest",
  "held-changes/{id}:reject/comment": { on: "held/REJECTED" },
  "held-changes/{id}:withdraw/comment": { on: "held/WITHDRAWN" },
  "hosts/{name}/operations/input": "has a schema of its own for each pipeline",
  "hosts/{name}/operations/pipeline": "must be one there is",
  "invites/accept/secret": "is compared and never shown",
  "invites/email": "must be an address",
  "invites/join/name": "see people/{id}/name",
  "invites/join/password": "is never shown",
  "invites/join/secret": "is compared and never shown",
  "keys/name": "no page lists the keys of workspaces",
  "leaked-tokens/token": "is compared and never shown",
  "me/name": "see people/{id}/name",
  "me/passkeys/label": { on: "access?part=sessions" },
  "me/passkeys/response/clientExtensionResults/*": "is checked and never shown",
  "me/passkeys/response/response/transports/-": "is checked and never shown",
  "me/password/oldPassword": "is never shown",
  "me/password/password": "is never shown",
  "me/tokens/name": "see tokens/name: the same list shows them, and only their owner's",
  "operations/{operation}:cancel/reason": { on: "operations/OPERATION" },
  "operations/{operation}:release/reason": "see cancel: the journal and the trail show it alike",
  "operations/{operation}:resume/reason": "see cancel",
  "operations/{operation}:retry/reason": "see cancel",
  "operations/{operation}:retry/step": "must be one of its steps",
  "operations/{operation}:skip/reason": "see cancel",
  "operations/{operation}:skip/step": "must be one of its steps",
  "password/forgot/email": "is compared and never shown",
  "password/reset/password": "is never shown",
  "password/reset/token": "is compared and never shown",
  "pauses/on": "must be a scope",
  "pauses/reason": { on: "objects/dnszones/zone" },
  "people/email": "must be an address",
  "people/name": "see people/{id}/name",
  "people/{id}/name": {
    on: "now",
    after: (page) => page.getByRole("button", { name: /^You are/ }).click(),
  },
  "policy/ignore/-/item": { on: "drift" },
  "policy/ignore/-/kind": "must be a kind",
  "policy/ignore/-/reason": { on: "settings" },
  "pool/settings/*": "the page of the pool shows none of them",
  "proposals/changes/-/delete/kind": "must be a kind",
  "proposals/changes/-/manifest/kind": "must be a kind",
  "proposals/changes/-/manifest/metadata/labels/*": { on: "held" },
  "proposals/changes/-/manifest/spec": { on: "held" },
  "proposals/reason": { on: "held" },
  "proposals/{id}:approve/digest": "must be the digest",
  "proposals/{id}:reject/comment": { on: "audit", after: openEverything },
  "proposals/{id}:reject/digest": "must be the digest",
  "proposals/{id}:withdraw/comment": { on: "held?state=withdrawn" },
  "resource/kind": "must be a kind",
  "resource/metadata/labels/*": { on: "objects/dnszones/zone" },
  "resource/spec": { on: "objects/dnsrecords/text?tab=as" },
  "roles/description": { on: "access?part=roles" },
  "roles/{role}/description": "see roles/description",
  "session/code": "is compared and never shown",
  "session/email": "is compared and never shown",
  "session/link/person/email": "must be an address",
  "session/link/person/name": "see people/{id}/name",
  "session/link/person/password": "is never shown",
  "session/link/token": "is compared and never shown",
  "session/passkey/passkey/clientExtensionResults/*": "is checked and never shown",
  "session/password": "is never shown",
  "session/prove/code": "is compared and never shown",
  "session/prove/passkey/clientExtensionResults/*": "is checked and never shown",
  "session/prove/password": "is never shown",
  "sign-in-links/email": "must be an address",
  "sign-up/email": "must be an address",
  "sign-up/name": "see people/{id}/name",
  "sign-up/password": "is never shown",
  "status/reason": "no page of an organization shows what the platform thinks of it",
  "tokens/name": { on: "access?part=tokens" },
  "webhooks/description": { on: "settings?part=notifications" },
  "webhooks/url": "must be a URL, in which such letters are escaped",
  "webhooks/{id}/description": "see webhooks/description",
  "webhooks/{id}/url": "see webhooks/url",
};

/** What is no field of a body, and written by others all the same. */
const beside: Readonly<Record<string, Shown>> = {
  "the header Setpoint-Reason": { on: "audit" },
  "what a receiver of webhooks answers": {
    on: "settings?part=notifications",
    after: (page) => page.getByRole("button", { name: "Deliveries" }).click(),
  },
  "what a mail server answers": { on: "settings?part=notifications" },
  "what was told": { on: "settings?part=notifications" },
};

test("every field that takes markup has a case", () => {
  assert.deepEqual(Object.keys(cases).sort(), fieldsTaking("<b>short</b>"));
});

describe("what people write, on every page of the console", () => {
  let started: ConsoleApi;
  let browser: Browser;
  /** Ids that pages are found by. */
  const ids: Record<string, string> = {};

  const send = async (method: "POST" | "PUT", path: string, body: object, headers: Record<string, string> = {}) => {
    const answer = await started.api.send(method, path, body, method === "PUT" ? { ...whatever, ...headers } : headers);
    assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body as { readonly id: string; readonly digest: string };
  };
  const make = (path: string, body: object, headers?: Record<string, string>) =>
    send("POST", `${base}${path}`, body, headers);

  before(async () => {
    started = await startConsoleApi();
    browser = await launchChromium();
    await declareThings(make);
    await decideThings(make, send, ids);
    await beAnswered(started, make);
    await send("POST", "/v1/freeze", { reason: in_("freeze/reason") });
    // What was done is in the trail once it is sealed.
    await started.api.seal();
  });
  after(async () => {
    await browser.close();
    await started[Symbol.asyncDispose]();
  });

  for (const look of [consoleLooks[0], consoleLooks[2]])
    test(`it is text and stays within the screen: ${look.name}`, async () => {
      await withSignedInPage({ browser, console: started, look }, async (page) => {
        page.on("dialog", (dialog) => assert.fail(`a dialog: ${dialog.message()}`));
        const { items } = (await started.api.send("GET", "/v1/people")).body as { items: { id: string }[] };
        await send("PUT", `/v1/people/${items[0]?.id ?? ""}`, { name: `${attack.slice(0, 80)} people/{id}/name` });
        await addPasskey(started.api, items[0]?.id ?? "");
        for (const [field, shown] of [...Object.entries(cases), ...Object.entries(beside)]) {
          if (typeof shown === "string") continue;
          const path = shown.on.replace(/[A-Z]{4,}/, (name) => ids[name] ?? name);
          await page.goto(`${started.url}/o/default/${path}`);
          await shown.after?.(page);
          await page
            .getByText(shown.as ?? field)
            .first()
            .waitFor()
            .catch((thrown: unknown) => assert.fail(`${field} is not shown on ${path}: ${String(thrown)}`));
          await requireText(page, field);
        }
        for (const path of alsoWithThem) {
          await page.goto(`${started.url}/o/default/${path}`);
          await page.getByRole("heading", { level: 1 }).waitFor();
          await page.getByText("live", { exact: true }).waitFor();
          await requireText(page, path);
        }
      });
    });
});

/** Pages that show some of it without being the place to read it. */
const alsoWithThem = [
  "inventory",
  "inventory?labels=note",
  "map?as=list",
  "objects/dnszones/zone?tab=spec",
  "objects/dnszones/zone?tab=as",
  "objects/dnsrecords/text?tab=spec",
  "objects/dnsrecords/text?tab=history",
  "loops",
  "operations",
  "access",
  "access?part=sessions",
  "settings?part=secrets",
];

type Make = (path: string, body: object, headers?: Record<string, string>) => Promise<{ id: string; digest: string }>;
type Send = (method: "POST" | "PUT", path: string, body: object) => Promise<{ id: string; digest: string }>;

const record = (name: string, spec: object, labels: object = {}) => ({
  apiVersion: "setpoint/v1",
  kind: "DnsRecord",
  metadata: { name, labels },
  spec: { zone: "zone", name, type: "TXT", ...spec },
});

async function declareThings(make: Make): Promise<void> {
  const settings = { url: `http://127.0.0.1:9/?${encodeURIComponent(attack)}` };
  await make("/accounts", { name: "lab", provider: "powerdns", settings });
  const manifest = { apiVersion: "setpoint/v1", kind: "DnsZone", spec: { account: "lab", zone: "z.example.org" } };
  const labels = { note: `${attack} resource/metadata/labels/*` };
  await make("/dnszones", { ...manifest, metadata: { name: "zone", mode: "observe", labels } });
  const text = { values: [in_("resource/spec"), longest] };
  await make("/dnsrecords", record("text", text, { note: longest.slice(0, 60) }));
  await make("/pauses", { on: "dnszones/zone", reason: in_("pauses/reason") });
  const rules = [{ key: "project.dns_zone", actions: ["read"] }];
  await make("/roles", { name: "reader", description: in_("roles/description"), rules });
  const access = [{ rules }];
  const name = `${attack.slice(0, 80)} tokens/name`;
  await make("/tokens", { name, type: "service-token", expiresInDays: 1, access });
  const why = { "setpoint-reason": in_("the header Setpoint-Reason").replace("\u202E", "") };
  await make("/projects", { name: "mail" }, why);
  const reason = in_("proposals/reason");
  const proposed = record(
    "new",
    { values: [in_("proposals/changes/-/manifest/spec")] },
    { note: `${attack} proposals/changes/-/manifest/metadata/labels/*` },
  );
  await make("/proposals", { reason, changes: [{ manifest: proposed }] });
}

async function decideThings(make: Make, send: Send, ids: Record<string, string>): Promise<void> {
  const rule = { kind: "DnsZone", field: "/ttlSeconds" };
  const ignore = [{ ...rule, item: in_("policy/ignore/-/item"), reason: in_("policy/ignore/-/reason") }];
  await send("PUT", `${base}/policy`, { ignore });
  const looser = (changesPerCycle: number) => ({
    type: "policy",
    policy: { ignore, limits: { changesPerCycle } },
    reason: in_("held-changes/reason"),
  });
  const approved = await make("/held-changes", looser(9_001));
  ids["APPROVED"] = approved.id;
  const comment = in_("held-changes/{id}:approve/comment");
  await make(`/held-changes/${approved.id}:approve`, { digest: approved.digest, comment });
  const rejected = await make("/held-changes", looser(9_002));
  ids["REJECTED"] = rejected.id;
  await make(`/held-changes/${rejected.id}:reject`, { comment: in_("held-changes/{id}:reject/comment") });
  const withdrawn = await make("/held-changes", looser(9_004));
  ids["WITHDRAWN"] = withdrawn.id;
  await make(`/held-changes/${withdrawn.id}:withdraw`, { comment: in_("held-changes/{id}:withdraw/comment") });
  ids["OPEN"] = (await make("/held-changes", looser(9_003))).id;
  const changes = [{ manifest: record("refused", { values: ["no"] }) }];
  const proposal = await make("/proposals", { reason: "why not", changes });
  const no = { digest: proposal.digest, comment: in_("proposals/{id}:reject/comment") };
  await make(`/proposals/${proposal.id}:reject`, no);
  const taken = await make("/proposals", { reason: "why not", changes });
  await make(`/proposals/${taken.id}:withdraw`, { comment: in_("proposals/{id}:withdraw/comment") });
  const makes = { account: "lab", zone: "made.example.org", makesZone: true, nameservers: ["ns1.example.org."] };
  const manifest = { apiVersion: "setpoint/v1", kind: "DnsZone", metadata: { name: "made", mode: "enforce" } };
  await make("/dnszones", { ...manifest, spec: makes });
  const operation = await make("/dnszones/made/operations", { pipeline: "dns-zone.create" });
  ids["OPERATION"] = operation.id;
  await make(`/operations/${operation.id}:cancel`, { reason: in_("operations/{operation}:cancel/reason") });
}

/** What others answered is in the store as the ones who deliver leave it. */
async function beAnswered({ api }: ConsoleApi, make: Make): Promise<void> {
  const made = (await make("/webhooks", {
    url: "https://93.184.216.34/hook",
    description: in_("webhooks/description"),
  })) as unknown as { webhook: { id: string } };
  const insert = (channel: string, target: string, text: string) =>
    query(
      api.url,
      `insert into setpoint.notification_delivery
         (organization_id, id, channel, target, type, body, state, attempts, created_at_ms, ended_at_ms, answers)
       select o.id, $1, $1, $2, 'test', '{}', 'failed', 1, 1, 2, json_build_array(json_build_object('atMs', 2, 'text', $3::text))
       from setpoint.organization as o where o.name = 'default'`,
      [channel, target, text],
    );
  await insert("webhook", made.webhook.id, `${attack} what a receiver of webhooks answers`);
  await insert("email", ada.email, `${attack} what a mail server answers`);
  await query(
    api.url,
    `insert into setpoint.notification (id, organization_id, type, cause, count, data, opened_at_ms, tell_at_ms)
     select 'told', o.id, 'guard.tripped', 'cause', 1, $1::json, 1, 1 from setpoint.organization as o where o.name = 'default'`,
    [JSON.stringify({ summary: in_("what was told"), items: [] })],
  );
}

/** As it is in the store once a browser has made one: what made it is no matter here. */
async function addPasskey({ url }: ConsoleApi["api"], personId: string): Promise<void> {
  await query(
    url,
    `insert into setpoint.passkey (id, person_id, public_key, counter, relying_party, transports, label, created_at_ms)
     values ('key', $1, 'none', 0, 'localhost', '{}', $2, 1) on conflict do nothing`,
    [personId, `${attack} me/passkeys/label`],
  );
}

async function openResume(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Resume…" }).click();
}

async function openEverything(page: Page): Promise<void> {
  await page.getByText("All of it").first().waitFor();
  for (const summary of await page.getByText("All of it").all()) await summary.click();
}

async function requireText(page: Page, where: string): Promise<void> {
  assert.equal(await page.locator("img, svg[onload]").count(), 0, where);
  assert.equal(await page.title(), "Setpoint", where);
  assert.equal(await page.locator('a[href^="javascript:"]').count(), 0, where);
  const wider = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
  assert.equal(wider, 0, `${where} is wider than the screen`);
}
