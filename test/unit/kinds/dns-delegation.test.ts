import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { InputResource } from "../../../src/kernel/loop.ts";
import { recordFits } from "../../../src/kinds/dns-record/fits.ts";
import { dnsRecordSchema, type DnsRecordSpec } from "../../../src/kinds/dns-record/schema.ts";
import { hetznerDnsCapabilities } from "../../../src/providers/hetzner-dns/capabilities.ts";
import { powerDnsCapabilities } from "../../../src/providers/powerdns/capabilities.ts";
import { rfc2136Capabilities } from "../../../src/providers/rfc2136/capabilities.ts";
import { around } from "../../support/surroundings.ts";
import {
  delegationProblem,
  parsePattern,
  patternCovers,
  patternsOverlap,
} from "../../../src/kinds/dns-zone/delegation.ts";
import { desiredRecordSets } from "../../../src/kinds/dns-zone/desired.ts";
import { zoneFits } from "../../../src/kinds/dns-zone/fits.ts";
import { dnsZoneSchema } from "../../../src/kinds/dns-zone/schema.ts";

const organization = "organization/0000";
const web = "project/acme:web";
const shop = "project/acme:shop";
const production = "workspace/acme:web:production";
const delegations = [
  { pattern: "*.web", project: "web" },
  { pattern: "api", project: "shop", workspace: "production" },
];
const zone = { zone: "example.test.", scope: organization, delegations };

const label = fc.constantFrom("a", "b", "c");
const name = fc.array(label, { minLength: 1, maxLength: 3 });
const pattern = fc
  .tuple(name, fc.option(fc.nat({ max: 2 })))
  .map(([labels, star]) => labels.map((one, index) => (index === star ? "*" : one)));
/** Every name of up to three labels, with one letter that no pattern spells out. */
const names = [1, 2, 3].flatMap((length) =>
  Array.from({ length: 4 ** length }, (_, index) =>
    Array.from({ length }, (_one, place) => "abcd"[Math.floor(index / 4 ** place) % 4] ?? "a"),
  ),
);

test("two patterns overlap exactly when some name lies in both", () => {
  fc.assert(
    fc.property(pattern, pattern, (left, right) => {
      const shared = names.some((one) => patternCovers(left, one) && patternCovers(right, one));
      assert.equal(patternsOverlap(left, right), shared);
      assert.equal(patternsOverlap(right, left), shared);
    }),
    { numRuns: 500 },
  );
});

test("a name lies in a pattern exactly when the pattern overlaps the name taken as a pattern", () => {
  fc.assert(
    fc.property(pattern, name, (one, other) => assert.equal(patternCovers(one, other), patternsOverlap(one, other))),
  );
});

test("no name has two owners in a zone that is accepted, and no other zone is refused for its patterns", () => {
  const delegation = fc.record({ pattern: pattern.map((labels) => labels.join(".")), project: label });
  fc.assert(
    fc.property(fc.array(delegation, { maxLength: 5 }), (some) => {
      const accepted = dnsZoneSchema.safeParse({ account: "lab", zone: "example.test", delegations: some }).success;
      const owners = (labels: readonly string[]) =>
        some.filter((one) => patternCovers(one.pattern.split("."), labels)).length;
      assert.equal(accepted, !names.some((labels) => owners(labels) > 1));
    }),
  );
});

test("a pattern has whole labels and one star at most, in any letters, and is never the zone itself", () => {
  const read = (text: string) => {
    const parsed = parsePattern(text);
    return parsed.ok ? parsed.value.join(".") : parsed.message;
  };
  assert.equal(read("*.WEB"), "*.web");
  assert.equal(read("_acme-challenge.*.bücher"), "_acme-challenge.*.xn--bcher-kva");
  assert.equal(read("*"), "*");
  assert.match(read("*.*.web"), /more than one "\*"/);
  assert.match(read("**.web"), /recursive/);
  assert.match(read("web-*"), /one whole label/);
  assert.match(read("@"), /the zone itself/);
  assert.match(read("web."), /relative to the zone/);
  assert.match(read("a..b"), /empty label/);
});

test("overlapping patterns are refused, and both owners are named", () => {
  const parsed = dnsZoneSchema.safeParse({
    account: "lab",
    zone: "example.test",
    delegations: [...delegations, { pattern: "www.*", project: "shop" }, { pattern: "api" }],
  });
  assert.ok(!parsed.success);
  assert.deepEqual(
    parsed.error.issues.map(({ path, message }) => `${path.join("/")}: ${message}`),
    [
      'delegations/2/pattern: "www.*" of project "shop" overlaps "*.web" of project "web": some names would be both\'s',
      "delegations/3: must name the project or the workspace it is for",
      'delegations/3/pattern: "api" of the organization overlaps "api" of project "shop", workspace "production": some names would be both\'s',
    ],
  );
});

