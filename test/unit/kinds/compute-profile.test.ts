import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { inspectionOf } from "../../../src/kinds/compute-profile/loop.ts";
import { accountInspection } from "../../../src/kinds/compute-provider/loop.ts";
import type { JsonObject } from "../../../src/ports/json.ts";
import type { SubjectStatus } from "../../../src/ports/records.ts";
import { CloudLab } from "../../support/cloud-lab.ts";

const small = { account: "demo", type: "cx22", locations: ["fsn1", "nbg1"] };

async function declared(spec: object): Promise<CloudLab> {
  const lab = await CloudLab.open();
  await lab.bench.declare("ComputeProfile/small", spec as never);
  await lab.bench.pass({ minutes: 1 });
  return lab;
}

function statusOf(lab: CloudLab, name: string): SubjectStatus {
  return lab.bench.statuses(name)[0] ?? assert.fail(`${name} has no status`);
}

describe("a profile", () => {
  test("reports what its type is, costs, and where it can be ordered, and writes nothing at the provider", async () => {
    const lab = await declared(small);
    assert.match(lab.bench.ready("ComputeProfile/small"), /^Converged/);
    const report = statusOf(lab, "ComputeProfile/small").report as Record<string, unknown>;
    const [fsn1, ...others] = report["offers"] as readonly Record<string, unknown>[];
    assert.deepEqual([report["type"], report["cores"], fsn1?.["location"], others.length], ["cx22", 2, "fsn1", 1]);
    assert.equal(fsn1?.["monthly"], "3.79");
    await lab.bench.delete("ComputeProfile/small");
    await lab.bench.pass({ minutes: 12 });
    assert.throws(() => lab.bench.statuses("ComputeProfile/small"), /is not declared/, "it is gone");
    assert.deepEqual([lab.writes(), lab.list("ssh_keys")], [[], []], "not even a sentinel");
    await lab.bench.stop();
  });

  test("of an unknown type, or where the type is not, says what there is", async () => {
    const unknown = await declared({ ...small, type: "cx9999" });
    assert.match(
      unknown.bench.ready("ComputeProfile/small"),
      /no server type cx9999; of 23 that there are, the nearest are: .*\. Correct spec\.type/,
    );
    await unknown.bench.stop();
    const elsewhere = await declared({ ...small, locations: ["fsn1", "moon1"] });
    assert.match(elsewhere.bench.ready("ComputeProfile/small"), /not offered in moon1\. It is in: .*fsn1/);
    await elsewhere.bench.stop();
  });

  test("is not called unknown by half a list", async () => {
    const lab = await CloudLab.open();
    lab.fault({ kind: "half-list", path: "^/server_types$", share: 0, total: "kept" });
    await lab.bench.declare("ComputeProfile/small", small);
    await lab.bench.pass({ minutes: 2 });
    assert.doesNotMatch(lab.bench.ready("ComputeProfile/small"), /no server type/);
    lab.heal();
    await lab.bench.pass({ minutes: 20 });
    assert.match(lab.bench.ready("ComputeProfile/small"), /^Converged/);
    await lab.bench.stop();
  });

  test("says what that is with tax, in which currency, and reads it once an hour", async () => {
    const lab = await declared(small);
    const reads = () => lab.world.log.after(0).filter(({ path }) => path === "/pricing").length;
    const prices = () => (statusOf(lab, "ComputeProfile/small").report as JsonObject)["prices"] as JsonObject;
    const { at, ...told } = prices();
    assert.deepEqual(told, {
      currency: "EUR",
      vatPercent: "19.000000",
      locations: {
        fsn1: { monthlyGross: "4.5101", ipv4Monthly: "0.50" },
        nbg1: { monthlyGross: "4.5101", ipv4Monthly: "0.50" },
      },
    });
    await lab.bench.pass({ minutes: 50 });
    assert.deepEqual([reads(), prices()["at"]], [1, at]);
    lab.fault({ kind: "error", path: "^/pricing$", status: 503 });
    await lab.bench.pass({ minutes: 30 });
    assert.deepEqual(prices(), { at, ...told }, "what cannot be read stands as it was");
    assert.match(lab.bench.ready("ComputeProfile/small"), /^Converged/);
    lab.heal();
    await lab.bench.pass({ minutes: 10 });
    assert.notEqual(prices()["at"], at);
    await lab.bench.stop();
  });

  test("whose end the provider announced says until when", () => {
    const size = { id: "1", name: "cx22", cores: 2, memoryGigabytes: 4, diskGigabytes: 40, architecture: "x86" };
    const offer = { location: "fsn1", available: true, monthly: "3.79" };
    const ending = { ...size, offers: [{ ...offer, until: "2030-01-31T00:00:00Z" }] };
    const [condition, ...others] = inspectionOf({ account: "demo", type: "cx22", locations: [] }, ending).conditions;
    assert.deepEqual([condition?.type, others], ["Deprecated", []]);
    assert.match(condition?.message ?? "", /ends cx22: it can be ordered in fsn1 until 2030-01-31\. Name another type/);
  });

  test("that cannot be ordered somewhere says where it can", () => {
    const size = { id: "1", name: "cx22", cores: 2, memoryGigabytes: 4, diskGigabytes: 40, architecture: "x86" };
    const offer = (location: string, available: boolean) => ({ location, available, monthly: "3.79" });
    const type = { ...size, offers: [offer("fsn1", true), offer("hel1", false), offer("nbg1", false)] };
    const spec = { account: "demo", type: "cx22", locations: ["fsn1", "nbg1"] };
    const { conditions } = inspectionOf(spec, type);
    assert.match(conditions[0]?.message ?? "", /cannot be ordered now in nbg1; it can in: fsn1/);
    assert.deepEqual(inspectionOf({ ...spec, locations: ["fsn1"] }, type).conditions, []);
  });
});

