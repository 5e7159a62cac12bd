import assert from "node:assert/strict";
import { test } from "node:test";
import { readInventory } from "../../../src/kernel/inventory.ts";
import { IonosContract } from "../../support/ionos-contract.ts";

/** What a whole look at a collection asks for, by the world's own log. */
async function askedFor(contract: IonosContract, collection: string): Promise<Readonly<Record<string, number>>> {
  const { log } = contract.world;
  log.clear();
  const lister = contract.open().collections[collection] ?? assert.fail(collection);
  const { inventory } = await readInventory(contract.clock, lister, contract.signal);
  assert.equal(inventory.completeness, "complete", inventory.proof);
  return Object.fromEntries(
    Object.entries(log.counts().bySort).map(([sort, count]) => [sort.replace("ionos demo GET ", ""), count]),
  );
}

test("a look at a thousand servers asks for their pages, and for what is around them once", async () => {
  const contract = new IonosContract();
  contract.fill(1_000);
  contract.pass();
  assert.deepEqual(await askedFor(contract, "servers"), {
    "/datacenters": 1,
    // Five full pages, and the data center that has none.
    "/datacenters/{id}/servers": 6,
    "/datacenters/{id}/lans": 2,
    "/labels": 1,
  });
});

test("what has no labels that count is listed without those of the whole contract", async () => {
  const contract = new IonosContract();
  assert.deepEqual(await askedFor(contract, "networks"), { "/datacenters": 1, "/datacenters/{id}/lans": 1 });
  assert.deepEqual(await askedFor(contract, "load-balancers"), {
    "/datacenters": 1,
    "/datacenters/{id}/networkloadbalancers": 1,
    "/datacenters/{id}/lans": 1,
  });
});