test("what is delegated is the delegate's alone, for all of its scope; the rest is the zone's own", () => {
  const problem = (at: string, scope: string) => delegationProblem(zone, `${at}example.test.`, scope) ?? "may";
  assert.equal(problem("www.web.", web), "may");
  assert.equal(problem("*.web.", web), "may");
  assert.equal(problem("www.web.", production), "may");
  assert.equal(problem("api.", "workspace/acme:shop:production"), "may");
  assert.match(problem("api.", shop), /"api", delegated to project "shop", workspace "production"/);
  assert.match(problem("api.", "workspace/acme:shop:staging"), /delegated to .*workspace "production"/);
  assert.match(problem("www.web.", shop), /delegated to project "web"/);
  assert.match(problem("a.www.web.", web), /in no pattern that the zone delegates to project "web"/);
  assert.match(problem("web.", web), /in no pattern/);
  assert.match(problem("", web), /in no pattern/);
  assert.match(problem("www.web.", organization), /delegated to project "web"/);
  assert.equal(problem("web.", organization), "may");
  assert.equal(problem("", organization), "may");
  const inProject = { zone: "example.test.", scope: web, delegations: [{ pattern: "*.p", workspace: "production" }] };
  assert.equal(delegationProblem(inProject, "a.p.example.test.", production), undefined);
  assert.match(delegationProblem(inProject, "a.p.example.test.", "workspace/acme:web:staging") ?? "", /"production"/);
});

test("a record in a project is refused where it is declared unless its zone delegates the name to it", () => {
  const spec: DnsRecordSpec = dnsRecordSchema.parse({
    zone: "example",
    zoneScope: "organization",
    name: "www.web",
    type: "A",
    values: ["192.0.2.1"],
  });
  const problems = (over: Partial<DnsRecordSpec>, scope: string) =>
    recordFits(
      { ...spec, ...over },
      {
        ...around,
        scope,
        linked: () => ({
          scope: organization,
          spec: { account: "lab", zone: "example.test", delegations },
          capabilities: undefined,
        }),
      },
    ).map(({ pointer, message }) => `${pointer}: ${message}`);
  assert.deepEqual(problems({}, web), []);
  assert.match(problems({ name: "www" }, web).join(), /^\/spec\/name: www\.example\.test\. lies in no pattern/);
  assert.match(problems({}, shop).join(), /^\/spec\/name: .*delegated to project "web"/);
});

test("a zone delegates to what is below its own scope, and to nobody who is not there", async () => {
  const problems = async (scope: string, delegation: object) =>
    (
      await zoneFits(dnsZoneSchema.parse({ account: "lab", zone: "example.test", delegations: [delegation] }), {
        ...around,
        scope,
        hasScope: async (names) => ["web", "web production"].includes(Object.values(names).filter(Boolean).join(" ")),
      })
    )
      .map(({ pointer, message }) => `${pointer}: ${message}`)
      .join();
  assert.equal(await problems(organization, { pattern: "a", project: "web" }), "");
  assert.match(await problems(organization, { pattern: "a", workspace: "production" }), /must name the project/);
  assert.equal(await problems(web, { pattern: "a", workspace: "production" }), "");
  assert.match(await problems(web, { pattern: "a", project: "web" }), /must name a workspace/);
  assert.match(await problems(web, { pattern: "a", project: "shop", workspace: "x" }), /delegates inside it/);
  assert.match(await problems(production, { pattern: "a", workspace: "production" }), /nobody below it/);
  assert.match(
    await problems(organization, { pattern: "a", project: "shop" }),
    /^\/spec\/delegations\/0\/project: there is no project "shop" in this organization: create it first/,
  );
  assert.match(
    await problems(organization, { pattern: "a", project: "web", workspace: "staging" }),
    /^\/spec\/delegations\/0\/workspace: there is no project "web", workspace "staging"/,
  );
  assert.match(await problems(web, { pattern: "a", workspace: "staging" }), /there is no .*workspace "staging"/);
});

test("what the provider of the account cannot have is refused when the zone is declared", async () => {
  const problems = async (spec: object, capabilities: unknown) =>
    (
      await zoneFits(dnsZoneSchema.parse({ account: "lab", zone: "example.test", ...spec }), {
        ...around,
        scope: organization,
        account: async () => ({ provider: "some", capabilities }),
      })
    )
      .map(({ pointer, message }) => `${pointer}: ${message}`)
      .join();
  const made = { makesZone: true, nameservers: ["ns1.example.test"], dnssec: true };
  assert.equal(await problems(made, powerDnsCapabilities), "");
  assert.match(await problems(made, rfc2136Capabilities), /^\/spec\/makesZone: .*cannot make zones/);
  assert.match(await problems(made, hetznerDnsCapabilities), /^\/spec\/dnssec: .*cannot sign zones/);
  assert.match(await problems({}, undefined), /^\/spec\/account: the provider some of account "lab" has no zones/);
});

test("a record outside its pattern keeps its last good value, and has no say in another owner's record set", () => {
  const record = (uid: string, scope: string, at: string, value: string): InputResource<DnsRecordSpec> => ({
    uid,
    kind: "DnsRecord",
    name: uid,
    scope,
    generation: 1,
    labels: {},
    author: { name: "ada", type: "person" },
    declaredAtMs: 0,
    spec: dnsRecordSchema.parse({ zone: "example", name: at, type: "A", values: [value] }),
  });
  const desired = desiredRecordSets(zone, [
    record("owner", web, "www.web", "192.0.2.1"),
    record("intruder", shop, "www.web", "192.0.2.66"),
    record("stray", shop, "www", "192.0.2.7"),
    record("own", organization, "mail", "192.0.2.2"),
  ]);
  assert.ok(desired.known);
  assert.deepEqual(
    desired.items.map(({ key, item }) => `${key} ${item.values.join()}`),
    ["mail.example.test. A 192.0.2.2", "www.web.example.test. A 192.0.2.1"],
  );
  assert.deepEqual(
    desired.stale?.map(({ key, reason }) => `${key}: ${reason.split(":")[0]}`),
    ["www.web.example.test. A: DnsRecord/intruder", "www.example.test. A: DnsRecord/stray"],
  );
});
