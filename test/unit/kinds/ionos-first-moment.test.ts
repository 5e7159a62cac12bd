import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import type { JsonObject } from "../../../src/ports/json.ts";
import { playOperation } from "../../crash-points/operations.ts";
import { type Contract, guardedHost, newContract } from "../../crash-points/pipelines/ionos-host.ts";
import { IonosLab } from "../../support/ionos-lab.ts";

const rules = [{ direction: "in", protocol: "tcp", port: "443", cidrs: ["192.0.2.0/24"] }];
const ofScope = { account: "demo", applies: "scope", rules };
const declared = ["INGRESS TCP 443-443 192.0.2.0/24 web"];
const host = {
  account: "demo",
  type: "2-cores-4-gb-20-gb-ssd",
  image: "debian:12",
  location: "main",
  publicAddresses: { ipv4: true, ipv6: false },
};

/** How the card of a server was, at every moment that it was there. */
function history(lab: IonosLab, server: string): { readonly active: boolean; readonly rules: readonly string[] }[] {
  const moments: { readonly active: boolean; readonly rules: readonly string[] }[] = [];
  lab.watch(() => {
    const there = lab.all("servers").filter(({ properties }) => properties.name?.startsWith(`${server} `) === true);
    assert.ok(there.length <= 1, "one server");
    if (there.length === 1) moments.push(lab.card(server));
  });
  return moments;
}

async function created(lab: IonosLab, spec: JsonObject = {}): Promise<string> {
  await lab.bench.declare("Host/web-1", { ...host, ...spec });
  return await lab.start("host.create", "Host/web-1");
}

function neverOpen(moments: ReturnType<typeof history>): void {
  assert.ok(moments.length > 0, "the server was there");
  const open = moments.filter(({ active, rules: there }) => !active || there.some((rule) => !declared.includes(rule)));
  assert.deepEqual(open, []);
}

describe("the card of a new host at IONOS that a firewall is for", () => {
  for (const [words, firewall, named] of [
    ["of its scope", ofScope, {}],
    ["that it names", { ...ofScope, applies: "named" }, { firewalls: [{ name: "web" }] }],
  ] as const)
    test(`is never open, from its first moment on: one ${words}`, async () => {
      const lab = await IonosLab.open();
      await lab.bench.declare("Firewall/web", firewall);
      await lab.bench.pass({ minutes: 2 });
      const moments = history(lab, "web-1");
      const { state, message } = await lab.finish(await created(lab, named), 60);
      assert.equal(state, "succeeded", message);
      assert.deepEqual(lab.card("web-1"), { active: true, type: "INGRESS", rules: declared }, "with its last step");
      await lab.bench.pass({ minutes: 12 });
      neverOpen(moments);
      assert.match(lab.bench.ready("Host/web-1"), /^Converged/);
      assert.match(lab.bench.ready("Firewall/web"), /^Converged/);
      await lab.bench.stop();
    });

  test("is never open, whatever becomes of the answers", async () => {
    const fault = fc.record({
      kind: fc.constantFrom("timeout", "cut", "error"),
      when: fc.constantFrom("before", "after"),
      method: fc.constantFrom("POST", "POST", "GET", "PATCH", "PUT"),
      path: fc.constantFrom("/servers$", "/servers$", "/labels$", "/lans$", "/nics", "/firewallrules$", "/servers/"),
      times: fc.integer({ min: 1, max: 3 }),
    });
    const faults = fc.array(fault, { minLength: 1, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(faults, fc.integer({ min: 0, max: 20 }), async (placed, listLagSeconds) => {
        const lab = await IonosLab.open({ listLagSeconds });
        await lab.bench.declare("Firewall/web", ofScope);
        await lab.bench.pass({ minutes: 2 });
        for (const one of placed) lab.fault(one);
        const moments = history(lab, "web-1");
        const operation = await created(lab);
        const row = await lab.finish(operation, 900);
        lab.heal();
        if (row.state === "attention") await lab.bench.pass({ minutes: 2 });
        else assert.equal(row.state, "succeeded", row.message);
        neverOpen(moments);
        await lab.bench.stop();
      }),
      { numRuns: 25 },
    );
  });
});

describe("the card of a new host at IONOS does not stay closed", () => {
  test("where no firewall is for it, it is open from its first moment on", async () => {
    const lab = await IonosLab.open();
    await lab.bench.declare("Firewall/web", { ...ofScope, applies: "named" });
    const moments = history(lab, "web-1");
    assert.equal((await lab.finish(await created(lab), 60)).state, "succeeded");
    assert.ok(moments.length > 0 && moments.every(({ active }) => !active));
    await lab.bench.stop();
  });

  test("for one that only looks", async () => {
    const lab = await IonosLab.open();
    await lab.bench.declare("Firewall/web", ofScope, { mode: "observe" });
    assert.equal((await lab.finish(await created(lab), 60)).state, "succeeded");
    assert.deepEqual(lab.card("web-1"), { active: false, type: "INGRESS", rules: [] });
    await lab.bench.stop();
  });

  test("for one that was deleted before it put any rule there", async () => {
    const lab = await IonosLab.open();
    await lab.bench.declare("Firewall/web", ofScope);
    await lab.bench.pass({ minutes: 2 });
    const operation = await created(lab);
    const row = () => lab.bench.store.state.tables.operations.get(operation);
    for (let second = 0; row()?.step !== "made" && second < 60; second++) {
      await lab.turn(operation);
      // Only the operation's own time passes: the loops do not look meanwhile.
      lab.world.advance(1_000);
    }
    assert.equal(lab.card("web-1").active, true, "it was made closed");
    await lab.bench.delete("Firewall/web", { confirmedCount: 0 });
    const { state, message } = await lab.finish(operation, 120);
    assert.equal(state, "succeeded", message);
    assert.deepEqual(lab.card("web-1"), { active: false, type: "INGRESS", rules: [] });
    assert.match(lab.bench.why("Host/web-1").join("\n"), /cards of server web-1/);
    await lab.bench.stop();
  });

  test("but somebody's own, which they closed, does when it is adopted", async () => {
    const lab = await IonosLab.open();
    const lan = Number(lab.make("lans", { name: "theirs", public: true }).id);
    await lab.bench.pass({ minutes: 1 });
    const volumes = { items: [{ properties: { name: "web-1", size: 10, type: "HDD", imageAlias: "debian:12" } }] };
    const nics = { items: [{ properties: { name: "web-1", lan, firewallActive: true } }] };
    const properties = { name: "web-1", cores: 1, ram: 1_024 };
    lab.console("POST", `${lab.at}/servers`, { properties, entities: { volumes, nics } });
    await lab.bench.pass({ minutes: 1 });
    const adopted = { type: "1-core-1-gb-10-gb-hdd", adopt: true };
    const { state, message } = await lab.finish(await created(lab, adopted), 120);
    assert.equal(state, "succeeded", message);
    assert.equal(lab.card("web-1").active, true);
    await lab.bench.stop();
  });
});

test("the scenario that is killed before and after every call sees no open card, and would say so", async () => {
  let contract: Contract | undefined;
  const stage = () => (contract = newContract());
  const { state } = await playOperation({ ...guardedHost, stage });
  assert.equal(state, "succeeded");
  assert.deepEqual(contract?.effects, ["POST datacenters/N/servers"]);
});