describe("a provider", () => {
  const provider = { account: "demo", family: "hetzner-cloud", locations: [] };
  test("reports what is not ours and how much of its calls is left, and does not write that again and again", async () => {
    const lab = await CloudLab.open();
    lab.console("POST", "/networks", { name: "somebodys", ip_range: "172.16.0.0/16" });
    await lab.bench.declare("ComputeProvider/main", provider, { mode: "enforce" });
    await lab.bench.pass({ minutes: 15 });
    const { conditions } = statusOf(lab, "ComputeProvider/main");
    const { catalogue, ...report } = statusOf(lab, "ComputeProvider/main").report as JsonObject;
    assert.deepEqual(Object.keys(catalogue ?? {}), ["at", "account", "locations", "types", "images"]);
    assert.deepEqual(report, {
      unmanaged: { network: 1 },
      calls: { limit: 3_600, leftPercent: 100 },
      credential: { write: "allowed" },
    });
    assert.ok(!conditions.some(({ type }) => type === "CallsShort"));
    const short = (remaining: number) =>
      accountInspection([], { limit: 3_600, remaining, fullInMs: 600_000 }).conditions;
    assert.match(short(700)[0]?.message ?? "", /about 20 % of the provider's 3600 calls are left/);
    assert.deepEqual(short(1_000), []);
    await lab.bench.stop();
  });

  test("reports the same of a contract of IONOS, whose calls are counted by the minute", async () => {
    const lab = await CloudLab.open({ cloud: "ionos" });
    lab.console("POST", "/datacenters", { properties: { name: "main", location: "de/fra" } });
    lab.console("POST", "/ipblocks", { properties: { location: "de/fra", size: 1, name: "somebodys" } });
    await lab.bench.declare("ComputeProvider/main", { ...provider, family: "ionos" }, { mode: "enforce" });
    await lab.bench.pass({ minutes: 15 });
    const { catalogue, room, ...report } = statusOf(lab, "ComputeProvider/main").report as JsonObject;
    assert.deepEqual(Object.keys(catalogue ?? {}), ["at", "account", "locations", "images"]);
    assert.deepEqual(room, {
      account: (catalogue as JsonObject)["account"],
      cores: { most: 100_000, used: 0, mostOfOne: 62 },
      memoryGigabytes: { most: 390_625, used: 0, mostOfOne: 240 },
    });
    assert.deepEqual(report, {
      unmanaged: { "floating IP": 1 },
      calls: { limit: 50, leftPercent: 100 },
      credential: { write: "allowed" },
    });
    assert.deepEqual(lab.writes(), []);
    await lab.bench.stop();
  });
});
