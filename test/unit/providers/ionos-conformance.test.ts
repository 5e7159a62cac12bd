import assert from "node:assert/strict";
import { test } from "node:test";
import { computeConformance } from "setpoint/testing";
import type { ComputeEngine, ComputeReader } from "../../../src/ports/compute.ts";
import type { Http } from "../../../src/ports/http.ts";
import type { ProviderAccount } from "../../../src/ports/provider.ts";
import { faultSchema } from "../../../src/world/fault-schema.ts";
import { ionosProvider } from "../../support/cloud-lab.ts";
import { IonosContract } from "../../support/ionos-contract.ts";
import { worldHttp } from "../../support/world-http.ts";

for (const conformance of computeConformance) {
  test(`IONOS: ${conformance.name}`, async () => {
    const contract = new IonosContract();
    const lost = { kind: "timeout", when: "after", method: "POST", path: "^/datacenters/[^/]+/servers$", times: 1 };
    await conformance.check({
      clock: contract.clock,
      open: async () =>
        ionosProvider(contract.world, contract.clock).open(contract.record) as ProviderAccount<
          ComputeReader,
          ComputeEngine
        >,
      order: { type: "2-cores-4-gb-20-gb-ssd", image: "debian:12", location: "main" },
      loseNextAnswer: () => void contract.world.core.tray.place(faultSchema.parse(lost)),
      wait: async () => contract.pass(),
    });
  });
}

test("a server that was ordered and is not listed yet is not ordered again", async () => {
  const contract = new IonosContract();
  const { writer } = contract.open();
  const intent = contract.intent("one");
  contract.world.core.tray.place(
    faultSchema.parse({ kind: "timeout", when: "after", method: "POST", path: "/servers$", times: 1 }),
  );
  contract.world.core.settings.listLagSeconds = 600;
  await assert.rejects(writer.ensureServer(intent, contract.signal));
  const again = await writer.ensureServer(intent, contract.signal);
  assert.equal(again.found, true);
  contract.world.core.settings.listLagSeconds = 0;
  contract.pass();
  assert.equal(contract.list("servers").length, 1);
});

test("whoever slept between the look and the order does not order what another one ordered meanwhile", async () => {
  const contract = new IonosContract();
  const intent = contract.intent("one");
  const awake = worldHttp(contract.world, contract.clock);
  let slept = false;
  const sleeper: Http = {
    request: async (request) => {
      const answer = await awake.request(request);
      if (slept || request.method !== "GET" || !new URL(request.url).pathname.endsWith("/requests")) return answer;
      slept = true;
      await contract.open().writer.ensureServer(intent, contract.signal);
      await contract.clock.wait(60_000);
      return answer;
    },
  };
  await assert.rejects(contract.open(sleeper).writer.ensureServer(intent, contract.signal), /took too long to look/);
  contract.pass();
  assert.ok(slept);
  assert.equal(contract.list("servers").length, 1);
});

test("a disk that somebody attached outlives the server, and the server's own goes with it", async () => {
  const contract = new IonosContract();
  const { writer, reader } = contract.open();
  contract.make("volumes", { name: "data", size: 10, licenceType: "OTHER" });
  const { server } = await writer.ensureServer(contract.intent("one"), contract.signal);
  contract.pass();
  await writer.attachVolume(server.id, "data", contract.signal);
  contract.pass();
  const seen = await reader.server(server.id, contract.signal);
  assert.ok(seen !== "absent" && seen.volumes.length === 1);
  await writer.ensureServerGone({ id: server.id, mark: contract.intent("one").mark }, contract.signal);
  contract.pass();
  assert.equal(await reader.server(server.id, contract.signal), "absent");
  assert.deepEqual(
    contract.list("volumes").map(({ properties }) => properties.name),
    ["data"],
  );
  assert.deepEqual(contract.list("servers"), []);
});

test("the contract is what an account is known by, and its limits and its places are what can be ordered", async () => {
  const contract = new IonosContract();
  const account = contract.open();
  assert.match((await account.identity(contract.signal)).fingerprint, /^ionos: contract 31\d+$/);
  assert.deepEqual(await account.rights?.(contract.signal), { write: true, reason: "the token may write" });
  const large = await account.reader.serverType("99-cores-4-gb-20-gb-ssd", contract.signal);
  assert.ok(large !== "absent");
  assert.deepEqual(
    large.offers.map(({ location, available }) => [location, available]),
    [["main", false]],
  );
  const elsewhere = { ...contract.intent("one"), location: "moon" };
  await assert.rejects(account.writer.ensureServer(elsewhere, contract.signal), /no data center moon. It has: main/);
  contract.world.core.tray.place(faultSchema.parse({ kind: "other-account", as: "other" }));
  const other = await account.identity(contract.signal);
  contract.world.core.tray.clear();
  assert.notEqual(other.fingerprint, (await account.identity(contract.signal)).fingerprint);
  const rate = account.rate?.() ?? assert.fail("the limit is told");
  assert.deepEqual([rate.limit, rate.remaining < 50, rate.fullInMs > 0], [50, true, true]);
});

test("a page that is not the one asked for is an error, and never a shorter list", async () => {
  const contract = new IonosContract();
  contract.fill(450);
  const lister = contract.open().collections["servers"] ?? assert.fail("no servers");
  const begin = await lister(undefined, contract.signal);
  const first = await lister(begin.next, contract.signal);
  assert.equal(first.entries.length, 200);
  contract.world.core.tray.place(faultSchema.parse({ kind: "repeated-page", path: "/servers$" }));
  await assert.rejects(async () => await lister(first.next, contract.signal), /with the page from 0/);
  contract.world.core.tray.clear();
  let count = 0;
  for (let token: string | undefined, page = 0; page === 0 || token !== undefined; page++) {
    const read = await lister(token, contract.signal);
    count += read.entries.length;
    token = read.next;
  }
  assert.equal(count, 450);
});
