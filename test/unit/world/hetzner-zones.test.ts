import assert from "node:assert/strict";
import { test } from "node:test";
import { TestWorld } from "../../support/world.ts";

interface RrSet {
  readonly name: string;
  readonly type: string;
  readonly ttl: number | null;
  readonly records: readonly { readonly value: string; readonly comment?: string }[];
}

const sets = (world: TestWorld, query = "") =>
  world.take<{ rrsets: readonly RrSet[] }>(200, "GET", `/v1/zones/example.com/rrsets${query}`).rrsets;

const serial = (all: readonly RrSet[]) =>
  Number(all.find(({ type }) => type === "SOA")?.records[0]?.value.split(" ")[2]);

function zone(): TestWorld {
  const world = new TestWorld({ pace: 0 });
  world.take(201, "POST", "/v1/zones", { name: "example.com", mode: "primary", ttl: 3600 });
  return world;
}

test("a zone begins with its SOA and its nameservers, and its sets are found by name and type", () => {
  const world = zone();
  assert.deepEqual(
    sets(world).map(({ type, records }) => [type, records.length]),
    [
      ["SOA", 1],
      ["NS", 3],
    ],
  );
  const path = "/v1/zones/example.com/rrsets";
  world.take(201, "POST", path, { name: "www", type: "A", records: [{ value: "192.0.2.1" }] });
  world.take(201, "POST", `${path}/www/AAAA/actions/add_records`, { records: [{ value: "2001:db8::1" }] });
  assert.equal(sets(world, "?name=www").length, 2);
  assert.equal(sets(world, "?name=www&type=AAAA").length, 1);
  world.take(201, "POST", `${path}/www/AAAA/actions/remove_records`, { records: [{ value: "2001:db8::1" }] });
  assert.equal(sets(world, "?name=www").length, 1, "a set without records goes");
});

test("what no zone can hold is refused, and leaves it as it was", () => {
  const world = zone();
  const path = "/v1/zones/example.com/rrsets";
  world.take(201, "POST", path, { name: "www", type: "A", records: [{ value: "192.0.2.1" }] });
  const before = sets(world);
  const refusals: readonly [number, Record<string, unknown>][] = [
    [409, { name: "WWW", type: "A", records: [{ value: "192.0.2.2" }] }],
    [422, { name: "www", type: "CNAME", records: [{ value: "example.org." }] }],
    [422, { name: "a", type: "A", records: [{ value: "not an address" }] }],
    [422, { name: "a", type: "A", records: [{ value: "192.0.2.1" }, { value: "192.0.2.1" }] }],
    [422, { name: "a", type: "TXT", records: [{ value: "no quotes" }] }],
    [422, { name: "a", type: "NAPTR", records: [{ value: "x" }] }],
    [422, { name: "a", type: "A", ttl: 1, records: [{ value: "192.0.2.1" }] }],
    [422, { name: "a", type: "A", records: [] }],
  ];
  for (const [status, body] of refusals)
    assert.equal(world.ask("POST", path, body).status, status, JSON.stringify(body));
  assert.deepEqual(sets(world), before);
  world.take(201, "POST", `${path}/www/A/actions/change_protection`, { change: true });
  assert.equal(world.ask("DELETE", `${path}/www/A`).status, 423);
  assert.equal(world.ask("POST", "/v1/zones", { name: "example.com", mode: "primary" }).status, 409);
  world.take(201, "POST", "/v1/zones", {
    name: "example.org",
    mode: "secondary",
    primary_nameservers: [{ address: "198.51.100.1" }],
  });
  assert.equal(world.ask("GET", "/v1/zones/example.org/rrsets").status, 422, "the other mode has no sets of its own");
});

test("a zone file that was written is read back as the same zone", () => {
  const world = zone();
  const path = "/v1/zones/example.com/rrsets";
  const wanted: readonly Record<string, unknown>[] = [
    { name: "www", type: "A", ttl: 300, records: [{ value: "192.0.2.1", comment: "one" }, { value: "192.0.2.2" }] },
    { name: "@", type: "TXT", records: [{ value: '"a;b \\"c\\"" "d"' }] },
    { name: "@", type: "MX", records: [{ value: "10 mail.example.com." }] },
    { name: "_sip._tcp", type: "SRV", records: [{ value: "0 5 5060 sip.example.com." }] },
  ];
  for (const set of wanted) world.take(201, "POST", path, set);
  const before = sets(world);
  const { zonefile } = world.take<{ zonefile: string }>(200, "GET", "/v1/zones/example.com/zonefile");
  world.take(201, "POST", "/v1/zones/example.com/actions/import_zonefile", { zonefile });
  const plain = (all: readonly RrSet[]) => all.filter(({ type }) => type !== "SOA");
  assert.deepEqual(plain(sets(world)), plain(before));
  assert.ok(serial(sets(world)) > serial(before), "what is served otherwise has a serial of its own");
  const bad = { zonefile: zonefile.replace("example.com.", "example.org.") };
  assert.equal(world.ask("POST", "/v1/zones/example.com/actions/import_zonefile", bad).status, 422);
});
