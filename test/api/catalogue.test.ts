import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { isoTime } from "../../src/kernel/iso-time.ts";
import type { CycleInput, SubjectStatus } from "../../src/ports/records.ts";
import { systemClock } from "../../src/runtime/system-clock.ts";
import { startTestApi, type TestApi, whatever } from "../support/api.ts";
import { emptyMemory } from "../../src/kernel/memory.ts";
import { base, status } from "../support/zones.ts";

let api: TestApi;
let aheadMs = 0;
/** What is known of an account is kept for a second. */
const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + aheadMs };
const manifest = (kind: string, name: string, spec: object, mode?: string) => ({
  apiVersion: "setpoint/v1",
  kind,
  metadata: { name, ...(mode === undefined ? {} : { mode }) },
  spec: { account: "cloud", ...spec },
});
const server = { type: "cx22", image: "debian-12", location: "fsn1" };
let watching: { readonly input: CycleInput; readonly epoch: number };

before(async () => {
  api = await startTestApi({ clock });
  await api.send("POST", `${base}/accounts`, { name: "cloud", provider: "hetzner-cloud", settings: {} });
  const provider = manifest("ComputeProvider", "main", { family: "hetzner-cloud" }, "observe");
  const made = await api.send("POST", `${base}/computeproviders`, provider);
  assert.ok(made.status < 300, JSON.stringify(made.body));
  const { uid } = made.body["metadata"] as { uid: string };
  const leases = await api.engine.takeShards({ holder: "test", wanted: 64, leaseMs: 600_000 });
  const due = await api.engine.dueSubjects({ shards: leases.map(({ shard }) => shard), limit: 1_000 });
  const inputs = await Promise.all(due.map(({ id }) => api.engine.load(id)));
  const input = inputs.find((one) => one?.resource.uid === uid) ?? assert.fail("not due");
  watching = { input, epoch: leases.find(({ shard }) => shard === input.subject.shard)?.epoch ?? 0 };
});
after(() => api[Symbol.asyncDispose]());

/** The loop of the account has looked. */
async function looked(change: Partial<Parameters<typeof status>[0]> = {}, nextInMs?: number): Promise<void> {
  const { input, epoch } = watching;
  const catalogue = {
    at: isoTime(Date.now()),
    locations: ["fsn1", "hel1"],
    types: [{ names: ["cx22", "cx32"], architecture: "x86", locations: ["fsn1", "hel1"] }],
    images: [{ names: ["debian-12"], architecture: "x86" }],
  };
  const told: SubjectStatus = status({ inspection: { conditions: [], report: { catalogue } }, ...change });
  const answer = await api.engine.settle({
    actor: { holder: "test", shard: input.subject.shard, epoch },
    subject: input.subject,
    inputVersion: input.inputVersion,
    memory: emptyMemory,
    verdicts: [],
    gone: false,
    forgetSources: [],
    nowOwned: 0,
    nextInMs,
    status: told,
  });
  assert.ok(answer.kept);
  aheadMs += 2_000;
}

const host = (change: object, name = "web-1") =>
  api.send("POST", `${base}/hosts`, manifest("Host", name, { ...server, ...change }));
const pointersOf = (body: Readonly<Record<string, unknown>>) =>
  ((body["errors"] ?? []) as readonly { readonly pointer: string }[]).map(({ pointer }) => pointer);

