import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryDns } from "../../support/memory-dns.ts";
import { startZoneBench } from "../../support/zone-bench.ts";

const zone = "example.test.";

test("the first change leaves our mark in the zone, which is in no plan and is put back with the next change", async () => {
  const dns = new MemoryDns(zone);
  await using bench = await startZoneBench(dns.provider());
  await bench.zone();
  await bench.pass({ minutes: 6 });
  assert.equal(dns.sets.has(`_setpoint.${zone} TXT`), false, "a zone that is only looked at is not marked");
  await bench.record("www", {});
  await bench.pass({ minutes: 1 });
  assert.match(
    dns.sets.get(`_setpoint.${zone} TXT`)?.values[0] ?? "",
    /heritage=setpoint,setpoint\/installation=.*example/,
  );
  assert.deepEqual(dns.sets.get(`www.${zone} A`)?.values, ["192.0.2.1"]);
  assert.match(bench.ready("DnsZone/example"), /Converged/);
  dns.sets.delete(`_setpoint.${zone} TXT`);
  await bench.pass({ minutes: 6 });
  assert.match(bench.ready("DnsZone/example"), /Converged/, "it is no difference");
  await bench.record("www", { values: ["192.0.2.2"] });
  await bench.pass({ minutes: 1 });
  assert.ok(dns.sets.has(`_setpoint.${zone} TXT`));
});

test("a zone that somebody else marked is refused as a whole, and nothing is made in it", async () => {
  const dns = new MemoryDns(zone);
  dns.put(`_setpoint.${zone}`, "TXT", [
    '"heritage=setpoint,setpoint/installation=another,setpoint/zone=organization/o/theirs"',
  ]);
  await using bench = await startZoneBench(dns.provider());
  await bench.zone();
  await bench.record("www", {});
  await bench.pass({ minutes: 10 });
  assert.deepEqual(dns.batches, []);
  assert.match(bench.ready("DnsZone/example"), /RefusedByGuard.*ownership.*installation another/);
  dns.sets.delete(`_setpoint.${zone} TXT`);
  await bench.pass({ minutes: 6 });
  assert.ok(dns.sets.has(`www.${zone} A`), "it goes on when the other one is gone");
});

test("what external-dns registered for somebody else is refused, in both of its forms, and not alternated", async () => {
  const dns = new MemoryDns(zone);
  const registry = '"heritage=external-dns,external-dns/owner=cluster-a,external-dns/resource=ingress/shop/web"';
  dns.put(`old.${zone}`, "A", ["198.51.100.1"]);
  dns.put(`old.${zone}`, "TXT", [registry]);
  dns.put(`new.${zone}`, "CNAME", ["lb.example.net."]);
  dns.put(`cname-new.${zone}`, "TXT", [registry]);
  await using bench = await startZoneBench(dns.provider());
  await bench.zone();
  await bench.record("old", {});
  await bench.record("new", { type: "CNAME", values: ["here.example.net"] });
  await bench.record("free", {});
  await bench.pass({ minutes: 20 });
  assert.deepEqual(dns.sets.get(`old.${zone} A`)?.values, ["198.51.100.1"]);
  assert.deepEqual(dns.sets.get(`new.${zone} CNAME`)?.values, ["lb.example.net."]);
  assert.deepEqual(dns.sets.get(`free.${zone} A`)?.values, ["192.0.2.1"], "the rest of the zone goes on");
  assert.deepEqual(bench.heldChanges(), [], "nobody is asked to take it over");
  assert.match(bench.ready("DnsZone/example"), /external-dns owner "cluster-a" \(ingress\/shop\/web\)/);
});

test("with ownership registry each record set has an entry in its registry, which goes with it", async () => {
  const dns = new MemoryDns(zone);
  await using bench = await startZoneBench(dns.provider());
  await bench.zone({ ownership: "registry", registryOwner: "ours" });
  await bench.record("www", {});
  await bench.record("mail", { type: "MX", values: ["5 mx.example.net"] });
  await bench.pass({ minutes: 1 });
  assert.match(
    dns.sets.get(`a-www.${zone} TXT`)?.values[0] ?? "",
    /external-dns\/owner=ours,external-dns\/resource=dnszone\/example/,
  );
  assert.ok(dns.sets.has(`mx-mail.${zone} TXT`));
  await bench.pass({ minutes: 6 });
  assert.match(bench.ready("DnsZone/example"), /Converged/, "our own entries are not somebody else's");
  await bench.delete("DnsRecord/www", { confirmedCount: 2 });
  await bench.pass({ minutes: 10 });
  assert.deepEqual(
    [...dns.sets.keys()].filter((key) => key.includes("www")),
    [],
  );
});

