import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import type { ControlApi } from "../../../src/compose/demo/control-api.ts";
import { seedDemo } from "../../../src/compose/demo/seed.ts";
import { SeededChapters } from "../../../src/compose/demo/seeded-chapters.ts";
import { VirtualClock } from "../../support/virtual-clock.ts";

const roots: string[] = [];
after(() => roots.forEach((root) => rmSync(root, { recursive: true })));

function newFolder(): string {
  const root = mkdtempSync(join(tmpdir(), "setpoint-demo-"));
  roots.push(root);
  return root;
}

/** An API that knows names alone: what is there is refused a second time, and everything is ready at once. */
class NamesApi implements ControlApi {
  readonly there = new Set<string>();
  declared: string[] = [];
  /** Declarations that the API fails at. */
  failing: (what: string) => boolean = () => false;

  send: ControlApi["send"] = async (method, path, body) => {
    if (method === "GET") {
      const prefix = `${path} `;
      const names = [...this.there].filter((what) => what.startsWith(prefix)).map((what) => what.slice(prefix.length));
      const conditions = [{ type: "Ready", status: "True" }];
      return { status: 200, body: { items: names.map((name) => ({ name, status: { conditions } })) } };
    }
    const { name, metadata } = body as { name?: string; metadata?: { name: string } };
    const what = `${path} ${name ?? metadata?.name ?? ""}`;
    if (this.failing(what)) return { status: 503, body: { detail: "out of order" } };
    if (this.there.has(what)) return { status: 409, body: { code: "ALREADY_EXISTS", detail: "it is there" } };
    this.there.add(what);
    this.declared.push(what.slice(what.lastIndexOf("/") + 1));
    return { status: 201, body: {} };
  };
}

async function seed(api: NamesApi, folder: string): Promise<readonly string[]> {
  api.declared = [];
  const clock = new VirtualClock();
  const outside = { outsideUrl: "http://127.0.0.1:1", nameServers: [] };
  return await seedDemo({ api, clock, ...outside, chapters: new SeededChapters(folder) });
}

describe("the demo is declared", () => {
  test("whole at the first start, and never again: what people deleted since stays deleted", async () => {
    const [api, folder] = [new NamesApi(), newFolder()];
    assert.deepEqual(await seed(api, folder), []);
    for (const what of ["dnszones shop", "hosts web-1", "scalinggroups api", "scalinggroups batch", "dnszones status"])
      assert.ok(api.declared.includes(what), what);
    for (const what of [...api.there].filter((one) => one.endsWith("hosts web-1"))) api.there.delete(what);
    assert.deepEqual(await seed(api, folder), []);
    assert.deepEqual(api.declared, []);
  });

  for (const [accounts, missing, kept] of [
    [["dns"], ["hosts web-1", "scalinggroups api"], ["dnszones shop"]],
    [
      ["dns", "hetzner", "ionos"],
      ["scalinggroups api", "dnszones status"],
      ["dnszones shop", "hosts web-1"],
    ],
  ] as const)
    test(`to the end in a folder from before chapters were written down, with accounts ${accounts.join(", ")}`, async () => {
      const api = new NamesApi();
      api.there.add("/v1/organizations demo");
      for (const account of accounts) api.there.add(`/v1/organizations/demo/accounts ${account}`);
      const folder = newFolder();
      assert.deepEqual(await seed(api, folder), []);
      for (const what of missing) assert.ok(api.declared.includes(what), what);
      for (const what of kept) assert.ok(!api.declared.includes(what), `${what} is people's to keep or delete`);
      await seed(api, folder);
      assert.deepEqual(api.declared, [], "and once");
    });

  test("to the end where an earlier start did not get there", async () => {
    const [api, folder] = [new NamesApi(), newFolder()];
    api.failing = (what) => what.endsWith("loadbalancers edge");
    assert.equal((await seed(api, folder)).length, 1);
    api.failing = () => false;
    assert.deepEqual(await seed(api, folder), []);
    assert.deepEqual(api.declared, ["loadbalancers edge"]);
  });
});