describe("what the account's loop saw that there is", () => {
  test("refuses a host and a group of anything else, and nothing is declared", async () => {
    await looked();
    for (const [field, value] of Object.entries({ type: "cx23", image: "debian-13", location: "moon" })) {
      const refused = await host({ [field]: value });
      assert.deepEqual(
        [refused.status, refused.body["code"], pointersOf(refused.body)],
        [422, "FIELDS_INVALID", [`/spec/${field}`]],
      );
      const template = { ...server, [field]: value };
      const group = manifest("ScalingGroup", "web", { min: 1, max: 2, desired: 1, template });
      const grouped = await api.send("POST", `${base}/scalinggroups`, group);
      assert.deepEqual([grouped.status, pointersOf(grouped.body)], [422, [`/spec/template/${field}`]]);
      const planned = await api.send(
        "POST",
        `${base}/hosts?dryRun=true`,
        manifest("Host", "web-1", { ...server, [field]: value }),
      );
      assert.equal(planned.status, 422, "a plan says so too");
    }
    assert.equal((await api.send("GET", `${base}/hosts/web-1`)).status, 404);
    const made = await host({});
    assert.equal(made.status, 202, JSON.stringify(made.body));
  });

  test("refuses a load balancer in no such place, and a profile of what is not there", async () => {
    await looked();
    const post = async (plural: string, kind: string, spec: object) => {
      const { status: code, body } = await api.send("POST", `${base}/${plural}`, manifest(kind, "one", spec));
      return [code, pointersOf(body)];
    };
    const balancer = (location: string) => post("loadbalancers", "LoadBalancer", { type: "lb11", location });
    const profile = (spec: object) => post("computeprofiles", "ComputeProfile", spec);
    assert.deepEqual(await balancer("moon"), [422, ["/spec/location"]]);
    assert.deepEqual(await profile({ type: "cx99" }), [422, ["/spec/type"]]);
    assert.deepEqual(await profile({ type: "cx99", locations: ["fsn1", "hel1"] }), [422, ["/spec/type"]], "once");
    assert.deepEqual(await profile({ type: "cx22", locations: ["fsn1", "moon"] }), [422, ["/spec/locations/1"]]);
    assert.deepEqual(
      [await balancer("fsn1"), await profile({ type: "cx22", locations: ["fsn1"] })],
      [
        [201, []],
        [201, []],
      ],
    );
    const catalogue = { at: isoTime(Date.now()), locations: ["hel1"], types: [], images: [] };
    await looked({ inspection: { conditions: [], report: { catalogue } } });
    const put = async (plural: string, kind: string, spec: object) =>
      (await api.send("PUT", `${base}/${plural}/one`, manifest(kind, "one", spec), whatever)).status;
    const stands = { type: "lb11", location: "fsn1" };
    assert.equal(await put("loadbalancers", "LoadBalancer", { ...stands, labels: { role: "edge" } }), 200, "it stands");
    assert.equal(await put("computeprofiles", "ComputeProfile", { type: "cx22", locations: ["fsn1"] }), 200);
    assert.equal(await put("computeprofiles", "ComputeProfile", { type: "cx32", locations: ["fsn1"] }), 422);
  });

  test("leaves what stands as it is, and refuses what is new in it", async () => {
    await looked();
    assert.equal((await host({}, "stands")).status, 202);
    const retired = [{ names: ["cx32"], architecture: "x86", locations: ["fsn1"] }];
    const catalogue = { at: isoTime(Date.now()), types: retired, images: [{ names: ["debian-13"] }] };
    await looked({ inspection: { conditions: [], report: { catalogue } } });
    const put = (change: object) =>
      api.send("PUT", `${base}/hosts/stands`, manifest("Host", "stands", { ...server, ...change }), whatever);
    assert.ok((await put({ labels: { role: "web" } })).status < 300);
    assert.deepEqual(pointersOf((await put({ image: "debian-13" })).body), ["/spec/type"]);
    assert.ok((await put({ type: "cx32", image: "debian-13" })).status < 300);
  });
});

describe("refuses nothing", () => {
  const accepted = async (name: string) => {
    const made = await host({ type: "cx99", image: "none", location: "moon" }, name);
    assert.equal(made.status, 202, JSON.stringify(made.body));
  };

  test("what was confirmed too long ago", async () => {
    const longAgo = Date.now() - 31 * 60_000;
    await looked({ nowMs: longAgo, lookedAtMs: longAgo });
    await accepted("old");
  });

  test("what a look that failed left behind", async () => {
    await looked({ result: "failed" });
    await accepted("failed");
  });

  test("what is about to be looked at anew, such as behind another credential", async () => {
    await looked({}, 0);
    await accepted("due");
  });

  test("what was seen in another account", async () => {
    const catalogue = { at: isoTime(Date.now()), account: "hetzner-cloud: SSH key 2", locations: ["fsn1"] };
    await looked({ inspection: { conditions: [], report: { catalogue } } });
    assert.equal((await host({ location: "moon" }, "before")).status, 422);
    const accountId = watching.input.account?.id ?? assert.fail("no account");
    await api.engine.recordAccount({ accountId, fingerprint: "hetzner-cloud: SSH key 1", claimedIncarnation: 1 });
    aheadMs += 2_000;
    await accepted("other");
  });
});