test("a zone that is claimed whole becomes what is declared, within the guards, and keeps what others marked", async () => {
  const dns = new MemoryDns(zone);
  for (let index = 0; index < 10; index++) dns.put(`kept-${index}.${zone}`, "A", ["192.0.2.1"]);
  dns.put(`stray.${zone}`, "A", ["198.51.100.1"]);
  dns.put(`theirs.${zone}`, "A", ["198.51.100.2"]);
  dns.put(`a-theirs.${zone}`, "TXT", ['"heritage=external-dns,external-dns/owner=cluster-a"']);
  dns.put(zone, "DNSKEY", ["\\# 1 00"]);
  await using bench = await startZoneBench(dns.provider());
  await bench.zone({ ownership: "zone" });
  for (let index = 0; index < 10; index++) await bench.record(`kept-${index}`, { values: ["192.0.2.2"] });
  await bench.pass({ minutes: 30 });
  assert.deepEqual(
    dns.sets.get(`kept-3.${zone} A`)?.values,
    ["192.0.2.2"],
    "nobody has to approve what the spec claims",
  );
  assert.equal(dns.sets.has(`stray.${zone} A`), false);
  for (const key of [`theirs.${zone} A`, `a-theirs.${zone} TXT`, `${zone} DNSKEY`, `${zone} SOA`, `${zone} NS`])
    assert.ok(dns.sets.has(key), `${key} stays`);
  assert.match(bench.ready("DnsZone/example"), /Converged/);
});

test("a whole-zone claim over many strangers waits for a person before it deletes them", async () => {
  const dns = new MemoryDns(zone);
  for (let index = 0; index < 20; index++) dns.put(`stray-${index}.${zone}`, "A", ["192.0.2.1"]);
  await using bench = await startZoneBench(dns.provider());
  await bench.zone({ ownership: "zone" });
  await bench.record("www", {});
  await bench.pass({ minutes: 30 });
  assert.equal([...dns.sets.keys()].filter((key) => key.startsWith("stray")).length, 20);
  const [held] = bench.heldChanges();
  assert.equal(held?.items.length, 20);
});

test("a thousand record sets go in one batch, and no more than that in one cycle", async () => {
  const dns = new MemoryDns(zone);
  await using bench = await startZoneBench(dns.provider());
  await bench.zone({}, "observe");
  for (let index = 0; index < 1_200; index++) await bench.record(`host-${index}`, {});
  await bench.pass({ seconds: 5 });
  await bench.zone();
  await bench.pass({ minutes: 1 });
  assert.deepEqual(dns.batches, [1_001, 201], "each batch with our mark in it");
});

test("what a server writes when it signs a zone is no item and stays as it is", async () => {
  const dns = new MemoryDns(zone);
  for (const type of ["RRSIG", "NSEC", "DNSKEY", "NSEC3PARAM", "CDS", "TYPE65534"]) dns.put(zone, type, ["\\# 1 00"]);
  await using bench = await startZoneBench(dns.provider());
  await bench.zone({ ownership: "zone" });
  await bench.record("www", {});
  await bench.pass({ minutes: 30 });
  for (const type of ["RRSIG", "NSEC", "DNSKEY", "NSEC3PARAM", "CDS", "TYPE65534"])
    assert.ok(dns.sets.has(`${zone} ${type}`));
});

test("a name that changes from an alias to an address does so as soon as the alias may go, and is never refused for good", async () => {
  const dns = new MemoryDns(zone);
  await using bench = await startZoneBench(dns.provider());
  await bench.zone();
  await bench.record("www", { type: "CNAME", values: ["a.example.net"] });
  await bench.record("mail", {});
  await bench.pass({ minutes: 1 });
  // The same resource declares the other type: that the old record set goes is inferred, and needs two looks.
  await bench.record("www", { type: "A", values: ["192.0.2.5"] });
  await bench.pass({ seconds: 30 });
  assert.ok(dns.sets.has(`www.${zone} CNAME`));
  assert.match(
    bench.why("DnsZone/example").join("\n"),
    /www\.example\.test\. A waits until www\.example\.test\. CNAME is gone/,
  );
  await bench.pass({ minutes: 5 });
  assert.equal(dns.sets.has(`www.${zone} CNAME`), false);
  assert.deepEqual(dns.sets.get(`www.${zone} A`)?.values, ["192.0.2.5"]);
  assert.match(bench.ready("DnsZone/example"), /Converged/);
});

test("the mark goes with the last record set of a zone that leaves, and not before", async () => {
  const dns = new MemoryDns(zone);
  await using bench = await startZoneBench(dns.provider());
  await bench.setPolicy({ limits: { changesPerCycle: 2 } });
  await bench.zone();
  for (const host of ["a", "b", "c"]) await bench.record(host, {});
  await bench.pass({ minutes: 5 });
  assert.ok(dns.sets.has(`_setpoint.${zone} TXT`));
  const marked: boolean[] = [];
  const remove = dns.sets.delete.bind(dns.sets);
  dns.sets.delete = (key) => {
    if (!key.startsWith("_setpoint.")) marked.push(dns.sets.has(`_setpoint.${zone} TXT`));
    return remove(key);
  };
  await bench.delete("DnsZone/example", { confirmedCount: 3 });
  await bench.pass({ minutes: 30 });
  assert.deepEqual([...dns.sets.keys()], [`${zone} SOA`, `${zone} NS`]);
  assert.deepEqual(marked, [true, true, true], "as long as something of ours is there, so is the mark");
});
