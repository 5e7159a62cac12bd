import assert from "node:assert/strict";
import { test } from "node:test";
import { type Between, walkHetznerClient, walkIonosClient } from "../../support/client-walks.ts";
import { Specification } from "../../support/specification.ts";
import { SpecifiedHttp } from "../../support/specified-http.ts";
import { worldHttp } from "../../support/world-http.ts";

/** Walks a client with a specification between, and answers with what was asked and what was wrong with it. */
async function specified(
  walk: (between: Between) => Promise<void>,
  specification: Specification,
  basePath: string,
): Promise<{ readonly faults: readonly string[]; readonly operations: number }> {
  const used: SpecifiedHttp[] = [];
  await walk(async (world, clock) => {
    const http = new SpecifiedHttp(worldHttp(world, clock), specification, basePath);
    used.push(http);
    return http;
  });
  const operations = new Set(used.flatMap((http) => [...http.operations]));
  return { faults: [...new Set(used.flatMap(({ faults }) => faults))], operations: operations.size };
}

test("everything that the client for Hetzner Cloud asks and is answered is as the specification says", async () => {
  const specification = new Specification("hetzner-cloud", "hetzner-cloud.openapi.json.gz");
  const { faults, operations } = await specified(walkHetznerClient, specification, "/v1");
  assert.deepEqual(faults, []);
  assert.ok(operations > 40, String(operations));
});

test("everything that the client for IONOS asks and is answered is as the specification says", async () => {
  const specification = new Specification("ionos", "ionos-cloud-v6.openapi.json.gz");
  const { faults, operations } = await specified(walkIonosClient, specification, "/cloudapi/v6");
  assert.deepEqual(faults, []);
  assert.ok(operations > 28, String(operations));
});
